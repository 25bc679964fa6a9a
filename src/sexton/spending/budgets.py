"""Which budgets bound a session, where is their spending counted, and when is one nearly spent?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from sexton.core.record import replace
from sexton.liveness.policy import UNATTENDED
from sexton.resets.calendar import zone_of
from sexton.spending.model import Act, Bound, Budget, Meter, Scope, Unit, Who
from sexton.spending.policy import span, usual_name

WARN_AT = 0.8
SLICES = 12
"""A rolling span is counted in at most so many slices."""
MOST = 10**12
"""A larger amount can only be a mistake."""

TOKENS = (Unit.INPUT, Unit.OUTPUT, Unit.CACHED, Unit.REASONING)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)
_SHOWN = {Unit.USD: (1_000_000, "$"), Unit.WALL: (1000, "s")}


def bounds(budgets: Iterable[Budget], who: Who, zone: str, now: datetime) -> tuple[Bound, ...]:
    """What bounds the spending of a session now, each meter once, in one order for everybody.

    A clock that was put back finds the days and slices of before again, with all that was spent.
    """
    found: dict[Meter, list[Budget]] = {}
    for budget in budgets:
        if budget.scope is Scope.TURN or not budget.includes(who.source):
            continue
        found.setdefault(meter_of(budget, who, zone, now), []).append(budget)
    return tuple(bound_of(each, found[each], zone, now) for each in sorted(found, key=_place))


def meter_of(budget: Budget, who: Who, zone: str, now: datetime) -> Meter:
    """Where a budget's spending by a session is counted."""
    subject = {
        Scope.SESSION: str(who.session),
        Scope.TREE: str(who.root),
        Scope.SOURCE: who.source,
    }.get(budget.scope, "")
    if budget.sources and budget.scope in (Scope.TREE, Scope.DAY):
        subject += "@" + ",".join(sorted(budget.sources))  # others do not count into it
    period = f"{int(budget.per.total_seconds())}s" if budget.per else ""
    if budget.scope is Scope.DAY:
        period = now.astimezone(zone_of(zone)).date().isoformat()
    return Meter(budget.scope, subject, budget.unit, period)


def bound_of(meter: Meter, budgets: Sequence[Budget], zone: str, now: datetime) -> Bound:
    """The budgets of a meter with the slice of it that is spent from now."""
    if meter.scope is Scope.DAY:
        return Bound(meter=meter, budgets=tuple(budgets), until=_midnight(zone, now))
    if not meter.period:
        return Bound(meter=meter, budgets=tuple(budgets))
    start, since = span_of(timedelta(seconds=int(meter.period[:-1])), now)
    # Slices of a clock that ran ahead count too, but not for longer than the span itself.
    ahead = start + (start - since)
    return Bound(meter=meter, budgets=tuple(budgets), start=start, since=since, ahead=ahead)


def with_own(
    bounds: Sequence[Bound], caps: Sequence[tuple[Meter, int, Act]], now: datetime
) -> list[Bound]:
    """The bounds with limits that a person has set for single meters, in the same order."""
    found = {bound.meter: bound for bound in bounds}
    for meter, limit, action in caps:
        per = timedelta(seconds=int(meter.period[:-1])) if meter.period else None
        own = Budget(
            name=usual_name(meter.scope, meter.unit, per),
            scope=meter.scope,
            unit=meter.unit,
            limit=limit,
            action=action,
            per=per,
        )
        found[meter] = bound_of(meter, (own,), "UTC", now)
    return [found[meter] for meter in sorted(found, key=_place)]


def _place(meter: Meter) -> tuple[str, ...]:
    """The one order in which meters are gone through by everybody."""
    return meter.scope, meter.subject, meter.unit, meter.period


def span_of(per: timedelta, now: datetime) -> tuple[int, int]:
    """The slice of a rolling span that a moment is in, and the first one that still counts.

    One more than a span's worth of slices count, so that no span of that length, wherever it
    begins, holds more than the limit.
    """
    width = _width(per)
    start = (now - _EPOCH) // width * width
    return start // _TICK, (start + per // -width * width) // _TICK


