"""The words of screens and pages, in one file per screen, so that wording changes in one place.

    golden("doctor", "no keeper has run", answer.out)

compares a scene with its section in `tests/golden/doctor.txt`. `make golden` writes the sections
anew; the difference is then read like any other. Values that differ from run to run are masked.
"""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

from sexton.liveness.process_identity import host

FOLDER = Path(__file__).parent
HEAD = "=== "
WRITES = bool(os.environ.get("GOLDEN"))
_written: dict[tuple[Path, str], str] = {}
"""What this run has written."""

MASKS = (
    (re.compile(rf"[\w.-]+@{re.escape(host())}\b"), "<user>@<host>"),
    (re.compile(rf"\b{re.escape(host())}\b"), "<host>"),
    (re.compile(r"\x1b\[[0-9;]*[A-Za-z]"), ""),
    (re.compile(r"\b(?:hmac-)?sha256:[0-9a-f]{64}\b"), "<digest>"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "<id>"),
    (re.compile(r"\b[0-9a-f]{7,31}…"), "<id>…"),
    (re.compile(r"\b[0-9a-f]{12}\b"), "<receipt>"),
    (re.compile(r"postgresql://\S+"), "<ledger>"),
    (re.compile(r"(?:sqlite:///)?(?:/[\w.-]+)*/pytest-of-[\w.-]+(?:/[\w.-]+)*"), "<path>"),
    (
        re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: ?UTC|Z|[+-]\d\d:\d\d)?"),
        "<time>",
    ),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "<date>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:<port>"),
    (re.compile(r"\bpid \d+"), "pid <pid>"),
    (re.compile(r"\b(kill|processes stop|processes keep) \d+"), r"\1 <pid>"),
    (re.compile(r"[\w.-]+@[\w.-]+(?= pid <pid>)"), "<user>@<host>"),
    (re.compile(r"(?<=pid <pid> on )[\w-]+(?:\.[\w-]+)*"), "<host>"),
    (re.compile(r"\b(database|log|disk) [\d.]+ [KMGT]?B\b"), r"\1 <size>"),
    (re.compile(r"\b[\d.]+ [KMGT]?B(?= free\b| of it unused| of the ledger unused)"), "<size>"),
    (re.compile(r"\bschema \d+"), "schema <number>"),
)


def golden(screen: str, scene: str, text: str) -> None:
    """Compare what a screen shows in one scene with its section, or write it (GOLDEN=1)."""
    file, shown = FOLDER / f"{screen}.txt", masked(text)
    scenes = read(file)
    if WRITES:
        already = _written.setdefault((file, scene), shown)
        assert shown == already, f"{file.name} has one scene '{scene}', but two texts are for it"
        write(file, scenes | {scene: shown})
        return
    assert scene in scenes, f"{file.name} has no scene '{scene}'; write it with `make golden`"
    change = difflib.unified_diff(scenes[scene].splitlines(), shown.splitlines(), lineterm="")
    assert shown == scenes[scene], "\n".join([f"{file.name}, '{scene}'", *change])


def masked(text: str) -> str:
    """The text without the values of this run, and without trailing space."""
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def read(file: Path) -> dict[str, str]:
    """The scenes of a file by name."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    scenes: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(HEAD):
            lines = scenes.setdefault(line.removeprefix(HEAD), [])
        else:
            lines.append(line)
    return {name: "\n".join(lines).strip("\n") for name, lines in scenes.items()}


def write(file: Path, scenes: dict[str, str]) -> None:
    """Store scenes, in order of their names."""
    parts = [f"{HEAD}{name}\n{text}\n" for name, text in sorted(scenes.items())]
    file.write_text("\n".join(parts), encoding="utf-8")
