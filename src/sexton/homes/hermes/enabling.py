"""How is a plugin enabled in a Hermes home without losing a word of its configuration?

`hermes plugins enable` of 0.19 writes the whole file anew, without its comments. Here lines are
added or taken out, and the result is read again: a text where that does not say exactly what it
said before, and the plugin, is refused.
"""

from __future__ import annotations

import re
from typing import Any

from sexton.errors import HomeRefused
from sexton.homes.hermes import yaml_document

MARK = "# by sexton"
UNENDED = f"# the line above had no end {MARK}"
_LIST = re.compile(r"^([ \t]+)enabled:[ \t]*(#.*)?$")
_ITEM = re.compile(r"^([ \t]+)-[ \t]")
_FLOW = re.compile(r"^(?P<before>plugins:[ \t]*\{[^#\n]*?enabled:[ \t]*\[|[ \t]+enabled:[ \t]*\[)")


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
    return _checked(text, _added(text.splitlines(keepends=True), plugin), plugin)


def disabled(text: str, plugin: str) -> str:
    """The configuration as it was before `enabled`."""
    if plugin not in _listed(_plugins(text), "enabled"):
        return text
    lines = text.splitlines(keepends=True)
    kept = [line for line in lines if not line.rstrip().endswith(MARK)]
    shorter = "".join(kept)
    if any(UNENDED in line for line in lines):
        shorter = shorter.removesuffix("\n")
    if len(kept) == len(lines):
        word = re.escape(plugin)
        shorter = re.sub(
            rf"(?m)^(.*enabled:[ \t]*\[)[ \t]*{word}(?:,[ \t]*)?", r"\1", text, count=1
        )
        shorter = shorter if shorter != text else _without_item(lines, plugin)
    _checked(shorter, text, plugin)
    return shorter


def _added(lines: list[str], plugin: str) -> str:
    start = next((n for n, line in enumerate(lines) if line.startswith("plugins:")), None)
    if start is None:
        is_ended = not lines or lines[-1].endswith("\n")
        end, mark = ("", MARK) if is_ended else ("\n", UNENDED)
        new = f"plugins: {mark}\n  enabled: {MARK}\n    - {plugin} {MARK}\n"
        return "".join(lines) + end + new
    for number in _section(lines, start):
        flow = _FLOW.match(lines[number])
        if flow is not None:
            rest = lines[number][flow.end() :]
            comma = "" if rest.lstrip().startswith("]") else ", "
            lines[number] = f"{flow['before']}{plugin}{comma}{rest}"
            return "".join(lines)
        if _LIST.match(lines[number]):
            found = _ITEM.match(lines[number + 1]) if number + 1 < len(lines) else None
            indent = found[1] if found else f"{_indent(lines[number])}  "
            lines.insert(number + 1, f"{indent}- {plugin} {MARK}\n")
            return "".join(lines)
    lines.insert(start + 1, f"  enabled: {MARK}\n    - {plugin} {MARK}\n")
    return "".join(lines)


def _section(lines: list[str], start: int) -> range:
    """The lines of the section that begins there."""
    for number in range(start + 1, len(lines)):
        if lines[number][0] not in " \t\r\n#-":
            return range(start, number)
    return range(start, len(lines))


def _without_item(lines: list[str], plugin: str) -> str:
    item = re.compile(rf"^[ \t]+-[ \t]+['\"]?{re.escape(plugin)}['\"]?[ \t]*(#.*)?$")
    kept = [line for line in lines if not item.match(line.rstrip("\n"))]
    return "".join(kept)


def _checked(less: str, more: str, plugin: str) -> str:
    """The longer one of two texts, if the plugin is all that it says beyond the other."""
    before, after = _read(less), _read(more)
    plugins = after.get("plugins")
    if isinstance(plugins, dict) and isinstance(plugins.get("enabled"), list):
        rest = [each for each in plugins["enabled"] if each != plugin]
        plugins["enabled"] = rest
        for name in (before, after):
            _drop_empty(name)
        if plugin not in rest and before == after:
            return more
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


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _refused(why: str) -> HomeRefused:
    return HomeRefused(
        f"the home's config.yaml stays as it is: {why}",
        hint="Enable it with 'hermes plugins enable sexton', which writes the file anew.",
    )
