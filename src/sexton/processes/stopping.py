"""How is a process stopped with all that it started, and nobody else?

A process is signalled through a pidfd only, and only after what the pidfd stands for was proved
to be ours: by its number in pidfs, by a tag in its environment, or because its parent is one of
ours. pid and start time are enough only for a person who was shown the command.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Protocol

from sexton.core.machine_ports import Clock
from sexton.processes.claims import Known
from sexton.processes.hunting import Hunt
from sexton.processes.model import NOTHING, Ending, Process, Spared, Stopped, never
from sexton.processes.pidfds import has_pidfds

QUIET = 2
"""So many passes that find nobody in a row: who was just being born is found by the second."""
LONG_QUIET = 10
"""So many where somebody was gone before he could be held, or only a tag is left to go by."""
LOOK_EVERY = 0.02
LAST_WAIT = 5.0
"""Seconds for the kernel to end what was killed."""


class ProcessStopper(Protocol):
    """Stops processes of this machine that are proved to be ours.

    Tests stand in for it with a kernel in which nobody dies.
    """

    def stop(
        self,
        processes: Sequence[Process],
        grace: timedelta,
        *,
        confirmed: bool = False,
        held: Mapping[int, int] = NOTHING,
        spare: Sequence[Spared] = (),
        given_up: Callable[[], bool] = never,
    ) -> list[Stopped]:
        """Stop each with all that it started: TERM, after the grace KILL, until it is given up.

        Confirmed by a person who was shown the command of each, pid and start time are proof
        enough; one that runs another command by then is refused.
        `held` are pidfds by pid, kept since the processes were started.
        """

    def find(
        self,
        processes: Sequence[Process],
        *,
        confirmed: bool = False,
        spare: Sequence[Spared] = (),
    ) -> list[Stopped]:
        """What `stop` would do with each, without doing it."""


class Stopper:
    """Stops trees of processes; one that is proved to be ours stays so until it is gone."""

    def __init__(self, clock: Clock, *, pidfds: bool | None = None) -> None:
        self._clock = clock
        self._pidfds = has_pidfds() if pidfds is None else pidfds

    def find(
        self,
        processes: Sequence[Process],
        *,
        confirmed: bool = False,
        spare: Sequence[Spared] = (),
    ) -> list[Stopped]:
        hunt = Hunt(processes, confirmed=confirmed, pidfds=self._pidfds)
        hunt.spare(spare)
        try:
            hunt.scan()
            return hunt.results(Ending.FOUND)
        finally:
            hunt.close()

    def stop(
        self,
        processes: Sequence[Process],
        grace: timedelta,
        *,
        confirmed: bool = False,
        held: Mapping[int, int] = NOTHING,
        spare: Sequence[Spared] = (),
        given_up: Callable[[], bool] = never,
    ) -> list[Stopped]:
        hunt = Hunt(processes, confirmed=confirmed, pidfds=self._pidfds, held=held)
        hunt.given_up = given_up
        hunt.spare(spare)
        return self.drive_out(hunt, grace)

    def drive_out(self, hunt: Hunt, grace: timedelta) -> list[Stopped]:
        """Ask everybody who is found to end, then kill; what came of each."""
        try:
            asked = self._drive(hunt, signal.SIGTERM, Ending.TERM, grace.total_seconds())
            if not asked and not hunt.given_up():
                self._drive(hunt, signal.SIGKILL, Ending.KILL, LAST_WAIT)
            return hunt.results(Ending.STAYS)
        finally:
            hunt.close()

    def _drive(self, hunt: Hunt, number: signal.Signals, ending: Ending, seconds: float) -> bool:
        """Signal each once until nobody is left, whoever appears meanwhile as well."""
        end = self._clock.monotonic() + seconds
        quiet, told = 0, set[Known]()
        while quiet < (LONG_QUIET if hunt.is_restless else QUIET):
            # Only who runs away is not given the time to say whom he started.
            chased = number if number is signal.SIGKILL and hunt.is_restless else None
            living = hunt.scan(chased)
            quiet = 0 if living or hunt.lost_somebody else quiet + 1
            if hunt.given_up():
                hunt.wait(0, ending, self._clock)
                return False
            for each in living - told:
                hunt.signal(each, number)
                told.add(each)
            left = end - self._clock.monotonic()
            hunt.wait(max(0.0, min(left, LOOK_EVERY)), ending, self._clock)
            if left <= 0 and (living or hunt.lost_somebody):
                return False
        return True
