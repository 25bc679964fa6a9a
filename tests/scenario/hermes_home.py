"""Hermes homes for tests, made by the real Hermes."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sexton.core.clock import SystemClock
from sexton.homes.hermes.home import HermesHome

WRITER = Path(__file__).with_name("hermes_writer.py")
PATIENCE = 240.0


class Hermes:
    """A running Hermes process that writes to the homes it is told to."""

    def __init__(self, python: Path, scratch: Path) -> None:
        environment = dict(os.environ, HERMES_HOME=str(scratch), HERMES_DISABLE_LAZY_INSTALLS="1")
        self._process = subprocess.Popen(
            [python, WRITER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            bufsize=0,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._requests, self._answers = self._process.stdin, self._process.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._requests.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._answers.close()

    def ask(self, home: Path, method: str, *arguments: Any, **named: Any) -> Any:
        """Call a method of the home's session database and wait for its answer."""
        self.send(home, method, *arguments, **named)
        return self.answer()

    def send(self, home: Path, method: str, *arguments: Any, **named: Any) -> None:
        """Call a method without waiting."""
        request = {"home": str(home), "method": method, "arguments": arguments, "named": named}
        self._requests.write(json.dumps(request).encode() + b"\n")

    def answer(self) -> Any:
        """What the oldest unanswered call came to."""
        assert self.has_answered(PATIENCE), "Hermes does not answer"
        line = self._answers.readline()
        assert line, f"Hermes has ended with {self._process.poll()}"
        return json.loads(line)

    def has_answered(self, patience: float = 0) -> bool:
        """Whether an answer waits to be read."""
        return bool(select.select([self._answers], [], [], patience)[0])

    def kill(self) -> None:
        """End the process as a crash would."""
        self._process.kill()
        self._process.wait()


class HermesScene:
    """A Hermes home for the contract that all homes share."""

    def __init__(self, hermes: Hermes, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.hermes = hermes
        self.path = path
        self.database = path / "state.db"
        self.ask("open")
        self.home = HermesHome(path, "work", clock=SystemClock())

    def ask(self, method: str, *arguments: Any, **named: Any) -> Any:
        return self.hermes.ask(self.path, method, *arguments, **named)

    def start(self, id: str, source: str = "cli", **named: Any) -> None:
        self.ask("create_session", id, source, **named)

    def say(self, id: str, text: str) -> None:
        self.ask("append_message", id, "user", text)

    def end(self, id: str) -> None:
        self.ask("end_session", id, "cli_close")

    def remove(self, id: str) -> None:
        assert self.ask("delete_session", id)

    def sql(self, text: str, *values: Any) -> list[list[Any]]:
        """Do to the home what no method of Hermes does."""
        rows: list[list[Any]] = self.ask("sql", text, values)
        return rows

    def close(self) -> None:
        """Let Hermes close the database; its log is gone then."""
        self.ask("close")

    def settle(self) -> None:
        deadline = time.monotonic() + PATIENCE
        newest = max(file.stat().st_mtime for file in self.path.glob("state.db*"))
        while time.time() - newest <= 0.15:
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def stamps(self) -> Mapping[str, tuple[int, int, int, int]]:
        """What changes when anybody writes to the home's directory or to a file in it."""
        places = [self.path, *self.path.rglob("*")]
        status = {str(place): place.stat() for place in places}
        return {
            place: (s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns)
            for place, s in status.items()
        }


def in_local_words(moment: datetime) -> str:
    """A moment as Hermes writes it into routes: by the clock on the wall, without a zone."""
    return moment.astimezone().replace(tzinfo=None).isoformat()
