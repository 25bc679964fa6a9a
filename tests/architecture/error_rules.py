"""The rules about errors: a user who meets one can understand it, mend it and tell it apart."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.source import Module, modules

ROOT_ERROR = "SextonError"
PLACE = "errors/"


@dataclass(frozen=True)
class ErrorClass:
    """What is written about one error."""

    module: Module
    node: ast.ClassDef
    parent: str
    exit_code: int | None
    hint: str | None


def explained_errors(root: Path) -> list[str]:
    """Every error is explained: what it is, its exit code (its own or its parent's), a hint."""
    place = [module for module in modules(root) if module.inside.startswith(PLACE)]
    about = [ast.get_docstring(each.tree) or "" for each in place if each.inside.endswith("__.py")]
    errors = _errors(place)
    return [
        *_undocumented(errors, "".join(about)),
        *_shared_codes(errors),
        *_raised_without_hint(root, _hintless(errors)),
        *_defined_elsewhere(root, set(errors) | {ROOT_ERROR}),
    ]


def _errors(place: Sequence[Module]) -> dict[str, ErrorClass]:
    """Every class that comes from the root error, directly or not, by name."""
    written = [
        (module, node)
        for module in place
        for node in module.tree.body
        if isinstance(node, ast.ClassDef)
    ]
    errors: dict[str, ErrorClass] = {}
    for _ in written:  # a parent may be written after its child, in another file
        for module, node in written:
            match node.bases:
                case [ast.Name(id=parent)] if parent in {ROOT_ERROR, *errors}:
                    code, hint = _constant(node, "exit_code"), _constant(node, "hint")
                    errors[node.name] = ErrorClass(
                        module,
                        node,
                        parent,
                        code if isinstance(code, int) else None,
                        hint if isinstance(hint, str) else None,
                    )
    return errors


def _constant(node: ast.ClassDef, name: str) -> object:
    for part in node.body:
        match part:
            case ast.Assign(targets=[ast.Name(id=found)], value=ast.Constant(value=value)):
                if found == name:
                    return value
    return None


def _code(errors: dict[str, ErrorClass], name: str) -> int | None:
    """The exit code of an error, its own or inherited."""
    while name in errors:
        if errors[name].exit_code is not None:
            return errors[name].exit_code
        name = errors[name].parent
    return None


def _undocumented(errors: dict[str, ErrorClass], about: str) -> Iterator[str]:
    """Errors without a docstring, or whose range of exit codes the package does not explain."""
    for name, error in errors.items():
        code = _code(errors, name)
        if not ast.get_docstring(error.node):
            yield error.module.at(error.node, f"{name} has no docstring")
        if code is None or f"{code // 10}x " not in about:
            yield error.module.at(error.node, f"{name}: exit code {code} is not documented")


def _shared_codes(errors: dict[str, ErrorClass]) -> Iterator[str]:
    """Errors that have the exit code of another one that is not their parent."""
    owners: dict[int, str] = {}
    for name, error in errors.items():
        code = error.exit_code
        if code is None or code == _code(errors, error.parent):
            continue
        if code in owners:
            told = f"{name} has the exit code {code} of {owners[code]}"
            yield error.module.at(error.node, told)
        owners.setdefault(code, name)


def _hintless(errors: dict[str, ErrorClass]) -> set[str]:
    """Errors that have no hint, neither their own nor an inherited one."""

    def has_hint(name: str) -> bool:
        return name in errors and bool(errors[name].hint or has_hint(errors[name].parent))

    return {name for name in errors if not has_hint(name)} | {ROOT_ERROR}


def _raised_without_hint(root: Path, hintless: set[str]) -> Iterator[str]:
    """An error without a hint must be given one wherever it is made."""
    for module in modules(root):
        for node in module.nodes:
            if not isinstance(node, ast.Call):
                continue
            name = _error_name(module, node.func)
            if name in hintless and "hint" not in {given.arg for given in node.keywords}:
                yield module.at(node, f"{name} is made without a hint")


def _defined_elsewhere(root: Path, errors: set[str]) -> Iterator[str]:
    """Errors live in a folder of their own."""
    for module in modules(root):
        if module.inside.startswith(PLACE):
            continue
        for node in module.nodes:
            parents = node.bases if isinstance(node, ast.ClassDef) else []
            if errors & {_error_name(module, parent) for parent in parents}:
                yield module.at(node, f"an error belongs into {PLACE}")


def _error_name(module: Module, node: ast.expr) -> str | None:
    """The error an expression means, if it means one."""
    package, _, name = (module.meaning(node) or "").rpartition(".")
    return name if f"{package}.".startswith("sexton.errors.") else None
