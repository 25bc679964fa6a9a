"""Where do the workloads run, and who takes part?"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from bench.figures import OURS, Series, Unit
from bench.install import HERMES, PEERS, python_of
from bench.process import Contender
from bench.sizes import Sizes

LIMIT = "bare table"
Measure = Callable[[Contender], float]

PROGRAMS = {
    OURS: (None, "bench.runs_sexton"),
    "hermes": (HERMES, "bench.runs_hermes"),
    "openai-agents": (PEERS, "bench.runs_openai_agents"),
    "langgraph": (PEERS, "bench.runs_langgraph"),
    LIMIT: (None, "bench.runs_bare"),
    f"{OURS} site": (None, "bench.runs_site"),
    f"{OURS} pages": (None, "bench.runs_pages"),
    f"{OURS} writer": (None, "bench.runs_sexton"),
    "hermes writer": (HERMES, "bench.runs_hermes"),
    "hermes second writer": (HERMES, "bench.runs_hermes"),
}


@dataclass(slots=True)
class Scene:
    """A directory on the disk under test, the contenders in it, and the sizes.

    A contender starts when it is first needed and ends with the workload.
    """

    place: Path
    sizes: Sizes
    peers: tuple[str, ...]
    say: Callable[[str], None]
    _running: dict[str, Contender] = field(default_factory=dict)
    _homes: dict[int, str] = field(default_factory=dict)
    now: int = field(default_factory=lambda: int(time.time() * 1e6))

    def contender(self, name: str) -> Contender:
        """The contender of that name, running."""
        if name not in self._running:
            environment, module = PROGRAMS[name]
            python = Path(sys.executable) if environment is None else python_of(environment)
            place = Path(tempfile.mkdtemp(prefix=f"{module.partition('_')[2]}-", dir=self.place))
            self._running[name] = Contender(name, python, module, place)
        return self._running[name]

    @property
    def ours(self) -> Contender:
        return self.contender(OURS)

    @property
    def hermes(self) -> Contender:
        return self.contender("hermes")

    def home(self, sessions: int) -> str:
        """A Hermes home with that many sessions, made once for all workloads."""
        if sessions not in self._homes:
            self.say(f"making a Hermes home of {sessions} sessions")
            home = str(self.place / f"home-{sessions}")
            self.hermes.ask("build_home", home=home, sessions=sessions, messages=4, now=self.now)
            self._homes[sessions] = home
        return self._homes[sessions]

    def ledger(self, sessions: int, messages: int = 1) -> str:
        """A ledger with that many sessions, to be thrown away with the workload."""
        self.say(f"making a ledger of {sessions} sessions")
        ledger = str(self.ours.place / f"{sessions}.db")
        self.ours.ask(
            "build_ledger", ledger=ledger, sessions=sessions, messages=messages, now=self.now
        )
        return ledger

    def measure(
        self, workload: str, what: str, unit: Unit, jobs: Mapping[str, Measure], rounds: int = 0
    ) -> Series:
        """Have every contender do the same, round after round, each time in another order."""
        self.say(f"{workload}: {what}")
        names = list(jobs)
        found: dict[str, list[float]] = {name: [] for name in names}
        for number in range(rounds or self.sizes.rounds):
            first = number % len(names)
            for name in names[first:] + names[:first]:
                contender = self.contender(name)
                os.sync()  # nobody pays for what the one before left to be written
                found[name].append(jobs[name](contender))
        return Series(workload, what, unit, found)

    def dismiss(self) -> None:
        """End the contenders and remove what they wrote, all but the homes."""
        for contender in self._running.values():
            contender.close()
            shutil.rmtree(contender.place, ignore_errors=True)
        self._running.clear()


@contextmanager
def scene(
    sizes: Sizes, peers: Sequence[str], parent: Path | None, say: Callable[[str], None]
) -> Iterator[Scene]:
    """A scene in a directory of its own that is removed afterwards."""
    place = Path(tempfile.mkdtemp(prefix="sexton-bench-", dir=parent)).resolve()
    opened = Scene(place, sizes, tuple(peers), say)
    try:
        yield opened
    finally:
        opened.dismiss()
        shutil.rmtree(place, ignore_errors=True)


def fsync_ms(place: Path, times: int = 50) -> float:
    """How long the disk takes to make four kilobytes durable."""
    path = place / "fsync"
    taken = []
    with open(path, "wb", buffering=0) as file:
        for _ in range(times):
            file.write(os.urandom(4096))
            start = time.perf_counter()
            os.fsync(file.fileno())
            taken.append(time.perf_counter() - start)
    path.unlink()
    return 1000 * median(taken)


def rate(job: str, messages: int, /, **values: Any) -> Measure:
    """Messages per second of an appending job."""
    return lambda contender: messages / float(contender.ask(job, **values))
