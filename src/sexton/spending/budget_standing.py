"""How do the budgets of a session stand, and what may a person change about them?"""

from __future__ import annotations

from collections.abc import Sequence

from sexton.core.plan import Reason
from sexton.core.session import Session
from sexton.errors import InputInvalid
from sexton.keeper.keeper_context import Estate
from sexton.spending.budgets import action_of, bounds, free_from, is_reached, said, shown
from sexton.spending.model import Act, Budget, Meter, Scope, Standing, Unit, Who
from sexton.spending.policy import usual_name
from sexton.spending.pricing import UNPRICED
from sexton.store.journal import Entry

LOOKED_AT = 500
"""So many of the newest journal entries say which prices are unknown."""
NOWHERE = 0
"""No session has this row: budgets of a source and of the day are asked about without one."""


def who(estate: Estate, session: Session) -> Who:
    """The session as budgets see it."""
    return Who(session.ref, estate.ledger.spending.root(session.ref), session.source)


def standings(estate: Estate, spender: Who) -> list[Standing]:
    """How every budget stands that bounds the spender, persons' own limits included."""
    now, rules = estate.clock.now(), estate.rules(None).rules
    limits = bounds(rules.spend.budgets, spender, rules.reset.timezone, now)
    if spender.session == NOWHERE:
        limits = tuple(each for each in limits if each.meter.scope in (Scope.SOURCE, Scope.DAY))
    return estate.ledger.spending.standing(spender, limits, now)


def unpriced(estate: Estate, session: Session | None) -> list[str]:
    """The models of a session, or of all, whose price was unknown to whoever asked them."""
    entries = estate.ledger.journal.page(session, None, None, LOOKED_AT)
    codes = (each.reason.code.partition(":") for each in entries)
    return sorted({model for code, _, model in codes if code == UNPRICED})


def explained(
    standing: Standing, source: str, unpriced: Sequence[str] = ()
) -> list[tuple[Budget, str, str]]:
    """Each budget of a meter with one word, what it does to a source, and the words behind it.

    The money of the models that are `unpriced` is not in it.
    """
    found = []
    is_blind = unpriced and standing.bound.meter.unit is Unit.USD
    blind = f"; not bounded for {', '.join(unpriced)}: the price is unknown" if is_blind else ""
    for budget in standing.bound.budgets:
        is_spent = is_reached(budget.limit + standing.added, standing.spent)
        word = action_of(budget, source).value if is_spent else "kept"
        held = f"; {shown(budget.unit, standing.reserved)} held" if standing.reserved else ""
        added = f"; {shown(budget.unit, standing.added)} allowed beyond" if standing.added else ""
        at = standing.stopped_at
        stop = f"; a call did not fit at {at:%Y-%m-%d %H:%M} UTC" if at and not is_spent else ""
        until = free_from(standing.bound, standing.oldest) if is_spent or at else None
        when = f"; room from {until:%Y-%m-%d %H:%M} UTC" if until else ""
        found.append(
            (budget, word, f"{said(budget, standing.spent)}{held}{added}{stop}{when}{blind}")
        )
    return found


def check_limit(meter: Meter) -> None:
    """Raise InputInvalid if a meter cannot have a limit of its own."""
    if meter.unit is Unit.MESSAGES and meter.scope is not Scope.SESSION:
        raise InputInvalid(
            "messages of a tree or a source are counted for budgets of the settings only",
            hint="Write it under budgets in sexton.yaml.",
        )


def set_limit(
    estate: Estate,
    meter: Meter,
    limit: tuple[int, Act] | None,
    session: Session | None,
    receipt: str,
) -> None:
    """Give one meter a limit of its own, or take it away; journalled with who did it."""
    check_limit(meter)
    budget = None
    words = f"{meter.scope} {meter.unit}: the limit of the settings again"
    if limit is not None:
        amount, action = limit
        name = usual_name(meter.scope, meter.unit)
        budget = Budget(name=name, scope=meter.scope, unit=meter.unit, limit=amount, action=action)
        words = f"{meter.scope}: {shown(meter.unit, amount)} at most, then {action}"
    entry = _entry(estate, session, receipt, "set_budget", words)
    estate.ledger.spending.cap(meter, budget, entry, estate.clock.now())


def own_limits(estate: Estate, spender: Who, like: Meter) -> list[Meter]:
    """The meters of one place, whatever they count, that a person has given limits of their own."""
    found = estate.ledger.spending.standing(spender, (), estate.clock.now())
    meters = (each.bound.meter for each in found)
    return [each for each in meters if (each.scope, each.subject) == (like.scope, like.subject)]


def allow(
    estate: Estate, standing: Standing, amount: int, session: Session | None, receipt: str
) -> None:
    """Allow so much more; journalled with who did it."""
    meter = standing.bound.meter
    words = f"{shown(meter.unit, amount)} more for the {meter.scope}"
    entry = _entry(estate, session, receipt, "raise_budget", words)
    estate.ledger.spending.add(standing.bound, amount, entry, estate.clock.now())


def _entry(estate: Estate, session: Session | None, receipt: str, action: str, words: str) -> Entry:
    return Entry(
        actor=estate.actor,
        receipt=receipt,
        home=None if session is None else session.home,
        session=None if session is None else session.id,
        action=action,
        result="done",
        reason=Reason("asked", words),
    )
