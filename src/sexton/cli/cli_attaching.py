"""How does a home get into a settings file, with every comment kept?"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from sexton.cli.yaml_places import Unplaceable, YamlPlaces, end_of, entry, is_empty, start_of
from sexton.errors import SettingsInvalid
from sexton.settings import document
from sexton.settings.home_settings import resolved


def with_home(text: str, home: Path, *, act: bool, file: Path, environ: Mapping[str, str]) -> str:
    """The text of a settings file that lists the home; as it was if it says so already.

    With `act` keepers may change the home; without, what is said about that stays.
    """
    before = _values(text, file)
    listed = before.get("homes") or []
    place = _place(listed, home, file, environ)
    try:
        if place is None:
            changed = _added(YamlPlaces(text), home, act=act)
            wanted = [*listed, {"path": str(home)} | ({"act": True} if act else {})]
        elif not act or listed[place].get("act") is True:
            return text
        else:
            changed = _allowed(YamlPlaces(text), place)
            wanted = [*listed]
            wanted[place] = {**listed[place], "act": True}
    except Unplaceable as problem:
        raise _refused(file, home, str(problem), act=act) from None
    if _values(changed, file) != {**before, "homes": wanted}:
        raise _refused(file, home, "it can not be changed line by line", act=act)
    return changed


def without_home(text: str, home: Path, *, file: Path, environ: Mapping[str, str]) -> str:
    """The text of a settings file that does not list the home; as it was if it never did."""
    before = _values(text, file)
    listed = before.get("homes") or []
    place = _place(listed, home, file, environ)
    if place is None:
        return text
    wanted = [*listed[:place], *listed[place + 1 :]]
    hint = f"Take the entry of {home} out of 'homes' by hand."
    try:
        changed = _taken_out(YamlPlaces(text), place)
        after = _values(changed, file)
    except (Unplaceable, SettingsInvalid) as problem:
        raise SettingsInvalid(f"{file} stays as it is: {problem}", hint=hint) from None
    if {**after, "homes": after.get("homes") or []} != {**before, "homes": wanted}:
        raise SettingsInvalid(f"{file} stays as it is: it is not changed line by line", hint=hint)
    return changed


def _taken_out(places: YamlPlaces, place: int) -> str:
    """The text without the home at that place of the list, and without a list of nothing."""
    found = entry(places.root, "homes")
    if found is None or not isinstance(found.value, yaml.SequenceNode):
        raise Unplaceable("'homes' is not a list")
    items = found.value.value
    item = items[place]
    if found.value.flow_style:
        if place + 1 < len(items):
            return places.without(start_of(item), start_of(items[place + 1]))
        start = end_of(items[place - 1]) if place else start_of(item)
        return places.without(start, end_of(item))
    start, end = places.line_of(places.dash(item)), places.line_after(end_of(item))
    if len(items) > 1:
        return places.without(start, end)
    key, value = found.key.start_mark.index, found.key.end_mark.index
    if places.text[value:start].strip() == ":":
        return places.without(places.line_of(key), end)
    colon = places.text.index(":", value) + 1
    return f"{places.text[:colon]} []{places.without(start, end)[colon:]}"


def _place(listed: Any, home: Path, file: Path, environ: Mapping[str, str]) -> int | None:
    """At which place of the list the home stands already."""
    for place, each in enumerate(listed if isinstance(listed, list) else ()):
        path = each.get("path") if isinstance(each, dict) else None
        if isinstance(path, str) and resolved(path, file.parent, environ).resolve() == home:
            return place
    return None


def _added(places: YamlPlaces, home: Path, *, act: bool) -> str:
    path = _quoted(str(home))
    lines = [f"- path: {path}", *(["  act: true"] if act else [])]
    found = entry(places.root, "homes")
    if found is None:
        return places.appended(["homes:", *(f"  {line}" for line in lines)])
    if is_empty(found.value):
        indent = " " * (found.key.start_mark.column + 2)
        return places.below(found.key.end_mark.index, lines, indent)
    if not isinstance(found.value, yaml.SequenceNode):
        raise Unplaceable("'homes' is not a list")
    if found.value.flow_style:
        words = f"{{path: {path}, act: true}}" if act else f"{{path: {path}}}"
        return places.behind(found.value, words)
    dash = places.dash(found.value.value[0])
    indent = " " * (dash - places.text.rfind("\n", 0, dash) - 1)
    return places.below(end_of(found.value), lines, indent)


def _allowed(places: YamlPlaces, place: int) -> str:
    """The text that allows changes of the home at that place of the list."""
    homes = entry(places.root, "homes")
    assert homes is not None
    home = homes.value.value[place]
    said = entry(home, "act")
    if said is not None and isinstance(said.value, yaml.ScalarNode):
        if is_empty(said.value):
            raise Unplaceable("'act' says nothing")
        return places.replaced(said.value, "true")
    if home.flow_style:
        return places.in_brackets(home, "act: true")
    first = start_of(home.value[0])
    indent = " " * (first - places.text.rfind("\n", 0, first) - 1)
    return places.below(end_of(home.value[0][1]), ["act: true"], indent)


def _values(text: str, file: Path) -> dict[str, Any]:
    try:
        found = document.read(text).values
    except document.Unreadable as problem:
        line = f"{file}:{problem.spot.line}:{problem.spot.column}"
        raise SettingsInvalid(f"{line}: {problem}") from None
    if found is not None and not isinstance(found, dict):
        raise SettingsInvalid(f"{file}:1:1: the settings are not a mapping")
    return found or {}


def _quoted(text: str) -> str:
    """A path as it is, if YAML takes it for text in every place; else in quotes."""
    if re.fullmatch(r"/[A-Za-z0-9._/-]*", text):
        return text
    shown = json.dumps(text, ensure_ascii=False)
    return re.sub("[^ -~]", lambda found: f"\\U{ord(found[0]):08x}", shown)


def _refused(file: Path, home: Path, why: str, *, act: bool) -> SettingsInvalid:
    lines = f"path: {_quoted(str(home))}" + (", act: true" if act else "")
    return SettingsInvalid(
        f"{file} stays as it is: {why}", hint=f"Add this to 'homes' by hand: {{{lines}}}."
    )
