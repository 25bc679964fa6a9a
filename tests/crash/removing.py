"""Kill processes that remove and restore sessions: `python -m tests.crash.removing`.

N is the number of kills on each engine. Each is at a system call of the protocol, one after the
other until all had their turn; where there is no strace, at a random moment. Every session is
always whole and in one place only, and after the next start nothing half done is left.
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

from sexton.core.session import State
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
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
from tests.crash.tracing import LONGEST, calls_of, killed_at, points_of, tracer
from tests.kit.nursery import Child, Nursery

KILLS = "kills"
DURING = {act: f"killed during {act}" for act in ACTS}
CALLS = "calls killed at"
HALF = "left something half done"
SURVIVED = "had finished before"
AWAY = ("trash", "archive", "files")
COURSE = ("trash", "undo", "archive", "undo", "files", "undo", "trash", "restore", "archive",
          "restore", "trash", "purge")  # fmt: skip
"""Everything that is done, after everything it can be done after."""
TURNS = 4
"""How often the sessions of one house are put away and brought back."""
LONGEST_ACT = 0.5


class Removing:
    """Rounds on one engine, each in a house of its own."""

    def __init__(self, nursery: Nursery, place: Place, tally: Tally) -> None:
        self._nursery = nursery
        self._place = place
        self._tally = tally
        self._calls: dict[str, Counter[str]] = {}
        self._points: dict[str, list[tuple[str, int]]] = {}
        self._met: set[tuple[str, str, int]] = set()

    def round(self, chance: random.Random, number: int) -> None:
        """Put everything away and back again and again, and kill whoever does it."""
        with tempfile.TemporaryDirectory(prefix="sexton-removing-") as made, _data(made):
            place = Path(made)
            url = self._place.another()
            known = furnish(url, place, chance)
            if tracer() is not None and not self._calls:
                self._calibrate(place, chance)
            for turn in range(TURNS * number, TURNS * (number + 1)):
                if not self._tally.left:
                    break
                away, back = acts_of(turn)
                self._act(url, place, known, chance, away, turn // len(AWAY))
                nth = sum(acts_of(each) == (away, back) for each in range(turn % TURN_AROUND))
                nth += turn // TURN_AROUND * OFTEN[away, back]
                self._act(url, place, known, chance, back, nth, after=away)
            with _house(url, place) as house:
                assert {each.state for each in sessions(house)} <= {State.ENDED, State.FINALIZED}
            if self._tally.left:
                self._finish(url, place, "trash")
                self._act(url, place, known, chance, "purge", number)
                with _house(url, place) as house:
                    assert {each.state for each in sessions(house)} == {State.PURGED}

    def coverage(self) -> str:
        """How many of the calls at which somebody is to be killed had their turn."""
        total = sum(map(len, self._points.values()))
        return f"{len(self._met)} of {total} {CALLS}" if total else ""

    def _act(
        self,
        url: str,
        place: Path,
        known: dict[str, Truth],
        chance: random.Random,
        what: str,
        nth: int,
        after: str = "",
    ) -> None:
        """Kill whoever does it, sometimes also whoever cleans up, then do it to the end."""
        purging = what == "purge"
        self._kill(url, place, chance, what, self._point(after + what, nth))
        with _house(url, place) as house:
            check(house, known, purging=purging)
        if chance.random() < 0.3:
            calls = self._calls.get("recover", Counter())
            call = chance.choice(sorted(calls)) if calls else ""
            number = chance.randint(1, calls[call]) if calls else 0
            self._kill(url, place, chance, "recover", ("recover", call, number))
        with _house(url, place) as house:
            self._tally.events[HALF] += bool(mend(house))
            check(house, known, purging=purging)
            check_tidy(house)
        self._finish(url, place, what)
        with _house(url, place) as house:
            check(house, known, purging=purging)
            check_tidy(house)

    def _point(self, act: str, nth: int) -> tuple[str, str, int]:
        """The call whose turn it is when an act is done for the nth time."""
        points = self._points.get(act)
        return (act, *points[nth % len(points)]) if points else (act, "", 0)

    def _kill(
        self,
        url: str,
        place: Path,
        chance: random.Random,
        what: str,
        point: tuple[str, str, int],
    ) -> None:
        child = self._start(url, place, what)
        if tracer() is None:
            _let_go(place)
            threading.Event().wait(chance.uniform(0, LONGEST_ACT))
            child.kill()
        else:
            with killed_at(child, *point[1:]):
                _let_go(place)
                code = child.wait(2 * LONGEST)
            assert code in (0, -signal.SIGKILL), child.lines()
        if what != "recover":
            self._met.add(point)
        if "done" in child.lines():
            self._tally.events[SURVIVED] += 1
        else:
            self._tally.events[KILLS] += 1
            self._tally.events[DURING[what]] += 1

    def _finish(self, url: str, place: Path, what: str) -> None:
        child = self._start(url, place, what)
        _let_go(place)
        assert child.wait(LONGEST) == 0, child.lines()

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
        before = ""
        for what in COURSE:
            child = self._start(url, apart, what)
            found = calls_of(child, lambda: _let_go(apart), apart / "calls")
            act = before + what if before in AWAY and what != "purge" else what
            self._calls[act] = found
            self._points[act] = points_of(found, random.Random(f"{self._tally.seed} {act}"))
            before = what
        # What is left to be completed is some of what an undo does, or an emptying.
        self._calls["recover"] = self._calls["trashundo"] | self._calls["purge"]


def acts_of(turn: int) -> tuple[str, str]:
    """How sessions are put away in a turn, and how they are brought back."""
    away = AWAY[turn % len(AWAY)]
    one_by_one = away != "files" and turn // len(AWAY) % 3
    return away, "restore" if one_by_one else "undo"


TURN_AROUND = 9
"""After so many turns they are the same again."""
OFTEN = Counter(acts_of(turn) for turn in range(TURN_AROUND))


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
                number=wanted.number,
                counted=KILLS,
                rare=[HALF, *(DURING[act] for act in COURSE)],
            )
            removing = Removing(nursery, found[engine], tally)
            tally.run(wanted.only, removing.round)
            tally.tell()
            print(f"  {engine:9} {removing.coverage()}", flush=True)
            tallies.append(tally)
    return verdict(tallies, wanted, () if tracer() else ["kills at a chosen system call"])


if __name__ == "__main__":
    sys.exit(main())
