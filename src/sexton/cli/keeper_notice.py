"""Has a keeper been at work lately?"""

from __future__ import annotations

from datetime import datetime

from sexton.cli.terminal import note
from sexton.core.machine_ports import Clock
from sexton.core.wording import stamp
from sexton.liveness.registered_workers import LastSweep
from sexton.store.ledger import Ledger


def keeper_notice(last: LastSweep | None, now: datetime) -> str | None:
    """What to say about the keeper; None while one is at work."""
    if last is None:
        return "no keeper has run on this ledger yet"
    return f"no keeper since {stamp(last.at)}" if last.is_late(now) else None


def note_keeper(ledger: Ledger, clock: Clock) -> None:
    """Say beside an answer that nobody keeps the sessions it tells of."""
    words = keeper_notice(ledger.workers.last_sweep(), clock.now())
    if words:
        note(words)
