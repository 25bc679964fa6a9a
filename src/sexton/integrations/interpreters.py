"""What does another Python interpreter have, and how does it get or lose a package?"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sexton.core.message import one_line
from sexton.core.record import record
from sexton.errors import ExtraMissing, InputInvalid

PATIENCE = 600.0
EXTRA = "prices"
"""What budgets of money need; everything else works without."""
FOUND = "FOUND.json"
"""The note in an installed Sexton of what was there before it came."""

_ASK = f"""
import importlib.metadata, json, re
def plain(name):
    return re.sub("[-_.]+", "-", name).lower()
known = {{}}
for each in importlib.metadata.distributions():
    if each.metadata["Name"]:
        known.setdefault(plain(each.metadata["Name"]), each)
needs = {{
    name: [
        plain(re.match("[A-Za-z0-9._-]+", need)[0])
        for need in each.requires or []
        if "extra ==" not in need or name == "sexton" and re.search("extra == .{EXTRA}", need)
    ]
    for name, each in known.items()
}}
note = known["sexton"].read_text({FOUND!r}) if "sexton" in known else None
print(json.dumps({{"versions": {{name: each.version for name, each in known.items()}}, "needs": needs, "note": note}}))
"""  # noqa: E501  # runs in another interpreter


@record
class Inventory:
    """What an interpreter has, what each of it needs, and what was there before Sexton came."""

    versions: Mapping[str, str]
    needs: Mapping[str, tuple[str, ...]]
    found: frozenset[str] | None

    def brought(self, package: str) -> list[str]:
        """A package and what came with it, if it is there and that was noted."""
        if package not in self.versions:
            return []
        reached, waiting = {package}, [package]
        while waiting:
            fresh = set(self.needs.get(waiting.pop(), ())) - reached
            reached |= fresh
            waiting += fresh
        before = self.versions.keys() if self.found is None else self.found
        came = sorted(each for each in reached if each in self.versions and each not in before)
        return [package, *(each for each in came if each != package)]


class Interpreter:
    """Another Python, with its own pip."""

    def __init__(self, python: Path) -> None:
        self.python = python

    def inventory(self) -> Inventory:
        """What it has."""
        told: dict[str, Any] = json.loads(self._run("-c", _ASK))
        note = told["note"]
        return Inventory(
            versions=told["versions"],
            needs={name: tuple(needs) for name, needs in told["needs"].items()},
            found=frozenset(json.loads(note)) if note else None,
        )

    def install(self, wheel: Path, versions: Mapping[str, str]) -> bool:
        """Install a wheel and what it needs; whatever is there already stays at its version.

        Whether the table of prices could be brought along.
        """
        pins = wheel.with_name("constraints.txt")
        pins.write_text("".join(f"{name}=={each}\n" for name, each in sorted(versions.items())))
        self._pip("install", "--constraint", str(pins), str(wheel))
        try:
            self._pip("install", "--constraint", str(pins), f"{wheel}[{EXTRA}]")
        except InputInvalid:  # no index is in reach, or something there is pinned against it
            return False
        return True

    def uninstall(self, packages: Iterable[str]) -> None:
        """Take packages out."""
        names = list(packages)
        if names:
            self._pip("uninstall", "--yes", *names)

    def told(self, program: str, *words: str, also: Mapping[str, str] | None = None) -> Any:
        """What a program says on its last line, as JSON, with more in its environment."""
        said = self._run("-c", program, *words, also=also).strip().splitlines()
        return json.loads(said[-1])

    def _pip(self, *words: str) -> None:
        self._run("-m", "pip", "--version")
        self._run("-m", "pip", words[0], "--quiet", "--disable-pip-version-check", *words[1:])

    def _run(self, *words: str, also: Mapping[str, str] | None = None) -> str:
        try:
            done = subprocess.run(
                [self.python, "-P", *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
                env=None if also is None else {**os.environ, **also},
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise InputInvalid(
                f"{self.python} can not be run: {problem}", hint="Name a Python interpreter."
            ) from None
        if done.returncode == 0:
            return done.stdout
        said = one_line(re.sub(r"\s+", " ", done.stderr.strip()[-400:]))
        if "No module named pip" in said:
            hint = f"Give it pip with '{self.python} -m ensurepip', then try again."
            raise ExtraMissing(f"{self.python} has no pip", hint=hint)
        raise InputInvalid(f"{self.python} failed: {said}", hint="Nothing else was changed.")
