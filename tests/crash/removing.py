"""Kill processes that remove and restore sessions: `python -m tests.crash.removing`.

N is the number of kills on each engine, each at a system call of the protocol; where there is no
strace, at a random moment. Every session is always whole and in one place only, and after the next
start nothing half done is left.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sexton.bootstrap import Sexton
from sexton.ledger.opening import open_ledger
from sexton.model.session import State
from sexton.testing.crash import Child, Nursery
from tests.crash.removing_scene import (
    Truth,
    check,
    check_tidy,
    furnish,
    mend,
    sessions,
    settings,
)
from tests.crash.removing_victims import ACT, ACTS, MODULE
from tests.crash.running import Place, Tally, order, places, verdict
from tests.crash.tracing import calls_of, killed_at, tracer

KILLS = "kills"
DURING = {act: f"killed during {act}" for act in ACTS}
HALF = "left something half done"
SURVIVED = "had finished before"
AWAY = ("trash", "archive", "files")
TURNS = 4
"""How often the sessions of one house are put away and brought back."""
LONGEST_ACT = 0.5


class Removing:
    """Rounds on one engine, each in a house of its own."""

    def __init__(self, nursery: Nursery, place: Place, tally: Tally, most: int) -> None:
        self._nursery = nursery
        self._place = place
        self._tally = tally
        self._most = most
        self._calls: dict[str, Counter[str]] = {}

    def round(self, chance: random.Random, _: int) -> None:
        """Put everything away and back again and again, and kill whoever does it."""
        with tempfile.TemporaryDirectory(prefix="sexton-removing-") as made, _data(made):
            place = Path(made)
            url = self._place.another()
            known = furnish(url, place, chance)
            if tracer() is not None and not self._calls:
                self._calibrate(place, chance)
            for _ in range(TURNS):
                if self._is_enough:
                    break
                self._act(url, place, known, chance, chance.choice(AWAY))
                self._act(url, place, known, chance, "undo")
            with _house(url, place) as house:
                assert {each.state for each in sessions(house)} <= {State.ENDED, State.FINALIZED}
            if not self._is_enough:
                self._finish(url, place, "trash")
                self._act(url, place, known, chance, "purge")
                with _house(url, place) as house:
                    assert {each.state for each in sessions(house)} == {State.PURGED}

    @property
    def _is_enough(self) -> bool:
        return self._tally.events[KILLS] >= self._most

    def _act(
        self, url: str, place: Path, known: dict[str, Truth], chance: random.Random, what: str
    ) -> None:
        """Kill whoever does it, sometimes also whoever cleans up, then do it to the end."""
        purging = what == "purge"
        self._kill(url, place, chance, what)
        with _house(url, place) as house:
            check(house, known, purging=purging)
        if chance.random() < 0.3:
            self._kill(url, place, chance, "recover")
        with _house(url, place) as house:
            self._tally.events[HALF] += bool(mend(house))
            check(house, known, purging=purging)
            check_tidy(house)
        self._finish(url, place, what)
        with _house(url, place) as house:
            check(house, known, purging=purging)
            check_tidy(house)

    def _kill(self, url: str, place: Path, chance: random.Random, what: str) -> None:
        child = self._start(url, place, what)
        if tracer() is None:
            _let_go(place)
            threading.Event().wait(chance.uniform(0, LONGEST_ACT))
            child.kill()
        else:
            calls = self._calls[what]
            call = chance.choice(sorted(calls))
            with killed_at(child, call, chance.randint(1, calls[call])):
                _let_go(place)
                code = child.wait()
            assert code in (0, -signal.SIGKILL), child.lines()
        if "done" in child.lines():
            self._tally.events[SURVIVED] += 1
        else:
            self._tally.events[KILLS] += 1
            self._tally.events[DURING[what]] += 1

    def _finish(self, url: str, place: Path, what: str) -> None:
        child = self._start(url, place, what)
        _let_go(place)
        assert child.wait() == 0, child.lines()

    def _start(self, url: str, place: Path, what: str) -> Child:
        (place / "go").unlink(missing_ok=True)
        environ = {"XDG_DATA_HOME": str(place)}
        child = self._nursery.start(ACT, url, str(place), what, environ=environ)
        child.wait_for(lambda lines: "ready" in lines)
        return child

    def _calibrate(self, place: Path, chance: random.Random) -> None:
        """See which calls each act makes, and how many, in a house of its own."""
        url, apart = self._place.another(), place / "apart"
        apart.mkdir()
        furnish(url, apart, chance)
        for what in ("trash", "undo", "archive", "undo", "files", "undo", "trash", "purge"):
            child = self._start(url, apart, what)
            found = calls_of(child, lambda: _let_go(apart), apart / "calls")
            self._calls[what] = found | self._calls.get(what, Counter())
        # What is left to be completed is some of what an undo does, or an emptying.
        self._calls["recover"] = self._calls["purge"]


def _let_go(place: Path) -> None:
    (place / "go").touch()


@contextmanager
def _house(url: str, place: Path) -> Iterator[Sexton]:
    with Sexton(open_ledger(url), settings(place)) as house:
        yield house


@contextmanager
def _data(place: str) -> Iterator[None]:
    """Files of sessions of a shared ledger are in the platform's place for data."""
    before = os.environ.get("XDG_DATA_HOME")
    os.environ["XDG_DATA_HOME"] = place
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_DATA_HOME"]
        else:
            os.environ["XDG_DATA_HOME"] = before


def main() -> int:
    """Run what the environment asks for; what a shell takes for success or failure."""
    wanted = order(full=1000, ci=24)
    tallies = []
    with places() as found, Nursery(MODULE) as nursery:
        for engine in wanted.engines:
            tally = Tally(
                module="tests.crash.removing",
                engine=engine,
                seed=wanted.seed,
                counted=KILLS,
                rare=[HALF, DURING["trash"], DURING["files"], DURING["undo"]],
            )
            removing = Removing(nursery, found[engine], tally, wanted.number)
            tally.run(wanted.number, wanted.only, removing.round)
            tally.tell()
            tallies.append(tally)
    return verdict(tallies, wanted, () if tracer() else ["kills at a chosen system call"])


if __name__ == "__main__":
    sys.exit(main())
