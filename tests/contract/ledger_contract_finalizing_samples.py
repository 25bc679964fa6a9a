"""What the contract about finalizations works with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sexton.core.session import Session
from sexton.finalizers.model import Finalization, FinalizationState, Wanted
from sexton.finalizers.policy import Owing
from sexton.rules.rulebook import Rulebook, digest, encode
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import ALL, NOON, at, born, enrol, say

LOG = Owing(name="log")
MEMORY = Owing(name="memory", spared=("cron",), min_messages=4)

PENDING, RUNNING, DONE, DEAD = FinalizationState


def rule(ledger: Ledger, *finalizers: Owing) -> None:
    """Put rules in force that owe these."""
    text = encode(Rulebook(finalizers=finalizers))
    ledger.policies.publish(digest(text), text, "test", NOON)


def told(ledger: Ledger, count: int = 1, key: str | None = None, **facts: Any) -> Session:
    """An open session in which so much was said."""
    begun = born(ledger, key, **facts)
    assert say(ledger, begun, *["word"] * count)
    [found] = ledger.index.find(begun.home, begun.id)
    return found


def ended(ledger: Ledger, count: int = 1, second: float = 1, **facts: Any) -> Session:
    """A session that has ended, that many seconds after noon."""
    begun = told(ledger, count, **facts)
    assert ledger.book.end_now(begun, "closed", at(second))
    return begun


def owed(ledger: Ledger, session: Session | None = None) -> list[Finalization]:
    """All that is owed or was done, for a session or at all, oldest first."""
    wanted = Wanted(session=session.id, home=session.home) if session else Wanted()
    return ledger.finalizing.page(wanted, None, ALL)[::-1]


def spans(ledger: Ledger, session: Session) -> list[tuple[str, int, int, FinalizationState]]:
    """What each finalization of a session covers, and how it stands."""
    return [
        (each.finalizer, each.since, each.through, each.state) for each in owed(ledger, session)
    ]


def claim(
    ledger: Ledger,
    worker: str = "keeper",
    finalizers: Sequence[str] = ("log", "memory"),
    limit: int = ALL,
    now: datetime | None = None,
) -> list[Finalization]:
    """Take on what there is, an hour after noon."""
    return ledger.finalizing.claim(worker, finalizers, limit, now or at(3600))


def one_taken(ledger: Ledger, count: int = 1, **facts: Any) -> tuple[Session, Finalization]:
    """A session that ended, and its finalization, taken on by `keeper`."""
    rule(ledger, LOG)
    enrol(ledger, "keeper")
    over = ended(ledger, count, **facts)
    [taken] = claim(ledger)
    return over, taken
