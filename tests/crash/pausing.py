"""Pause workers and keepers and let their clocks jump: `python -m tests.crash.pausing`.

N is the number of pauses, freezes and jumps on each engine, all on one host. Under rules that wait
for half a second at most, nobody is reaped for a longer pause, and everybody goes on.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sexton.store.opening import open_ledger
from tests.crash.holding import HASTY, HOLD, KEEP, publish
from tests.crash.running import Place, Tally, order, places, verdict
from tests.crash.victims import Victim, assert_go_on, holders_of
from tests.kit.aftermath import assert_lives_on
from tests.kit.freezing import Freezer, may_freeze
from tests.kit.hurting import frozen, stopped
from tests.kit.jumping import WallClock, faked_by, find_libfaketime
from tests.kit.nursery import Child, Nursery

ROOT = Path(__file__).parents[2]
SLEEPERS, JUMPERS, WAVES = 20, 6, 3
REST = "0.1"
LONG = (HASTY.ttl + HASTY.lock_delay).total_seconds() * 1.2
JUMPS = [timedelta(days=2), timedelta(days=-2), timedelta(seconds=90), timedelta(seconds=-90)]

PAUSES = "pauses, freezes and jumps"
STOP, FREEZE, JUMP = "stopped", "frozen", "wall clock jumped"
BUSY = "paused in a turn"
KEEPER = "a keeper paused too"
KEEPER_JUMP = "a keeper's wall clock jumped too"
RARE = (BUSY, KEEPER, KEEPER_JUMP, STOP, JUMP)


@dataclass(kw_only=True)
class Cast:
    """The processes of a round: some are paused, others have a clock that jumps."""

    sleepers: list[Victim]
    jumpers: list[Victim]
    sleepy_keeper: Child
    jumpy_keeper: Child
    clocks: dict[int, WallClock]

    @property
    def workers(self) -> list[Victim]:
        return self.sleepers + self.jumpers

    @property
    def keepers(self) -> list[Child]:
        return [self.sleepy_keeper, self.jumpy_keeper]


class Pausing:
    """Rounds on one engine; each lets the same processes suffer several times."""

    def __init__(
        self, nursery: Nursery, place: Place, tally: Tally, library: Path | None, directory: Path
    ) -> None:
        self._nursery = nursery
        self._place = place
        self._tally = tally
        self._library = library
        self._directory = directory
        self._can_freeze = may_freeze()

    def round(self, chance: random.Random, _: int) -> None:
        """Start workers and keepers, hurt them, and look whether anything became of it."""
        url = self._place.fresh()
        publish(url, HASTY)
        # A new one each time: its children share a lock that their end may leave locked.
        with Nursery("tests.crash.holding", environ=faked_by(self._library)) as faked:
            cast = self._start(url, faked)
            try:
                for each in cast.workers:
                    each.introduce()
                with ExitStack() as stack:
                    freezer = stack.enter_context(Freezer()) if self._can_freeze else None
                    for number in range(WAVES):
                        self._wave(cast, freezer, chance, keeper_too=number % 2 == 0)
                        _check(url, cast)
            finally:
                for child in (*(each.child for each in cast.workers), *cast.keepers):
                    child.kill()

    def _start(self, url: str, faked: Nursery) -> Cast:
        clocks: dict[int, WallClock] = {}

        def jumpy(target: str, *arguments: str) -> Child:
            clock = WallClock(self._directory / f"clock{len(clocks)}")
            child = faked.start(target, *arguments, environ=clock.environ)
            clocks[child.pid] = clock
            return child

        def arguments(number: int) -> tuple[str, ...]:
            return HOLD, url, f"worker{number}", f"shared {number % 7}", REST

        everybody = range(SLEEPERS + JUMPERS)
        return Cast(
            sleepers=[
                Victim(child=self._nursery.start(*arguments(each))) for each in everybody[:SLEEPERS]
            ],
            jumpers=[Victim(child=jumpy(*arguments(each))) for each in everybody[SLEEPERS:]],
            sleepy_keeper=self._nursery.start(KEEP, url),
            jumpy_keeper=jumpy(KEEP, url),
            clocks=clocks,
        )

    def _wave(
        self, cast: Cast, freezer: Freezer | None, chance: random.Random, *, keeper_too: bool
    ) -> None:
        """Everybody gets something, longer than the rules would ever wait."""
        events = self._tally.events
        with ExitStack() as stack:
            for each in cast.sleepers:
                self._pause(each.child, freezer, stack, chance)
            if keeper_too:
                self._pause(cast.sleepy_keeper, freezer, stack, chance)
                events[KEEPER] += 1
            for pid, clock in cast.clocks.items():
                clock.jump(chance.choice(JUMPS))
                events[JUMP] += 1
                events[KEEPER_JUMP] += pid == cast.jumpy_keeper.pid
            events[PAUSES] += len(cast.clocks)
            events[BUSY] += sum(each.is_busy for each in cast.sleepers)
            threading.Event().wait(LONG)

    def _pause(
        self, child: Child, freezer: Freezer | None, stack: ExitStack, chance: random.Random
    ) -> None:
        if freezer is not None and chance.random() < 0.5:
            stack.enter_context(frozen(child, freezer))
            self._tally.events[FREEZE] += 1
        else:
            stack.enter_context(stopped(child))
            self._tally.events[STOP] += 1
        self._tally.events[PAUSES] += 1


def _check(url: str, cast: Cast) -> None:
    """Everybody writes, both keepers sweep, and everything is held by whoever held it."""
    assert_go_on(cast.workers)
    for keeper in cast.keepers:
        _sweeps_again(keeper)
    with closing(open_ledger(url)) as ledger:
        for (_, id), holders in holders_of(cast.workers).items():
            [session] = ledger.index.find(None, id)
            assert session.epoch == 1, f"{session.id} was taken over"
            assert_lives_on(ledger, session, holders)


def _sweeps_again(keeper: Child) -> None:
    """Wait until a keeper has gone over everything once more, without doing anything."""

    def swept() -> int:
        return keeper.lines().count("swept")

    before = swept()
    keeper.wait_for(lambda _: swept() > before + 1)
    assert keeper.is_alive
    did = [line for line in keeper.lines() if line.startswith("did")]
    assert not did, did


def library() -> Path | None:
    """libfaketime, fetched if it is not there and can be had."""
    script = ROOT / "scripts" / "install_faketime.sh"
    subprocess.run(["sh", script], check=False, timeout=240)
    return find_libfaketime([ROOT / ".venvs" / "faketime" / "usr" / "lib"])


def main() -> int:
    """Run what the environment asks for; what a shell takes for success or failure."""
    wanted = order(full=2000, ci=70)
    found = library()
    freezes = may_freeze()
    forbidden = [] if freezes else [f"{FREEZE} by a cgroup"]
    forbidden += [] if found else ["libfaketime (the clocks of the programs themselves jumped)"]
    tallies = []
    with (
        tempfile.TemporaryDirectory(prefix="sexton-clocks-") as directory,
        places(in_memory=True) as where,
        Nursery("tests.crash.holding") as nursery,
    ):
        for engine in wanted.engines:
            tally = Tally(
                module="tests.crash.pausing",
                engine=engine,
                seed=wanted.seed,
                number=wanted.number,
                counted=PAUSES,
                rare=(*RARE, *([FREEZE] if freezes else [])),
            )
            pausing = Pausing(nursery, where[engine], tally, found, Path(directory))
            tally.run(wanted.only, pausing.round)
            tally.tell()
            tallies.append(tally)
    return verdict(tallies, wanted, forbidden)


if __name__ == "__main__":
    sys.exit(main())
