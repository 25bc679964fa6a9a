"""Reads a YAML text, with the line and column of everything it says.

Only plain values come out of it: text, numbers, true, false, null, lists and mappings. A scalar
that YAML readers disagree about (`no`, `010`, `4:00`) stays text, for the setting to judge.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from sexton.core.record import record
from sexton.settings.settings_problems import Complaint, Path, Spot

MAX_BYTES = 262_144
MAX_DEPTH = 20
MAX_VALUES = 10_000

_PLAIN, _TEXT, _MAPPING, _SEQUENCE = "plain", "text", "mapping", "sequence"
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(
    r"[-+]?((0|[1-9][0-9]{0,17})(\.[0-9]{1,30})?|\.[0-9]{1,30})([eE][-+]?[0-9]{1,3})?"
)


@record(kw_only=False)
class Document:
    """A text as plain values, with the spots of every key and value, and what is wrong in it."""

    values: Any
    keys: Mapping[Path, Spot]
    spots: Mapping[Path, Spot]
    complaints: tuple[Complaint, ...] = ()


class Unreadable(Exception):
    """The text is not YAML that can be used at all."""

    def __init__(self, message: str, spot: Spot) -> None:
        super().__init__(message)
        self.spot = spot


def read(text: str) -> Document:
    """The text as plain values; Unreadable if it is not YAML."""
    loader = _Loader("")
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
    except yaml.YAMLError as error:
        raise _unreadable(error, text) from None
    except (ValueError, OverflowError):
        # PyYAML lets these through for escapes and versions that are numbers out of range
        raise Unreadable("not valid YAML", _spot(loader.get_mark())) from None
    if node is None:
        return Document(None, {}, {})
    reading = _Reading()
    values = reading.value(node, ())
    return Document(values, reading.keys, reading.spots, tuple(reading.complaints))


def decode(content: bytes) -> str:
    """Bytes as the text of a settings file; Unreadable if they can not be one."""
    if len(content) > MAX_BYTES:
        limit = f"settings have at most {MAX_BYTES // 1024} KiB"
        raise Unreadable(f"the file is too large: {limit}", Spot(1, 1))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8", "replace")
        message = f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise Unreadable(message, _after(before)) from None


class _Loader(yaml.SafeLoader):
    """Marks plain scalars and bounds the depth; it is never asked to construct anything."""

    depth = 0

    def resolve(self, kind: type[yaml.Node], _value: Any, implicit: Any) -> str:
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else _TEXT
        return _MAPPING if kind is yaml.MappingNode else _SEQUENCE

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it out
            raise Unreadable(f"nested more than {MAX_DEPTH} levels deep", _spot(event.start_mark))
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


@dataclass(slots=True)
class _Reading:
    """The walk through the nodes; aliases are followed, so what they expand to is counted."""

    keys: dict[Path, Spot] = field(default_factory=dict)
    spots: dict[Path, Spot] = field(default_factory=dict)
    complaints: list[Complaint] = field(default_factory=list)
    count: int = 0

    def value(self, node: yaml.Node, path: Path) -> Any:
        self.count += 1
        spot = _spot(node.start_mark)
        if len(path) >= MAX_DEPTH:
            raise Unreadable("an alias contains itself or nests too deep", spot)
        if self.count > MAX_VALUES:
            raise Unreadable(f"more than {MAX_VALUES} values, aliases included", spot)
        self.spots[path] = spot
        if node.tag not in (_PLAIN, _TEXT, _MAPPING, _SEQUENCE):
            self.complaints.append(
                Complaint(path, f"YAML tags like {node.tag[:60]} are not used here")
            )
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, place)) for place, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        assert isinstance(node, yaml.ScalarNode)
        return plain(node.value) if node.tag == _PLAIN else node.value

    def mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise Unreadable("the name of a setting must be a word", _spot(key.start_mark))
            name, below = str(key.value), (*path, str(key.value))
            spot = _spot(key.start_mark)
            if name in values:
                again = f"is set again; it was set on line {self.keys[below].line}"
                self.complaints.append(Complaint(below, again, spot=spot))
            self.keys[below] = spot
            values[name] = self.value(value, below)
        return values


def plain(text: str) -> str | int | float | bool | None:
    """An unquoted scalar as what every YAML reader takes it for, else as text."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def _unreadable(error: yaml.YAMLError, text: str) -> Unreadable:
    if isinstance(error, yaml.reader.ReaderError):
        code = error.character if isinstance(error.character, int) else ord(error.character)
        return Unreadable(f"character U+{code:04X} is not allowed", _after(text[: error.position]))
    assert isinstance(error, yaml.MarkedYAMLError)
    problem, context = error.problem or "it ends too early", error.context or ""
    mark = error.problem_mark or error.context_mark
    if "quoted scalar" in context and "end of stream" in problem:
        problem, mark = "a quote is opened here and never closed", error.context_mark or mark
    elif "'\\t'" in problem:
        problem = "a tab can not start anything in YAML; indent with spaces"
    elif "alias" in context + problem:
        problem += "; an unquoted * starts an alias, so put quotes around a pattern"
    elif context:
        problem = f"{context}, {problem}"
    return Unreadable(f"not valid YAML: {problem}", _spot(mark) if mark else Spot(1, 1))


def _spot(mark: yaml.Mark) -> Spot:
    return Spot(mark.line + 1, mark.column + 1)


def _after(text: str) -> Spot:
    """The spot of what follows a text."""
    return Spot(text.count("\n") + 1, len(text) - text.rfind("\n"))
