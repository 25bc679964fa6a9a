"""How fast does a session go, as this process sees it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sexton.core.locks import shared_lock
from sexton.core.plan import Reason
from sexton.spending.policy import RunawayPolicy
from sexton.spending.runaway import WINDOW, Beat, Excess, excess, haste, joined, without

if TYPE_CHECKING:
    from sexton.core.session import Session
    from sexton.sessions.worker_context import Desk


class Pulse:
    """What happened in the last minute, second by second; safe to share between threads."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._lock = shared_lock()
        self._beats: list[Beat] = []
        self._minute = Beat(0.0)
        self._is_fast = False

    def beat(self, *, messages: int = 0, tokens: int = 0, tool_calls: int = 0) -> None:
        """Count what has just happened."""
        beat = Beat(self._monotonic(), messages, tokens, tool_calls)
        with self._lock:
            beats = self._beats
            if beats and int(beats[-1].at) == int(beat.at):
                beats[-1] = joined(beats[-1], beat)
            else:
                beats.append(beat)
            self._minute = joined(self._minute, beat)
            self._forget(beat.at)

    def excess(self, policy: RunawayPolicy) -> Excess | None:
        """What has run away, or None."""
        with self._lock:
            self._forget(self._monotonic())
            return excess(self._minute, policy)

    def warn(self, desk: Desk, session: Session, policy: RunawayPolicy) -> None:
        """Note in the journal, once until it is calm again, that nothing bounds many messages."""
        with self._lock:
            self._forget(self._monotonic())
            fast, was_fast = haste(self._minute, policy), self._is_fast
            self._is_fast = fast is not None
        if fast is not None and not was_fast:
            words = f"{fast.found} messages in a minute, and no limit is set"
            entry = desk.entry(session, "warn", Reason(f"near_budget:{fast.budget}", words))
            desk.ledger.journal.write([entry], desk.clock.now())

    def _forget(self, now: float) -> None:
        while self._beats and now - self._beats[0].at >= WINDOW:
            self._minute = without(self._minute, self._beats.pop(0))
