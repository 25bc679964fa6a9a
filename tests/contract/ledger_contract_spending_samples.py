"""What the contract about spending works with: budgets, grants and how meters stand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sexton.core.session import Session
from sexton.core.usage import Usage
from sexton.spending.budgets import bounds, tokens
from sexton.spending.model import (
    Bound,
    Budget,
    Granted,
    Meter,
    Refused,
    Scope,
    Slot,
    Spend,
    Standing,
    Taken,
    Unit,
    Who,
)
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import (
    NOON,
)

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def budget(scope: Scope = Scope.SESSION, limit: int = 100, **more: Any) -> Budget:
    """A budget of tokens that pauses, unless told otherwise."""
    facts: dict[str, Any] = {"name": "b", "unit": Unit.TOKENS, "scope": scope, "limit": limit}
    return Budget(**(facts | more))


def bound_by(
    budgets: Sequence[Budget], session: Session, now: datetime = NOON
) -> tuple[Bound, ...]:
    return bounds(budgets, who(session), "UTC", now)


def who(session: Session, root: int | None = None) -> Who:
    return Who(session.ref, root or session.ref, session.source)


def take(
    ledger: Ledger,
    session: Session,
    *budgets: Budget,
    now: datetime = NOON,
    by: str = "agent",
    slot: Slot | None = None,
    **amounts: int,
) -> Taken | Refused:
    """Hold so much for a session."""
    wanted = Spend(
        who=who(session),
        worker=by,
        bounds=bound_by(budgets, session, now),
        held=tokens({Unit(name): amount for name, amount in amounts.items()}),
        slot=slot,
    )
    taken = ledger.spending.take(wanted, now)
    assert taken is not None
    return taken


def granted(ledger: Ledger, session: Session, *budgets: Budget, **more: Any) -> Granted:
    """A grant that there was room for."""
    taken = take(ledger, session, *budgets, **more)
    assert isinstance(taken, Taken)
    assert taken.grant is not None
    return taken.grant


def spend(
    ledger: Ledger, session: Session, *budgets: Budget, now: datetime = NOON, **amounts: int
) -> Taken | Refused:
    """Spend so much at once."""
    units = {Unit(name): amount for name, amount in amounts.items()}
    bound = bound_by(budgets, session, now)
    wanted = Spend(who=who(session), worker="agent", bounds=bound, at_once=units)
    taken = ledger.spending.take(wanted, now)
    assert taken is not None
    return taken


def settle(ledger: Ledger, grant: Granted | None, session: Session, **used: int) -> bool:
    amounts = tokens({Unit(name): amount for name, amount in used.items()})
    usage = {name: amount for name, amount in used.items() if name != "usd"}
    return ledger.spending.settle(
        grant, session.ref, amounts, Usage(**usage, cost_micros=used.get("usd", 0))
    )


def standing(ledger: Ledger, session: Session, *budgets: Budget, now: datetime = NOON) -> Standing:
    [found] = ledger.spending.standing(who(session), bound_by(budgets, session, now), now)
    return found


def used(ledger: Ledger, session: Session, *budgets: Budget, now: datetime = NOON) -> int:
    return standing(ledger, session, *budgets, now=now).used


def meter_of_session(session: Session, unit: Unit = Unit.TOKENS) -> Meter:
    """Where a session's spending is counted for ever."""
    return Meter(Scope.SESSION, str(session.ref), unit)
