"""Has a keeper been at work lately?"""

from __future__ import annotations

from datetime import datetime, timedelta

from sexton.cli.terminal import note
from sexton.ports import Clock, LastSweep, Ledger
from sexton.shapes.wording import stamp

FRESH = timedelta(minutes=5)
MISSED = 3
"""So many sweeps that did not happen make a keeper that is not there any more."""


def keeper_notice(last: LastSweep | None, now: datetime) -> str | None:
    """What to say about the keeper; None while one is at work."""
    if last is None:
        return "no keeper has run on this ledger yet"
    late = now - last.at > max(FRESH, MISSED * last.every)
    return f"no keeper since {stamp(last.at)}" if late else None


def note_keeper(ledger: Ledger, clock: Clock) -> None:
    """Say beside an answer that nobody keeps the sessions it tells of."""
    words = keeper_notice(ledger.workers.last_sweep(), clock.now())
    if words:
        note(words)
