"""How does a ledger do, in a few numbers?"""

from __future__ import annotations

from datetime import datetime, time
from enum import StrEnum

from sexton.engine.estate import Estate
from sexton.model.evidence import Verdict
from sexton.model.finalization import FinalizationState


class Name(StrEnum):
    """What is counted; the names are stored."""

    SUSPECT = "suspect"  # open sessions of which no holder is known to live, but one is suspect
    HELD = "held"  # resets that are held back
    FINALIZING = "finalizing"  # end-of-session work that is owed or being done
    DEAD_LETTERS = "dead_letters"  # end-of-session work that was given up
    SPEND_MICROS = "spend_micros"  # what the sessions that were active today have cost
    TOKENS = "tokens"  # what they have taken
    LEDGER_BYTES = "ledger_bytes"
    DISK_FREE_BYTES = "disk_free_bytes"


def figures(estate: Estate, held: int) -> dict[str, int]:
    """The numbers of this moment; each costs what is at work, not what there is."""
    ledger = estate.ledger
    owed = ledger.finalizing.tally()
    spent = ledger.gauges.spent_since(today(estate.clock.now()))
    found = {
        Name.SUSPECT: suspects(estate),
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


def suspects(estate: Estate) -> int:
    """How many open sessions have a holder that is suspect and none that lives."""
    evidence = estate.evidence(estate.ledger.reaping.suspects())
    count = 0
    for home in estate.ledger.homes.all():
        for workers, sessions in estate.ledger.homes.census.held(home).items():
            verdicts = {evidence[id].verdict for id in workers if id in evidence}
            if Verdict.SUSPECT in verdicts and Verdict.LIVE not in verdicts:
                count += sessions
    return count


def today(now: datetime) -> datetime:
    """When the day began, in UTC."""
    return datetime.combine(now.date(), time(), now.tzinfo)
