"""Has a keeper been at work lately?"""

from __future__ import annotations

from datetime import datetime, timedelta

from sexton.cli.terminal import note
from sexton.cli.wording import stamp
from sexton.ports import Clock, Ledger

FRESH = timedelta(minutes=5)


def keeper_notice(last: datetime | None, now: datetime) -> str | None:
    """What to say about the keeper; None while one is at work."""
    if last is None:
        return "no keeper has run on this ledger yet"
    return f"no keeper since {stamp(last)}" if now - last > FRESH else None


def note_keeper(ledger: Ledger, clock: Clock) -> None:
    """Say beside an answer that nobody keeps the sessions it tells of."""
    words = keeper_notice(ledger.workers.last_sweep(), clock.now())
    if words:
        note(words)
