"""`set_budget`, `clear_budget` and `raise_budget`: what a person allows to be spent."""

from __future__ import annotations

from collections.abc import Callable

from sexton.core.plan import Reason, Result
from sexton.core.session import Session
from sexton.errors import InputInvalid
from sexton.operations.asker import Asker
from sexton.operations.changes.ending import changeable
from sexton.operations.verb_proposal import Done, Draft, Going, Proposal, Step, outcome, proposed
from sexton.sessions.model import Filter
from sexton.settings.quantities import parse_duration
from sexton.spending.budget_standing import (
    NOWHERE,
    allow,
    check_limit,
    own_limits,
    set_limit,
    standings,
    who,
)
from sexton.spending.budgets import MOST, shown
from sexton.spending.model import Act, Meter, Scope, Unit, Who


def set_budget(
    asker: Asker,
    *,
    unit: Unit,
    amount: str,
    session: str | None = None,
    source: str | None = None,
    tree: bool = False,
    action: Act = Act.PAUSE,
) -> Proposal:
    """Give one session, its tree or a source a limit of its own.

    It takes the place of what the settings say there, also below what is spent already: then
    nothing more is spent. An agent that runs learns of it from its next call. An `amount` of money
    is in dollars, one of time like 8h.
    """
    found, spender = _whose(asker, session, source, tree=tree)
    place, many = _meter(spender, unit, tree=tree), read_amount(unit, amount)
    check_limit(place)
    says = f"{shown(unit, many)} at most, then {action}{_unknown(asker, source)}"
    return _draft(
        asker, "set_budget", found, _named(place, found), says,
        lambda receipt: set_limit(asker.estate(), place, (many, action), found, receipt),
        undo=_of(found, source, tree) | {"verb": "clear_budget", "unit": unit.value},
    )  # fmt: skip


def clear_budget(
    asker: Asker,
    *,
    unit: Unit | None = None,
    session: str | None = None,
    source: str | None = None,
    tree: bool = False,
) -> Proposal:
    """Take a limit away that was given to one session, its tree or a source.

    Without a `unit` every one that was given there. What the settings say holds again.
    """
    found, spender = _whose(asker, session, source, tree=tree)
    place = _meter(spender, unit or Unit.TOKENS, tree=tree)
    gone = [place] if unit else own_limits(asker.estate(), spender, place)

    def work(receipt: str) -> None:
        for each in gone:
            set_limit(asker.estate(), each, None, found, receipt)

    says = "what the settings say holds again"
    return _draft(asker, "clear_budget", found, _named(place, found), says, work)


def raise_budget(
    asker: Asker,
    *,
    unit: Unit,
    amount: str,
    session: str | None = None,
    source: str | None = None,
    tree: bool = False,
) -> Proposal:
    """Allow more than a limit.

    Whatever counts the same thing there is raised: of a session all that bounds it, with `tree`
    only what is counted for its tree, with `source` the source and the day. More in a rolling span
    or a day is allowed for that span or day only. A paused session goes on at its next turn.
    """
    found, spender = _whose(asker, session, source, tree=tree)
    many = read_amount(unit, amount)
    raised = [
        each
        for each in standings(asker.estate(), spender)
        if each.bound.meter.unit is unit and (not tree or each.bound.meter.scope is Scope.TREE)
    ]
    if not raised:
        raise InputInvalid(
            f"no budget of {unit} is counted there",
            hint="See 'sexton budget show'; 'sexton budget set' makes one.",
        )
    scopes = ", ".join(each.bound.meter.scope for each in raised)

    def work(receipt: str) -> None:
        for each in raised:
            allow(asker.estate(), each, many, found, receipt)

    says = f"{shown(unit, many)} more for the {scopes}{_unknown(asker, source)}"
    if found is not None and not found.is_open:
        says += f"; it has ended ({found.end_reason}), and more room does not open it again"
    target = found.name if found is not None else spender.source
    return _draft(asker, "raise_budget", found, target, says, work)


def read_amount(unit: Unit, text: str) -> int:
    """An amount as it is counted: dollars in millionths, times in milliseconds."""
    amount = _read(unit, text)
    if amount is None or not 1 <= amount <= MOST:
        example = {Unit.USD: "12.50", Unit.WALL: "8h"}.get(unit, "100000")
        raise InputInvalid(
            f"{text!r} is no amount of {unit}", hint=f"Give an amount like {example}."
        )
    return amount


def _draft(
    asker: Asker,
    verb: str,
    found: Session | None,
    target: str,
    says: str,
    change: Callable[[str], None],
    undo: dict[str, str] | None = None,
) -> Proposal:
    reason = Reason("asked", asker.words)
    what = (None, None) if found is None else (found.home, found.id)

    def work(receipt: str, going: Going) -> Done:
        del going
        change(receipt)
        return Done(
            outcomes=[outcome(verb, what, Result.DONE, reason, says, target=target)], undo=undo
        )

    name = verb.partition("_")[0]
    return proposed(
        asker,
        Draft(
            verb=verb,
            title=f"{name.capitalize()} a budget",
            says=target,
            home=what[0],
            session=what[1],
            target=target,
            reason=reason,
            steps=(Step(verb=name, what=target, why=says),),
            undoing="It can be set otherwise at any time."
            if undo
            else "More cannot be taken back.",
            reversible=undo is not None,
            work=work,
        ),
    )


def _whose(
    asker: Asker, session: str | None, source: str | None, *, tree: bool
) -> tuple[Session | None, Who]:
    """Whose budgets are meant: a session's, or a source's."""
    if (session is None) == (source is None):
        raise InputInvalid(
            "a budget is of a session or of a source", hint="Name one of them, and not both."
        )
    if session is None:
        if tree:
            raise InputInvalid("a source has no tree", hint="Name a session: the tree is of one.")
        return None, Who(NOWHERE, NOWHERE, source or "")
    estate = asker.estate()
    found = changeable(estate, asker.find(session))
    return found, who(estate, found)


def _unknown(asker: Asker, source: str | None) -> str:
    """That no session is of a source: its name may be mistyped, or its first may be to come."""
    if source is None or asker.house.ledger.index.page(Filter(source=source), None, 1):
        return ""
    return f"; no session has the source '{source}' yet"


def _meter(spends: Who, unit: Unit, *, tree: bool) -> Meter:
    """Where the spending is counted for ever."""
    if spends.session == NOWHERE:
        return Meter(Scope.SOURCE, spends.source, unit)
    if tree:
        return Meter(Scope.TREE, str(spends.root), unit)
    return Meter(Scope.SESSION, str(spends.session), unit)


def _named(place: Meter, found: Session | None) -> str:
    return f"{place.scope} {place.subject if found is None else found.name}"


def _of(found: Session | None, source: str | None, tree: bool) -> dict[str, str]:
    whose = {"source": source or ""} if found is None else {"session": f"{found.home}/{found.id}"}
    return whose | ({"tree": "true"} if tree else {})


def _read(unit: Unit, value: str) -> int | None:
    if unit is Unit.WALL:
        span = parse_duration(value)
        return None if span is None else int(span.total_seconds() * 1000)
    if unit is Unit.USD:
        whole, _, part = value.partition(".")
        digits = (whole + part).isascii() and (whole + part).isdecimal()
        return round(float(value) * 1_000_000) if digits and len(value) < 15 else None
    digits_only = value.replace("_", "")
    is_number = digits_only.isascii() and digits_only.isdecimal() and len(digits_only) < 15
    return int(digits_only) if is_number else None
