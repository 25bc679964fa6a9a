"""What does a YAML text say, however hostile it is?

The values are those of PyYAML's safe loader, but taken from its events one by one: nothing
recurses, an alias is the value itself and never a copy, and too much work is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import yaml

MAX_DEPTH = 100
MAX_STEPS = 100_000
MAX_TAG_DIRECTIVES = 100
LONGEST_NUMBER = 100
DEEPEST_LINE = 6
"""Deeper than this nobody asks for a line."""

Path: TypeAlias = tuple[str | int, ...]
"""The names and places in lists that lead to a value."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What PyYAML lets through for scalars and escapes that are not what their tag or form promises.
_ODD = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, yaml.YAMLError)
_TAG = "tag:yaml.org,2002:"
_NUMBERS = (f"{_TAG}int", f"{_TAG}float")
_NOTHING = object()
_MERGE = object()


class Unusable(ValueError):
    """The text is not one YAML document, or is too much work to read; `line` is where it shows."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class Located(NamedTuple):
    """A document, on which line each of its entries stands, and which are set more than once."""

    values: Any
    lines: Mapping[Path, int]
    twice: tuple[Path, ...] = ()


def read(text: str) -> Any:
    """The one document of the text, where all names that are not text become the name None."""
    return located(text).values


def located(text: str) -> Located:
    """The one document of the text with its lines."""
    reading = _Reading()
    for event in _events(text):
        try:
            reading.add(event)
        except Unusable as problem:
            raise Unusable(str(problem), reading.line) from None
    return Located(reading.root, reading.lines, tuple(reading.twice))


@dataclass(slots=True)
class _Sequence:
    """A list whose end has not come yet."""

    path: Path = ()
    values: list[Any] = field(default_factory=list)

    def take(self, value: Any) -> None:
        self.values.append(value)


@dataclass(slots=True)
class _Mapping:
    """A mapping whose end has not come yet."""

    path: Path = ()
    line: int = 0
    values: dict[str | None, Any] = field(default_factory=dict)
    merges: list[Any] = field(default_factory=list)
    key: Any = _NOTHING

    def take(self, value: Any) -> None:
        if self.key is _NOTHING:
            if isinstance(value, list | dict):
                raise Unusable("a name must be a scalar")
            self.key = value
            return
        key, self.key = self.key, _NOTHING
        if key is _MERGE:
            self.merges.append(value)
        else:
            # Numbers can be chosen to share a hash, which makes filling a dict quadratic.
            self.values[key if isinstance(key, str) else None] = value


@dataclass(slots=True)
class _Reading:
    """The walk through the events; every event and every merged entry is a step."""

    root: Any = None
    started: bool = False
    steps: int = 0
    line: int = 0
    lines: dict[Path, int] = field(default_factory=dict)
    twice: dict[Path, None] = field(default_factory=dict)
    open: list[_Sequence | _Mapping] = field(default_factory=list)
    anchors: dict[str, Any] = field(default_factory=dict)
    scalars: yaml.SafeLoader = field(default_factory=lambda: yaml.SafeLoader(""))

    def add(self, event: yaml.Event) -> None:
        self.spend(1)
        self.line = event.start_mark.line + 1 if event.start_mark else 0
        match event:
            case yaml.DocumentStartEvent():
                self.start()
            case yaml.AliasEvent():
                self.take(self.anchored(event.anchor))
            case yaml.ScalarEvent():
                self.take(self.anchor(event, self.scalar(event)))
            case yaml.SequenceStartEvent():
                self.descend(event, _Sequence(), f"{_TAG}seq")
            case yaml.MappingStartEvent():
                self.descend(event, _Mapping(), f"{_TAG}map")
            case yaml.CollectionEndEvent():
                self.ascend()

    def spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise Unusable(f"more than {MAX_STEPS} steps to read")

    def start(self) -> None:
        if self.started:
            raise Unusable("more than one document")
        self.started = True

    def take(self, value: Any) -> None:
        if self.open:
            self.note(self.open[-1])
            self.open[-1].take(value)
        else:
            self.root = value

    def note(self, top: _Sequence | _Mapping) -> None:
        """Remember where an entry stands: one of a mapping where its name does."""
        if isinstance(top, _Mapping) and top.key is _NOTHING:
            top.line = self.line
            return
        path = self.place(top)
        if isinstance(top, _Mapping) and isinstance(top.key, str) and top.key in top.values:
            self.twice[path] = None
        if path != top.path:
            self.lines[path] = top.line if isinstance(top, _Mapping) else self.line

    def place(self, top: _Sequence | _Mapping) -> Path:
        """Where the next value belongs."""
        if len(top.path) >= DEEPEST_LINE:
            return top.path
        if isinstance(top, _Sequence):
            return (*top.path, len(top.values))
        # Only text: see `_Mapping.take`.
        return (*top.path, top.key) if isinstance(top.key, str) else top.path

    def anchor(self, event: yaml.NodeEvent, value: Any) -> Any:
        if event.anchor in self.anchors:
            raise Unusable("an anchor is set twice")
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def anchored(self, name: str | None) -> Any:
        if name is None or name not in self.anchors:
            raise Unusable("an alias of nothing")
        return self.anchors[name]

    def descend(
        self, event: yaml.CollectionStartEvent, started: _Sequence | _Mapping, tag: str
    ) -> None:
        if event.tag not in (None, "!", tag):
            raise Unusable("a tag that is not used here")
        if len(self.open) >= MAX_DEPTH:
            raise Unusable(f"nested more than {MAX_DEPTH} levels deep")
        if self.open:
            started.path = self.place(self.open[-1])
        self.take(self.anchor(event, started.values))
        self.open.append(started)

    def ascend(self) -> None:
        ended = self.open[-1]
        if isinstance(ended, _Mapping):
            # Own entries win, then what was merged last, and in a list of mappings the first.
            for merged in reversed(ended.merges):
                for source in self.whole(merged) if isinstance(merged, list) else (merged,):
                    self.merge(source, ended.values)
        self.open.pop()

    def merge(self, source: Any, values: dict[str | None, Any]) -> None:
        if not isinstance(source, dict):
            raise Unusable("only mappings can be merged")
        for name, value in self.whole(source).items():
            values.setdefault(name, value)

    def whole(self, value: Any) -> Any:
        """A list or mapping to be walked, paid for, unless it contains the place where we are."""
        if any(value is part.values for part in self.open):
            raise Unusable("a mapping that is merged into itself")
        self.spend(len(value))
        return value

    def scalar(self, event: yaml.ScalarEvent) -> Any:
        tag = event.tag
        if tag is None or tag == "!":
            resolve = self.scalars.resolve
            tag = resolve(yaml.ScalarNode, event.value, event.implicit)  # type: ignore[no-untyped-call]  # the stubs leave it out
        top = self.open[-1] if self.open else None
        if isinstance(top, _Mapping) and top.key is _NOTHING:
            if tag == f"{_TAG}merge":
                return _MERGE
            if tag == f"{_TAG}value":
                return event.value
        return self.plain(str(tag), event.value)

    def plain(self, tag: str, text: str) -> Any:
        # A number in base 60 takes quadratic time; one so long is no setting, so text will do.
        if tag == f"{_TAG}str" or (tag in _NUMBERS and len(text) > LONGEST_NUMBER):
            return text
        try:
            return self.scalars.construct_document(yaml.ScalarNode(tag, text))
        except _ODD:
            raise Unusable("a scalar that is not what its tag says") from None


def _events(text: str) -> Iterator[yaml.Event]:
    # The parser compares each of these directives with all before it.
    if text.count("%TAG") > MAX_TAG_DIRECTIVES:
        raise Unusable(f"more than {MAX_TAG_DIRECTIVES} tag directives")
    try:
        yield from yaml.parse(text, Loader=_LOADER)
    except _ODD as problem:
        mark = getattr(problem, "problem_mark", None) or getattr(problem, "context_mark", None)
        raise Unusable("not valid YAML", mark.line + 1 if mark else None) from None