def free_from(bound: Bound, oldest: int | None) -> datetime | None:
    """When there may be room again: as soon as the oldest slice with spending has passed."""
    if bound.start == 0 or oldest is None:
        return bound.until
    width = _width(timedelta(seconds=int(bound.meter.period[:-1])))
    return _EPOCH + timedelta(microseconds=oldest + bound.start - bound.since) + width


def _width(per: timedelta) -> timedelta:
    """How long a slice is: whole seconds, so that it begins with one."""
    return timedelta(seconds=max(1, -int(-per.total_seconds() // SLICES)))


def _midnight(zone: str, now: datetime) -> datetime:
    here = now.astimezone(zone_of(zone))
    day = here.date() + timedelta(days=1)
    return datetime(day.year, day.month, day.day, tzinfo=here.tzinfo).astimezone(UTC)


def action_of(budget: Budget, source: str) -> Act:
    """What happens at the limit; where nobody is there to raise it, a pause would be for ever."""
    return Act.KILL if budget.action is Act.PAUSE and source in UNATTENDED else budget.action


def fits(limit: int, used: int, wanted: int) -> bool:
    """Whether so much more may be spent; every answer about a limit comes from here.

    The statement `take_slices` repeats it.
    """
    return used + wanted <= limit


def is_reached(limit: int, spent: int) -> bool:
    """Whether a limit is spent: not even one more fits."""
    return not fits(limit, spent, 1)


_IN_A_TURN = (Unit.ITERATIONS, Unit.TOOL_CALLS)
"""What an agent was allowed last it may finish; these are refused when one more is asked for."""


def is_spent(budget: Budget, spent: int, added: int, *, begins: bool) -> bool:
    """Whether a budget stops a turn that begins or goes on."""
    if budget.unit in _IN_A_TURN and not begins:
        return not fits(budget.limit + added, spent, 0)
    return is_reached(budget.limit + added, spent)


def is_near(limit: int, total: int) -> bool:
    """Whether at least four fifths of a limit are spent or held."""
    return total >= limit * WARN_AT


def nearly(budgets: Iterable[Budget], total: int, added: int = 0) -> list[Budget]:
    """The budgets of which at least four fifths are spent, with what was added to their limits."""
    near = [each for each in budgets if is_near(each.limit + added, total)]
    if not near:
        return near
    if added:
        near = [replace(each, limit=each.limit + added) for each in near]
    return sorted(near, key=lambda each: each.limit)


def tokens(amounts: Mapping[Unit, int]) -> dict[Unit, int]:
    """The amounts, with all tokens together where any are counted."""
    total = sum([amounts.get(kind, 0) for kind in TOKENS])
    return {**amounts, Unit.TOKENS: total} if total else dict(amounts)


def shown(unit: Unit, amount: int) -> str:
    """An amount as a person says it."""
    name = unit.replace("_", " ")
    divisor, sign = _SHOWN.get(unit, (1, name.removesuffix("s") if amount == 1 else name))
    if unit is Unit.USD:
        cents = amount >= divisor or amount % 10_000 == 0  # less than one is not nothing
        return f"${amount / divisor:,.2f}" if cents else f"${amount / divisor:.6f}".rstrip("0")
    return f"{amount // divisor:,} {sign}".replace(",", " ")


def said(budget: Budget, total: int) -> str:
    """How a budget stands, in a few words."""
    share = round(100 * total / budget.limit)
    where = _WHERE[budget.scope] + (f" in {span(budget.per)}" if budget.per else "")
    amount, limit = shown(budget.unit, total), shown(budget.unit, budget.limit)
    return f"{amount} of {limit} {where} ({share} %, budget {budget.name})"


def near(budget: Budget, total: int, *, is_spent: bool) -> str:
    """What to tell the model when a budget comes to its end."""
    head = "Spent" if is_spent else "Nearly spent"
    return f"{head}: {said(budget, total)}. Bring the work to an end, or ask for more."


def turn_limits(budgets: Iterable[Budget], source: str) -> Iterator[Budget]:
    """The budgets of each turn of a source."""
    for budget in budgets:
        if budget.scope is Scope.TURN and budget.includes(source):
            yield budget


_WHERE = {
    Scope.TURN: "in this turn",
    Scope.SESSION: "in this session",
    Scope.TREE: "in this tree of sessions",
    Scope.SOURCE: "by this source",
    Scope.DAY: "today",
}
