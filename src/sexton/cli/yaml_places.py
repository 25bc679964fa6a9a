"""Where in a YAML text does an entry stand, and how does something come beside it?

Only what is meant to change moves: marks of PyYAML name the places, so comments, line ends and
everything else stay as they were. The caller reads the result again before it uses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import yaml


class Unplaceable(ValueError):
    """What is to be changed is written in a way that can not be changed by itself."""


class Entry(NamedTuple):
    """A name in a mapping, and what it is set to."""

    key: yaml.ScalarNode
    value: yaml.Node


class YamlPlaces:
    """A text, its root, which is a mapping or nothing, and the ends of its lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = _composed(text)
        self.end = "\r\n" if "\r\n" in text else "\n"

    def appended(self, lines: Sequence[str]) -> str:
        """The text with more entries of the root behind all others."""
        if self.root is not None and self.root.flow_style:
            raise Unplaceable("the whole of it is written in braces")
        indent = "" if self.root is None else " " * self.root.start_mark.column
        return self._inserted(len(self.text), lines, indent)

    def above(self, index: int, lines: Sequence[str]) -> str:
        """The text with lines above the one that a place is on, which begin as far to the right."""
        start = self.line_of(index)
        line = self.text[start:index]
        margin = line[: len(line) - len(line.lstrip(" "))]
        return self._inserted(start, lines, margin)

    def below(self, index: int, lines: Sequence[str], indent: str) -> str:
        """The text with lines below the one that a place is on."""
        return self._inserted(self.line_after(index), lines, indent)

    def in_brackets(self, node: yaml.CollectionNode, words: str) -> str:
        """The text with something more in front, in a list or mapping that has brackets."""
        return self.opened(node, f"{words}, " if node.value else words)

    def behind(self, node: yaml.SequenceNode, words: str) -> str:
        """The text with one more item behind all others of a list that has brackets."""
        if not node.value:
            return self.opened(node, words)
        return self._with(end_of(node.value[-1]), f", {words}")

    def opened(self, node: yaml.CollectionNode, words: str) -> str:
        """The text with words in front of all that stands in brackets."""
        if node.value:
            return self._with(start_of(node.value[0]), words)
        opening = "[" if isinstance(node, yaml.SequenceNode) else "{"
        return self._with(self.text.index(opening, node.start_mark.index) + 1, words)

    def line_of(self, index: int) -> int:
        """Where the line begins that a place is on."""
        return self.text.rfind("\n", 0, index) + 1

    def line_after(self, index: int) -> int:
        """Where the line begins below the one that a place is on."""
        broken = self.text.find("\n", index)
        return len(self.text) if broken < 0 else broken + 1

    def without(self, start: int, end: int) -> str:
        """The text without a part."""
        return self.text[:start] + self.text[end:]

    def replaced(self, node: yaml.ScalarNode, words: str) -> str:
        """The text with other words in the place of a value."""
        return self.text[: node.start_mark.index] + words + self.text[node.end_mark.index :]

    def dash(self, item: object) -> int:
        """The place of the dash that an item of a list has in front."""
        place = start_of(item)
        while place > 0:
            place = self.text.rfind("-", 0, place)
            line = self.text[self.text.rfind("\n", 0, place) + 1 : place]
            if not line.strip(" ") or line.strip(" -") == "":
                return place
        raise Unplaceable("a list has no dashes")

    def _inserted(self, index: int, lines: Sequence[str], indent: str) -> str:
        new = "".join(f"{indent}{line}{self.end}" for line in lines)
        is_open = index == len(self.text) and self.text and not self.text.endswith("\n")
        return self._with(index, self.end + new if is_open else new)

    def _with(self, index: int, words: str) -> str:
        return self.text[:index] + words + self.text[index:]


def entry(mapping: yaml.Node | None, name: str) -> Entry | None:
    """What a name is set to in a mapping; of two settings the later one holds."""
    if not isinstance(mapping, yaml.MappingNode):
        return None
    for key, value in reversed(mapping.value):
        if isinstance(key, yaml.ScalarNode) and key.value == name:
            if value.start_mark.index < key.start_mark.index:
                raise Unplaceable(f"'{name}' is an alias of something else")
            return Entry(key, value)
    return None


def is_empty(node: yaml.Node) -> bool:
    """Whether nothing at all stands behind a name."""
    return isinstance(node, yaml.ScalarNode) and node.start_mark.index == node.end_mark.index


def start_of(item: object) -> int:
    """Where an item of a list, or an entry of a mapping, starts."""
    node = item[0] if isinstance(item, tuple) else item
    assert isinstance(node, yaml.Node)
    return int(node.start_mark.index)


def end_of(node: yaml.Node) -> int:
    """Where the last of what a value says ends; the mark of a block is behind all that follows."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)


def _composed(text: str) -> yaml.MappingNode | None:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as problem:
        raise Unplaceable(f"it can not be read: {problem}") from None
    if root is not None and not isinstance(root, yaml.MappingNode):
        raise Unplaceable("it is not a mapping")
    return root
