"""Which budgets never apply, and which can never stop anything?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sexton.settings.settings_values import Settings
from sexton.spending.model import Act, Budget, Scope
from sexton.spending.policy import DEFAULTS

Note = tuple[str, str]


def idle_budgets(settings: Settings) -> Iterator[Note]:
    """What was written down about budgets and can be left out."""
    yield from _replaced(settings.budget_names)
    yield from _outrun(settings.rulebook.spend.budgets)


def _replaced(entries: Sequence[Sequence[str]]) -> Iterator[Note]:
    """Budgets whose name a later entry has, too."""
    last = {name: place for place, names in enumerate(entries) for name in names}
    for place, names in enumerate(entries):
        for name in names:
            if last[name] != place:
                words = f"its budget {name} never applies: that of budgets[{last[name]}] does"
                yield f"budgets[{place}]", words


def _outrun(budgets: Sequence[Budget]) -> Iterator[Note]:
    """Budgets that others, counted by the same meters, are always spent before."""
    for place, budget in enumerate(budgets):
        if budget.action is Act.WARN or budget in DEFAULTS:  # nobody wrote that one down
            continue
        first = [_before(budgets, place, source) for source in budget.sources or (None,)]
        if None not in first:
            by = " or ".join(dict.fromkeys(f"budgets[{name}]" for name in first))
            yield f"budgets[{budget.name}]", f"never stops anything: {by} is always spent first"


def _before(budgets: Sequence[Budget], place: int, source: str | None) -> str | None:
    """The budget that stops a source before this one does; without a source, every one."""
    found = (
        other.name
        for at, other in enumerate(budgets)
        if _is_counted_with(other, budgets[place])
        and (not other.sources if source is None else other.includes(source))
        and _stops_before(other, budgets[place], is_listed_first=at < place)
    )
    return next(found, None)


def _is_counted_with(other: Budget, budget: Budget) -> bool:
    """Whether they share a meter for every session that both are for."""
    if budget.scope in (Scope.TREE, Scope.DAY) and set(other.sources) != set(budget.sources):
        return False
    alike = (other.scope, other.unit, other.per) == (budget.scope, budget.unit, budget.per)
    return alike and other is not budget


def _stops_before(other: Budget, budget: Budget, *, is_listed_first: bool) -> bool:
    """Of a meter's budgets the lowest stops; of those of a turn the first that is passed."""
    if other.action is Act.WARN or other.limit > budget.limit:
        return False
    return is_listed_first or (budget.scope is not Scope.TURN and other.limit < budget.limit)
