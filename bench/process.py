"""How is a contender started in its own environment, and how is it asked?"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 600.0


class Contender:
    """A process that runs one program under test and answers one job at a time."""

    def __init__(self, name: str, python: Path, module: str, place: Path) -> None:
        place.mkdir(parents=True, exist_ok=True)
        self.name = name
        self.place = place
        self._complaints = place / "stderr"
        with open(self._complaints, "wb") as complaints:
            self._process = subprocess.Popen(
                [python, "-m", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                cwd=ROOT,
                env=environment(place, own=python == Path(sys.executable)),
                bufsize=0,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def ask(self, job: str, **values: Any) -> Any:
        """Have a job done and return what it measured."""
        assert self._process.stdin
        assert self._process.stdout
        request = json.dumps({"job": job, "values": values}, default=str)
        self._process.stdin.write(request.encode() + b"\n")
        if not select.select([self._process.stdout], [], [], PATIENCE)[0]:
            self._process.kill()
            raise RuntimeError(f"{self.name} did not finish {job} in {PATIENCE:.0f} s")
        line = self._process.stdout.readline()
        if not line:
            said = self._complaints.read_text(errors="replace")[-2000:]
            raise RuntimeError(f"{self.name} ended during {job}:\n{said}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"{self.name} failed in {job}:\n{answer['error']}")
        return answer["result"]

    def close(self) -> None:
        """Let the process end."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def environment(place: Path, *, own: bool) -> Mapping[str, str]:
    """An environment in which nobody's settings, home or credentials are met."""
    kept = ["PATH", "LANG", "TZ", *(["PYTHONPATH"] if own else [])]
    return {name: os.environ[name] for name in kept if name in os.environ} | {
        "HOME": str(place),
        "XDG_CONFIG_HOME": str(place / "config"),
        "XDG_DATA_HOME": str(place / "data"),
        "TMPDIR": str(place),
        "HERMES_HOME": str(place / "hermes"),
        "HERMES_DISABLE_LAZY_INSTALLS": "1",
    }
