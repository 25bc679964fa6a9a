"""Which Hermes is installed here, and which settings does it know?

Its source is read as text; nothing of it is imported or run.
"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

_CONFIG = Path("hermes_cli", "config.py")
_DEFAULTS, _OTHERS = "DEFAULT_CONFIG", "_EXTRA_KNOWN_ROOT_KEYS"
_FOLDERS = ("", "hermes_cli", "gateway", "agent", "tools", "cron", "tui_gateway", "plugins")
CHECKOUT = "hermes-agent"
LONGEST_BEGINNING = 1_000
# Where the path is too long for the kernel, pip has a shell start the interpreter.
_PYTHON = re.compile(rb"""#!\s*(?:/bin/sh\n'''exec'\s+"?)?(/[^"\n]*?python[\d.]*)["\s]""")


class Installed:
    """The source of an installed Hermes."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def sections(self) -> Mapping[str, frozenset[str]]:
        """Every setting at the root, with the settings below it as far as they are listed."""
        found: dict[str, frozenset[str]] = {}
        for name, value in self._assigned():
            if name == _DEFAULTS and isinstance(value, ast.Dict):
                for key, below in zip(value.keys, value.values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        found[key.value] = found.get(key.value, frozenset()) | _words(below)
            elif name == _OTHERS:
                found |= dict.fromkeys(_words(value), frozenset())
        return found

    def mentions(self, word: str) -> bool:
        """Whether the word is written anywhere as text: then it may well be read."""
        quoted = re.compile(rf"""['"]{re.escape(word)}['"]""".encode())
        return any(quoted.search(source) for source in self._sources())

    def _assigned(self) -> Iterator[tuple[str, ast.expr]]:
        try:
            tree = ast.parse((self.root / _CONFIG).read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError):
            return
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                yield node.targets[0].id, node.value
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield node.target.id, node.value or node.target

    def _sources(self) -> Iterator[bytes]:
        for folder in _FOLDERS:
            place = self.root / folder
            for file in place.glob("*.py") if not folder else place.rglob("*.py"):
                try:
                    yield file.read_bytes()
                except OSError:
                    continue


def find_installed(home: Path, environ: Mapping[str, str]) -> Installed | None:
    """The Hermes that a user of this home would start, if one can be found."""
    roots = (root for root in _roots(home, environ) if (root / _CONFIG).is_file())
    return next(map(Installed, roots), None)


def _roots(home: Path, environ: Mapping[str, str]) -> Iterator[Path]:
    yield home / CHECKOUT
    if home.parent.name == "profiles":
        yield home.parent.parent / CHECKOUT
    command = shutil.which("hermes", path=environ.get("PATH", ""))
    if command is None:
        return
    yield Path(command).resolve().parent
    interpreter = _interpreter(Path(command))
    if interpreter is not None:
        yield from interpreter.parent.parent.glob("lib/python3*/site-packages")


def _interpreter(command: Path) -> Path | None:
    """The Python of a script's own environment; a link to it is not followed."""
    try:
        with command.open("rb") as script:
            beginning = script.read(LONGEST_BEGINNING)
    except OSError:
        return None
    found = _PYTHON.match(beginning)
    return Path(found[1].decode("utf-8", "replace")) if found else None


def _words(node: ast.expr) -> frozenset[str]:
    """The names in a mapping or set that is written out."""
    keys = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
    return frozenset(
        each.value
        for each in keys
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )
