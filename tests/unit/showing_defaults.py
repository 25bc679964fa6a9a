"""Which test shows the default of a setting acting? Tests say so themselves, by `shows`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def shows(*settings: str) -> Callable[[T], T]:
    """Says that a test shows the defaults of some settings acting, by their dotted names."""
    assert settings
    return lambda test: test


def shown() -> Iterator[tuple[str, list[str]]]:
    """Every test of a default, with the settings that it shows."""
    for file in sorted(Path(__file__).parent.glob("test_defaults_*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield node.name, [name for each in node.decorator_list for name in _named(each)]


def _named(decorator: ast.expr) -> list[str]:
    match decorator:
        case ast.Call(func=ast.Name(id="shows"), args=settings):
            return [ast.literal_eval(each) for each in settings]
        case _:
            return []
