"""Whether tests repeat the words of the package, which `tests/golden` alone may do."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from tests.architecture.source import Module, modules

RUN = 3
"""So many words in a row are no coincidence."""

WORD = re.compile(r"[a-z'’]+[,;:.]?")
CHECKED = Path("tests")
TOLD_APART = {
    "tests/architecture/*": "says what rules are told",
    "tests/scenario/test_simulation.py": "the words of a tool for tests",
}

Run = tuple[str, ...]


def words_apart(root: Path) -> list[str]:
    """Tests compare codes, numbers and structure; words are compared in tests/golden alone."""
    said = {
        run for module in modules(root) for text in _said(module.tree) for run in _runs(text.value)
    }
    return [
        module.at(text, f"repeats the words {text.value!r}")
        for module in modules(root, CHECKED)
        if not any(fnmatchcase(module.path.as_posix(), path) for path in TOLD_APART)
        for text in compared(module)
        if not said.isdisjoint(_runs(text.value))
    ]


class Text(ast.Constant):
    """A string that stands in the source."""

    value: str


def compared(module: Module) -> Iterator[Text]:
    """The strings that a test compares with: in an assert, of an error, a page or a parameter."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Assert(test=test):
                yield from _texts(test)
            case ast.Call(func=ast.Attribute(attr="raises"), keywords=keywords):
                for keyword in keywords:
                    yield from _texts(keyword.value)
            case ast.Call(func=ast.Attribute(attr="to_contain_text" | "to_have_text"), args=args):
                for expected in args:
                    yield from _texts(expected)
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, values, *_]):
                yield from _texts_of_parameters(names, values)


def _texts_of_parameters(names: ast.expr, values: ast.expr) -> Iterator[Text]:
    """What is handed in, but for the names of scenes."""
    known = [text.value for text in _texts(names)]
    for row in getattr(values, "elts", ()):
        columns = row.elts if isinstance(row, ast.Tuple) and len(known) > 1 else [row]
        for name, column in zip(known, columns, strict=False):
            if name != "scene":
                yield from _texts(column)


def _said(tree: ast.AST) -> Iterator[Text]:
    """The strings of a module, but for its explanations."""
    nodes = list(ast.walk(tree))
    explanations = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    return (text for text in _texts_among(nodes) if id(text) not in explanations)


def _texts(tree: ast.AST) -> Iterator[Text]:
    return _texts_among(ast.walk(tree))


def _texts_among(nodes: Iterable[ast.AST]) -> Iterator[Text]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node  # type: ignore[misc]  # its value is a string


def _runs(text: str) -> set[Run]:
    words = text.split()
    runs = (words[place : place + RUN] for place in range(len(words) - RUN + 1))
    plain = (run for run in runs if all(map(WORD.fullmatch, run)))
    return {tuple(word.rstrip(",;:.") for word in run) for run in plain}
