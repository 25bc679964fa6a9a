"""How is a plugin enabled in a Hermes home without losing a word of its configuration?

`hermes plugins enable` of 0.19 writes the whole file anew, without its comments. Here lines are
added or taken out, and the result is read again: a text where that does not say exactly what it
said before, and the plugin, is refused.
"""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from sexton.cli.yaml_places import (
    Entry,
    Unplaceable,
    YamlPlaces,
    end_of,
    entry,
    is_empty,
    start_of,
)
from sexton.errors import HomeRefused
from sexton.homes.hermes import yaml_document

MARK = "# by sexton"
UNENDED = f"# the line above had no end {MARK}"


def is_enabled(text: str, plugin: str) -> bool:
    """Whether Hermes loads the plugin by this configuration."""
    plugins = _plugins(text)
    return plugin in _listed(plugins, "enabled") and plugin not in _listed(plugins, "disabled")


def enabled(text: str, plugin: str) -> str:
    """The configuration with the plugin enabled, everything else as it was."""
    if is_enabled(text, plugin):
        return text
    if plugin in _listed(_plugins(text), "disabled"):
        raise _refused(f"'{plugin}' is among plugins.disabled, which wins")
    try:
        return _checked(text, _marked(text, _added(text, plugin)), plugin)
    except Unplaceable as problem:
        raise _refused(str(problem)) from None


def disabled(text: str, plugin: str) -> str:
    """The configuration as it was before `enabled`."""
    if plugin not in _listed(_plugins(text), "enabled"):
        return text
    lines = text.splitlines(keepends=True)
    flow = re.compile(rf"enabled: \[{re.escape(plugin)}\], {MARK}\r?\n {{2}}")
    shorter = flow.sub("", text, count=1)
    if shorter == text:
        shorter = "".join(line for line in lines if not line.rstrip().endswith(MARK))
        if any(UNENDED in line for line in lines):
            shorter = shorter.removesuffix("\n").removesuffix("\r")
    try:
        if shorter == text:
            shorter = _without_item(YamlPlaces(text), plugin)
        return _checked(shorter, text, plugin, answer=shorter)
    except Unplaceable as problem:
        raise _refused(str(problem)) from None


def _added(text: str, plugin: str) -> str:
    places = YamlPlaces(text)
    plugins = entry(places.root, "plugins")
    now = [*_listed(_plugins(text), "enabled"), plugin]
    whole = [f"enabled: {MARK}", *(f"  - {json.dumps(each)} {MARK}" for each in now[:-1])]
    whole.append(f"  - {plugin} {MARK}")
    if plugins is None:
        return places.appended([f"plugins: {MARK}", *(f"  {line}" for line in whole)])
    if is_empty(plugins.value):
        indent = " " * (plugins.key.start_mark.column + 2)
        return places.below(plugins.key.end_mark.index, whole, indent)
    if not isinstance(plugins.value, yaml.MappingNode):
        raise Unplaceable("'plugins' is not a mapping")
    found = entry(plugins.value, "enabled")
    if found is not None:
        return _listed_in(places, found, plugin)
    if plugins.value.flow_style:
        if now[1:]:
            raise Unplaceable("'plugins' is written in braces and merged from elsewhere")
        return places.opened(plugins.value, f"enabled: [{plugin}], {MARK}{places.end}  ")
    return places.above(start_of(plugins.value.value[0]), whole)


def _listed_in(places: YamlPlaces, found: Entry, plugin: str) -> str:
    """The text with the plugin in a list that is there already."""
    if is_empty(found.value):
        indent = " " * (found.key.start_mark.column + 2)
        return places.below(found.key.end_mark.index, [f"- {plugin} {MARK}"], indent)
    if not isinstance(found.value, yaml.SequenceNode):
        raise Unplaceable("'plugins.enabled' is not a list")
    if found.value.flow_style:
        return places.in_brackets(found.value, plugin)
    return places.above(places.dash(found.value.value[0]), [f"- {plugin} {MARK}"])


def _marked(text: str, longer: str) -> str:
    """The longer text; its first new line says so if the last old one had no end."""
    if not text or text.endswith("\n") or not longer.startswith(text):
        return longer
    return text + longer[len(text) :].replace(MARK, UNENDED, 1)


def _without_item(places: YamlPlaces, plugin: str) -> str:
    """The text without an item of the list that somebody else has written."""
    plugins = entry(places.root, "plugins")
    found = plugins and entry(plugins.value, "enabled")
    listed = found.value if found else None
    items = listed.value if isinstance(listed, yaml.SequenceNode) else []
    place = next((n for n, each in enumerate(items) if each.value == plugin), None)
    if not isinstance(listed, yaml.SequenceNode) or place is None:
        raise Unplaceable(f"'{plugin}' is not in its own list")
    item, rest = items[place], items[place + 1 :]
    if not listed.flow_style:
        start = places.text.rfind("\n", 0, places.dash(item)) + 1
        broken = places.text.find("\n", end_of(item))
        return places.without(start, len(places.text) if broken < 0 else broken + 1)
    if rest:
        return places.without(start_of(item), start_of(rest[0]))
    start = end_of(items[place - 1]) if place else start_of(item)
    return places.without(start, end_of(item))


def _checked(less: str, more: str, plugin: str, answer: str | None = None) -> str:
    """The longer one of two texts, or the `answer`, if the plugin is all that differs."""
    before, after = _read(less), _read(more)
    plugins = after.get("plugins")
    if isinstance(plugins, dict) and isinstance(plugins.get("enabled"), list):
        rest = [each for each in plugins["enabled"] if each != plugin]
        plugins["enabled"] = rest
        for name in (before, after):
            _drop_empty(name)
        if plugin not in rest and before == after:
            return more if answer is None else answer
    raise _refused("its plugins are not written in a way that can be changed line by line")


def _drop_empty(document: dict[Any, Any]) -> None:
    """No list and an empty one, no section and an empty one mean the same to Hermes."""
    plugins = document.get("plugins")
    if isinstance(plugins, dict) and not plugins.get("enabled"):
        plugins.pop("enabled", None)
    if not plugins:
        document.pop("plugins", None)


def _plugins(text: str) -> dict[Any, Any]:
    found = _read(text).get("plugins")
    return found if isinstance(found, dict) else {}


def _listed(plugins: dict[Any, Any], name: str) -> list[Any]:
    found = plugins.get(name)
    return found if isinstance(found, list) else []


def _read(text: str) -> dict[Any, Any]:
    try:
        found = yaml_document.read(text)
    except yaml_document.Unusable as problem:
        raise _refused(f"it can not be read: {problem}") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _refused("it is not a mapping")
    return found


def _refused(why: str) -> HomeRefused:
    return HomeRefused(
        f"the home's config.yaml stays as it is: {why}",
        hint="Enable it with 'hermes plugins enable sexton', which writes the file anew.",
    )
