"""How does a ledger do, in a few numbers?"""

from __future__ import annotations

from datetime import datetime, time
from enum import StrEnum

from sexton.finalizers.model import FinalizationState
from sexton.keeper.keeper_context import Estate


class Name(StrEnum):
    """What is counted; the names are stored."""

    SUSPECT = "suspect"  # open sessions that look dead, and nothing proves it yet
    HELD = "held"  # resets that are held back
    FINALIZING = "finalizing"  # end-of-session work that is owed or being done
    DEAD_LETTERS = "dead_letters"  # end-of-session work that was given up
    SPEND_MICROS = "spend_micros"  # what the sessions that were active today have cost
    TOKENS = "tokens"  # what they have taken
    LEDGER_BYTES = "ledger_bytes"
    DISK_FREE_BYTES = "disk_free_bytes"


def figures(estate: Estate, suspect: int, held: int) -> dict[str, int]:
    """The numbers of this moment; each costs what is at work, not what there is."""
    ledger = estate.ledger
    owed = ledger.finalizing.tally()
    spent = ledger.gauges.spent_since(today(estate.clock.now()))
    found = {
        Name.SUSPECT: suspect,
        Name.HELD: held,
        Name.FINALIZING: sum(
            count for (_, state), count in owed.items() if state is not FinalizationState.DEAD
        ),
        Name.DEAD_LETTERS: sum(
            count for (_, state), count in owed.items() if state is FinalizationState.DEAD
        ),
        Name.SPEND_MICROS: spent.cost_micros,
        Name.TOKENS: spent.tokens,
        Name.LEDGER_BYTES: ledger.hygiene.size().bytes,
    }
    if estate.space is not None:
        found[Name.DISK_FREE_BYTES] = estate.space().free
    return {str(name): value for name, value in found.items()}


def today(now: datetime) -> datetime:
    """When the day began, in UTC."""
    return datetime.combine(now.date(), time(), now.tzinfo)
