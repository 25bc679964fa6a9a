"""A clock that moves only when a test says so."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

START = datetime(2026, 1, 1, 12, tzinfo=UTC)


class ManualClock:
    """A `Clock` for tests; any number of threads may read and move it."""

    def __init__(self, now: datetime = START) -> None:
        self._lock = threading.Lock()
        self._now = _in_utc(now)
        self._running = 0.0
        self._slept = 0.0

    def now(self) -> datetime:
        """The wall clock, aware, in UTC."""
        with self._lock:
            return self._now

    def monotonic(self) -> float:
        """Seconds of running time since the clock was made; never goes back."""
        with self._lock:
            return self._running

    def elapsed(self) -> float:
        """Running time, and the time the machine slept."""
        with self._lock:
            return self._running + self._slept

    def suspend(self, by: timedelta | float) -> datetime:
        """Let the machine sleep: every clock goes on but the running time."""
        step = by if isinstance(by, timedelta) else timedelta(seconds=by)
        with self._lock:
            self._now += step
            self._slept += step.total_seconds()
            return self._now

    def sleep(self, seconds: float) -> None:
        """Let time pass at once."""
        self.advance(seconds)

    def advance(self, by: timedelta | float) -> datetime:
        """Let time pass on both clocks; the new wall clock."""
        step = by if isinstance(by, timedelta) else timedelta(seconds=by)
        if step < timedelta():
            raise ValueError("Time can not pass backwards; set() moves the wall clock alone.")
        with self._lock:
            self._now += step
            self._running += step.total_seconds()
            return self._now

    def set(self, now: datetime) -> None:
        """Move the wall clock either way, as a person or NTP does; no running time passes."""
        with self._lock:
            self._now = _in_utc(now)


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("A wall clock needs an aware time.")
    return moment.astimezone(UTC)
