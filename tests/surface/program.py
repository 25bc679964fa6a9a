"""The command line as a test calls it: in this process, or as a program of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import sexton
from sexton.cli import run
from sexton.wiring import Sexton

ROOT = Path(__file__).parents[2]
PATIENCE = 240.0


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Standard output as one JSON document."""
        assert self.code == 0, self.err
        return json.loads(self.out)

    def items(self) -> list[Any]:
        """The items of a page of a list."""
        items: list[Any] = self.json()["items"]
        return items

    def error(self) -> dict[str, Any]:
        """The last line of standard error as the JSON object of an error."""
        found: dict[str, Any] = json.loads(self.err.splitlines()[-1])
        return found


class Cli:
    """Calls commands on one ledger."""

    def __init__(self, capsys: pytest.CaptureFixture[str], url: str) -> None:
        self._capsys = capsys
        self.url = url

    def __call__(self, *arguments: str) -> Answer:
        """Run a command in this process, through the same boundary as the program's."""
        self._capsys.readouterr()
        code = run([*arguments, "--ledger", self.url])
        out, err = self._capsys.readouterr()
        return Answer(code, out, err)

    def ok(self, *arguments: str) -> str:
        """Run a command that succeeds; its output."""
        answer = self(*arguments)
        assert answer.code == 0, answer.err
        return answer.out

    @contextmanager
    def opened(self) -> Iterator[Sexton]:
        """The same ledger through the library."""
        with sexton.open(self.url) as opened:
            yield opened

    def talk(self, key: str, *words: str, source: str = "telegram", **facts: str) -> str:
        """A session with messages that nobody holds any more; its id."""
        with self.opened() as opened, opened.worker() as worker:
            session = worker.session(key, source=source, **facts)
            for text in words:
                session.append(role="user", content=text)
            return session.id


def program(*arguments: str) -> list[str]:
    """The command line of the real program; it needs `environment` to find the package."""
    return [sys.executable, "-m", "sexton", *arguments]


def environment(**changed: str) -> Mapping[str, str]:
    """The test's environment for a program of its own."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), **changed}


def call(*arguments: str, **changed: str) -> Answer:
    """Run the real program to its end."""
    done = subprocess.run(
        program(*arguments),
        env=environment(**changed),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())
