"""How fast may a keeper do one finalizer's work, and when does it leave an endpoint alone?"""

from __future__ import annotations

import threading
from datetime import timedelta

from sexton.core.machine_ports import Clock
from sexton.core.record import replace
from sexton.finalizers.job import EffectPostponed
from sexton.finalizers.policy import Rate, filled, rest_after, take, wait_for_one


class Pace:
    """A finalizer's rate and rest in this keeper, by running time; for any number of threads."""

    def __init__(self, rate: Rate | None, clock: Clock) -> None:
        self._rate = rate
        self._clock = clock
        self._lock = threading.Lock()
        self._bucket = None if rate is None else filled(rate, clock.monotonic())
        self._outages = 0
        self._rests_until = float("-inf")

    def take(self, wanted: int) -> int:
        """As much of what is wanted as may be begun now, each with its first call."""
        with self._lock:
            now = self._clock.monotonic()
            if wanted <= 0 or now < self._rests_until:
                return 0
            if self._rate is None or self._bucket is None:
                return wanted
            self._bucket, taken = take(self._bucket, self._rate, wanted, now)
            return taken

    def give_back(self, unused: int) -> None:
        """What was taken was not needed."""
        with self._lock:
            if self._bucket is not None:
                self._bucket = replace(self._bucket, left=self._bucket.left + unused)

    def take_call(self) -> None:
        """A further call of work that is running; where none is left, the work has to wait."""
        with self._lock:
            if self._rate is None or self._bucket is None:
                return
            now = self._clock.monotonic()
            self._bucket, taken = take(self._bucket, self._rate, 1, now)
            wait = wait_for_one(self._bucket, self._rate)
        if not taken:
            raise EffectPostponed("the calls of this minute are used up", self._clock.now() + wait)

    def rest(self, wish: timedelta | None) -> None:
        """The endpoint is out of order, or asks for so much time: no work is begun for a while."""
        with self._lock:
            now = self._clock.monotonic()
            if now >= self._rests_until:  # what fails together is one outage
                self._outages += 1
            pause = rest_after(self._outages, wish)
            self._rests_until = max(self._rests_until, now + pause.total_seconds())

    def recover(self) -> None:
        """The endpoint has done some work."""
        with self._lock:
            self._outages = 0
