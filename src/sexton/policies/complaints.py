"""Which troubles of a thread that must live are worth a line in the log now."""

from __future__ import annotations

FIRST_PAUSE = 60.0
LONGEST_PAUSE = 3600.0
MOST_KINDS = 256


class Complaints:
    """Each kind of trouble is told at once, then after a minute, two, four, up to an hour."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[float, float]] = {}

    def is_due(self, kind: str, now: float) -> bool:
        """Whether to tell of this kind of trouble at this moment of running time."""
        told_at, pause = self._told.get(kind, (float("-inf"), 0.0))
        if now - told_at < pause:
            return False
        if len(self._told) >= MOST_KINDS:  # kinds come from types, so this hardly ever happens
            self._told.clear()
        self._told[kind] = (now, min(max(2 * pause, FIRST_PAUSE), LONGEST_PAUSE))
        return True

    def clear(self, kind: str) -> None:
        """The trouble is over: the next one is news."""
        self._told.pop(kind, None)
