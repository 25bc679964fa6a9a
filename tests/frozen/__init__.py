"""What the package looks like from outside, in files: `make frozen` compares, FROZEN=1 writes.

What differs from run to run has a name there, like <id 1>. A difference is either a mistake, or
wanted: then the files are written anew and the CHANGELOG says it.
"""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from tests.frozen import parts
from tests.frozen.masking import Mask, as_json
from tests.frozen.places import place
from tests.surface.program import ROOT

FOLDER = Path(__file__).parent / "files"
PATIENCE = 800.0
POSTGRES = "schema-postgres.sql"
PLAIN: dict[str, Callable[[Path], str]] = {
    "schema-sqlite.sql": lambda place: parts.sqlite_schema(place / "fresh.db"),
    "statements.txt": lambda _: parts.statements(),
    "public.txt": lambda place: parts.public(place / "used.db"),
    "crash-seeds.txt": lambda _: parts.crash_seeds(),
}


def answers(directory: Path) -> dict[str, str]:
    """What each command answered in the scene, and the description of the API."""
    given = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    own = {"HOME": "user", "XDG_DATA_HOME": "data", "XDG_CONFIG_HOME": "settings"}
    given |= {name: str(directory / folder) for name, folder in own.items()}
    given |= {"TZ": "UTC", "LANG": "C.UTF-8", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    line = [sys.executable, "-m", "tests.frozen.scene", str(directory)]
    done = subprocess.run(
        line, env=given, cwd=ROOT, stdout=subprocess.PIPE, timeout=PATIENCE, check=True
    )
    told: dict[str, Any] = json.loads(done.stdout)
    found = {}
    for name, each in told["answers"].items():
        found[file_of(name)] = as_json(Mask({"scene": directory}).value(each))
    return found | {"openapi.json": as_json(told["openapi"])}


def file_of(command: str) -> str:
    """Where the answers of a command are frozen."""
    return f"commands/{command.replace(' ', '-')}.json"


def commands() -> Iterator[str]:
    """Every command there is, by its words."""

    def below(group: click.Group, words: tuple[str, ...]) -> Iterator[str]:
        ctx = click.Context(group)
        for name in group.list_commands(ctx):
            found = group.get_command(ctx, name)
            if isinstance(found, click.Group):
                yield from below(found, (*words, name))
            else:
                yield " ".join((*words, name))

    yield from below(place("commands"), ())


def difference(name: str, text: str) -> str:
    """How a text differs from its file; with FROZEN=1 it is written, and nothing differs."""
    file = FOLDER / name
    if os.environ.get("FROZEN"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    frozen = file.read_text(encoding="utf-8") if file.exists() else ""
    before, now = (each.splitlines(keepends=True) for each in (frozen, text))
    return "".join(difflib.unified_diff(before, now, f"frozen/{name}", f"now/{name}"))


def left_over(names: set[str]) -> set[str]:
    """Files of something that is gone; with FROZEN=1 they go, too."""
    found = {str(each.relative_to(FOLDER)) for each in FOLDER.rglob("*.*")} - names
    if os.environ.get("FROZEN"):
        for each in found:
            (FOLDER / each).unlink()
        return set()
    return found
