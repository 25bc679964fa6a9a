"""What is written in a tree: its files, its modules, and what the names in them mean."""

from __future__ import annotations

import ast
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

PACKAGE = Path("src", "sexton")


@dataclass(frozen=True)
class Module:
    """One Python file, parsed."""

    root: Path
    path: Path
    """Below the root."""

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse((self.root / self.path).read_text(encoding="utf-8"), str(self.path))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Everything in the tree, walked once for all rules."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def inside(self) -> str:
        """The path below the package, as the allow-lists name it."""
        return self.path.relative_to(PACKAGE).as_posix()

    @cached_property
    def names(self) -> dict[str, str]:
        """What each imported name stands for: `{"dt": "datetime.datetime"}`."""
        found = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for name in node.names:
                    first = name.name.partition(".")[0]
                    found[name.asname or first] = name.name if name.asname else first
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                for name in node.names:
                    found[name.asname or name.name] = f"{node.module}.{name.name}"
        return found

    def meaning(self, node: ast.expr) -> str | None:
        """The full dotted name an expression refers to, if it refers to something imported."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self.meaning(node.value)
            return owner and f"{owner}.{node.attr}"
        return None

    def at(self, node: ast.AST, finding: str) -> str:
        """A finding with its place."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}: {finding}"


@dataclass(frozen=True)
class Import:
    """A module that is imported, and where."""

    name: str
    node: ast.AST = field(compare=False)


def modules(root: Path, below: Path = PACKAGE) -> Iterator[Module]:
    """The Python modules of a tree."""
    for path in sorted((root / below).rglob("*.py")):
        yield _module(root, path.relative_to(root), path.stat().st_mtime_ns)


@cache
def _module(root: Path, path: Path, _changed: int) -> Module:
    """A module, parsed once for all rules as long as its file does not change."""
    return Module(root, path)


def imports(module: Module) -> Iterator[Import]:
    """Everything a module imports, also what it asks `import_module` for by a literal name."""
    for node in module.nodes:
        if isinstance(node, ast.Import):
            yield from (Import(name.name, node) for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield Import(node.module, node)
        elif isinstance(node, ast.Call) and node.args and _imports_by_name(module, node.func):
            match node.args[0]:
                case ast.Constant(value=str(name)):
                    yield Import(name, node)


def _imports_by_name(module: Module, function: ast.expr) -> bool:
    if isinstance(function, ast.Name) and function.id == "__import__":
        return True
    return module.meaning(function) == "importlib.import_module"


def package_files(root: Path) -> list[Path]:
    """All text files of the package."""
    every = (root / PACKAGE).rglob("*")
    return sorted(path for path in every if path.is_file() and path.suffix not in {".pyc", ".so"})


def repository_files(root: Path) -> list[Path]:
    """The files that are, or would be, under version control; without git, all files."""
    git = shutil.which("git")
    if git is not None and (root / ".git").exists():
        listed = subprocess.run(
            [git, "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z"],
            cwd=root, check=True, capture_output=True,
        ).stdout  # fmt: skip
        paths = (root / name for name in listed.decode().split("\0") if name)
        return sorted(path for path in paths if path.is_file())
    hidden = {".venv", ".venvs", ".git"}
    return sorted(p for p in root.rglob("*") if p.is_file() and not hidden & set(p.parts))
