"""What was given to us without our hearing of it?

A ledger that breaks off while it is asked for work may have given it all the same, and nobody
else takes on what belongs to a worker that lives.
"""

from __future__ import annotations

from collections.abc import Callable, Set

from sexton.core.machine_ports import Clock
from sexton.finalizers.job import Wanted
from sexton.finalizers.model import Finalization, FinalizationState
from sexton.store.ledger import Ledger

LOOK_EVERY = 60.0
MOST = 1000


class Unseen:
    """Looks now and then for work that is ours by the ledger and in nobody's hands here."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock
        self._looked = clock.monotonic()

    def of(self, worker: str, in_hand: Callable[[], Set[int] | None]) -> list[Finalization]:
        """Such work; none while it is not known what is in hand (None), which is asked last."""
        now = self._clock.monotonic()
        if now - self._looked < LOOK_EVERY:
            return []
        running = self._ledger.finalizing.page(Wanted(state=FinalizationState.RUNNING), None, MOST)
        self._looked, known = now, in_hand()
        if known is None:
            return []
        return [each for each in running if each.worker == worker and each.ref not in known]
