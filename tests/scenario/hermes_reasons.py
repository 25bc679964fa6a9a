"""The reasons for which the installed Hermes ends sessions, read out of its own code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SETTERS = ("end_session", "promote_to_session_reset", "_promote")
"""Calls whose second argument is the reason."""
DECIDERS = ("_should_reset",)
"""Functions that return a reason."""
IN_SQL = re.compile(r"SET\b[^;]*?\bend_reason = '(\w+)'", re.DOTALL)
NAMED = re.compile(r"_?(?:auto_)?reset_reason|end_reason|_db_end_reason")


def reasons_of(hermes_python: Path) -> dict[str, set[str]]:
    """Every reason that is written literally, with its files; one ends with `*` if more follows."""
    site = next(hermes_python.parents[1].glob("lib/*/site-packages"))
    installed = next(site.glob("hermes_agent-*.dist-info")) / "RECORD"
    found: dict[str, set[str]] = {}
    for line in installed.read_text().splitlines():
        name = line.split(",")[0]
        if name.endswith(".py") and not name.startswith("tests/"):
            text = (site / name).read_text()
            if "end_reason" in text or "end_session" in text or "reset_reason" in text:
                for reason in reasons_in(text):
                    found.setdefault(reason, set()).add(name)
    return found


def reasons_in(code: str) -> Iterator[str]:
    """The reasons in the text of one module."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call):
            yield from _of_call(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _of_function(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(each, ast.Name) and NAMED.fullmatch(each.id) for each in targets):
                yield from _literals(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from IN_SQL.findall(node.value)


def _of_call(node: ast.Call) -> Iterator[str]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    name = node.func.id if isinstance(node.func, ast.Name) else name
    if name in SETTERS and len(node.args) > 1:
        yield from _literals(node.args[1])
    if name in SETTERS or "session" in name:
        for keyword in node.keywords:
            if keyword.arg == "end_reason":
                yield from _literals(keyword.value)


def _of_function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    arguments = [*node.args.args, *node.args.kwonlyargs]
    defaults = [*node.args.defaults, *node.args.kw_defaults]
    for argument, default in zip(reversed(arguments), reversed(defaults), strict=False):
        is_reason = argument.arg == "reason" and node.name in SETTERS
        if is_reason or argument.arg == "end_reason":
            yield from _literals(default)
    if node.name in DECIDERS:
        for each in ast.walk(node):
            if isinstance(each, ast.Return):
                yield from _literals(each.value)


def _literals(node: ast.expr | None) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) if text:
            yield text
        case ast.JoinedStr(values=[ast.Constant(value=str(text)), *_]):
            yield f"{text}*"
        case ast.IfExp(body=body, orelse=orelse):
            yield from _literals(body)
            yield from _literals(orelse)
        case ast.BoolOp(values=values):
            for each in values:
                yield from _literals(each)
        case _:
            pass
