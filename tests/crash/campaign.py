"""Kill processes at random moments and look for losses: `python -m tests.crash.campaign`.

N is the number of kills of processes that append, on each engine; who is killed while opening a
ledger comes on top. SEED repeats a choice of modes and moments. A campaign in which a rare event
never came up, though it went on for longer, has proved nothing about it, and fails.
"""

from __future__ import annotations

import random
import signal
import sys
import threading
from collections.abc import Sequence

from tests.crash.checking import Promises, check, has_schema
from tests.crash.running import Place, Tally, order, places, verdict
from tests.kit.nursery import Child, Nursery

MODES = ("singles", "batches", "threads", "forks", "folds", "opening", "pairs")
LIVES_PER_LEDGER = 15
FRESH_ROUNDS = 3

KILLS = "kills"
STORED = "stored but not acknowledged"
WAITING = "killed with threads waiting for a commit"
UNBORN = "killed before the schema was there"
OPENING = "killed while opening"
SURVIVED = "outlived by another process"
RARE = (STORED, WAITING, UNBORN, OPENING, SURVIVED)


class Campaign:
    """Rounds on one engine, and the events that came up in them."""

    def __init__(self, nursery: Nursery, place: Place, tally: Tally) -> None:
        self._nursery = nursery
        self._place = place
        self._events = tally.events
        self._tally = tally
        self._chance = random.Random()
        self._opening_times = {"fresh": 0.02, "again": 0.02}

    def round(self, chance: random.Random, _: int) -> None:
        """Kill processes that open a ledger, then those that append to it, and look for losses."""
        self._chance = chance
        promises = Promises()
        for _ in range(FRESH_ROUNDS):
            url = self._place.fresh()
            self._opening_round(url)
        for _ in range(LIVES_PER_LEDGER):
            if self._tally.left:
                self._life(url, promises, chance.choice(MODES))
        self._check(url, promises)

    def _life(self, url: str, promises: Promises, mode: str) -> None:
        if mode == "opening":
            child = self._nursery.start(APPEND, url, "singles", self._tag())
            self._kill_while_opening(child, "again")
            promises.hear(child.lines())
        elif mode == "pairs":
            self._pair(url, promises)
        else:
            child = self._nursery.start(APPEND, url, mode, self._tag())
            self._kill(child)
            self._count_waiting(child)
            promises.hear(child.lines())
        # Sometimes the next child is the first to meet what the killed one left.
        if self._chance.random() < 0.5:
            self._check(url, promises)

    def _check(self, url: str, promises: Promises) -> None:
        if has_schema(url):
            self._events[STORED] = max(self._events[STORED], check(url, promises))

    def _opening_round(self, url: str) -> None:
        """Kill a process that opens a ledger nobody has opened before."""
        self._kill_while_opening(self._nursery.start(OPEN, url), "fresh")
        if not has_schema(url):
            self._events[UNBORN] += 1
        survivor = self._nursery.start(OPEN, url)
        assert survivor.wait() == 0
        assert has_schema(url)
        check(url, Promises())

    def _pair(self, url: str, promises: Promises) -> None:
        """Kill one of two processes; the other goes on undisturbed."""
        names = [self._tag() for _ in range(2)]
        first, second = (self._nursery.start(APPEND, url, "pairs", name) for name in names)
        self._kill(first)
        before = len(second.lines())
        second.wait_for(lambda lines: _acknowledged(lines) > _acknowledged(lines[:before]) + 3)
        self._events[SURVIVED] += 1
        self._kill(second)
        for child in (first, second):
            promises.hear(child.lines())

    def _kill(self, child: Child) -> None:
        """Kill a child some time after some acknowledgements."""
        wanted = self._chance.randrange(1, 20)
        child.wait_for(lambda lines: _acknowledged(lines) >= wanted)
        self._wait(self._chance.uniform(0, 0.004))
        self._end(child)
        self._events[KILLS] += 1
        self._events["acknowledged"] += _acknowledged(child.lines())

    def _kill_while_opening(self, child: Child, kind: str) -> None:
        child.wait_for(lambda lines: "opening" in lines)
        self._wait(self._chance.uniform(0, self._opening_times[kind]))
        self._end(child)
        if _has_opened(child.lines()):  # too late: the next one is given less time
            self._opening_times[kind] *= 0.8
        else:
            self._opening_times[kind] = min(self._opening_times[kind] * 1.2, 0.5)
            self._events[OPENING] += 1

    def _end(self, child: Child) -> None:
        """Kill a child, which must have been well until then."""
        child.kill()
        assert child.wait() in (-signal.SIGKILL, 0)
        assert not [line for line in child.lines() if line.startswith("gave-up")]

    def _count_waiting(self, child: Child) -> None:
        tried = sum(line.startswith("try") for line in child.lines())
        if tried - _acknowledged(child.lines()) > 2:
            self._events[WAITING] += 1

    def _tag(self) -> str:
        self._events["children"] += 1
        return f"child{self._events['children']}"

    def _wait(self, seconds: float) -> None:
        threading.Event().wait(seconds)


def _acknowledged(lines: Sequence[str]) -> int:
    return sum(line.startswith("done") for line in lines)


def _has_opened(lines: Sequence[str]) -> bool:
    return any(line.startswith("opened") for line in lines)


APPEND = "tests.crash.appending:append"
OPEN = "tests.crash.appending:open_only"


def main() -> int:
    """Run the campaign the environment asks for; what a shell takes for success or failure."""
    wanted = order(full=5000, ci=200)
    tallies = []
    with places() as found, Nursery("tests.crash.appending") as nursery:
        for engine in wanted.engines:
            tally = Tally(
                module="tests.crash.campaign",
                engine=engine,
                seed=wanted.seed,
                number=wanted.number,
                counted=KILLS,
                rare=RARE,
            )
            tally.run(wanted.only, Campaign(nursery, found[engine], tally).round)
            tally.tell()
            tallies.append(tally)
    return verdict(tallies, wanted)


if __name__ == "__main__":
    sys.exit(main())
