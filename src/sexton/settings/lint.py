"""Finds settings that have no effect, and rules that can never fire."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain

from sexton.core.record import record, replace
from sexton.finalizers.policy import EVERY_SOURCE
from sexton.resets.policy import Mode, ResetPolicy
from sexton.retention.policy import Fate, Retention, RetentionClass
from sexton.rules.rulebook import ResetRule
from sexton.settings import matching
from sexton.settings.effect import RuleEffect, effect
from sexton.settings.finalizer_settings import spared
from sexton.settings.quantities import show_duration
from sexton.settings.settings_values import Settings
from sexton.spending.model import Act, Budget, Scope
from sexton.spending.policy import DEFAULTS

__all__ = ["Finding", "RuleEffect", "effect", "inert"]

_LONGEST_DAY = timedelta(hours=25)  # between two daily boundaries, when the clocks go back


@record
class Finding:
    """Something that was written down and does nothing; `location` where that is known."""

    where: str
    message: str
    location: str | None = None

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}"
        return f"{self.location}: {text}" if self.location else text


def inert(settings: Settings) -> list[Finding]:
    """Every setting and rule that can be left out without changing what happens."""
    rules = settings.rulebook.reset_rules
    winners = [matching.shadows(rules, place) for place in range(len(rules))]
    notes = [
        *_unused(settings),
        *_never_idle(settings),
        *_unreachable(rules, winners),
        *_unchanging(settings, winners),
        *_beyond(settings),
        *_untold(settings),
        *_idle_classes(settings),
        *_idle_budgets(settings),
    ]
    return [
        Finding(where=where, message=message, location=_location(settings.places, where))
        for where, message in notes
    ]


_Note = tuple[str, str]


@record(kw_only=False)
class _Use:
    """What a field needs of a policy to have any effect there."""

    needed: Callable[[ResetPolicy], bool]
    otherwise: str


def _has_limit(policy: ResetPolicy) -> bool:
    limits = (policy.max_age, policy.max_messages, policy.max_bytes, policy.max_turns)
    return any(limit is not None for limit in limits)


_USES: Mapping[str, _Use] = {
    "idle_minutes": _Use(lambda policy: policy.idle_after is not None, "in mode {mode}"),
    "at_hour": _Use(lambda policy: policy.is_daily, "in mode {mode}"),
    "timezone": _Use(lambda policy: policy.is_daily, "in mode {mode}"),
    "warn_at": _Use(_has_limit, "without a limit to warn of"),
    "warn_messages": _Use(lambda policy: policy.max_messages is None, "beside max_messages"),
    "warn_bytes": _Use(lambda policy: policy.max_bytes is None, "beside max_bytes"),
}


def _unused(settings: Settings) -> Iterator[_Note]:
    """Values that were written down where no policy asks for them."""
    rules = settings.rulebook.reset_rules
    for field, use in _USES.items():
        heirs = [
            rule.policy
            for place, rule in enumerate(rules)
            if _name(place, field) not in settings.places
        ]
        scopes = [(f"reset.{field}", [settings.rulebook.reset, *heirs])]
        scopes += [(_name(place, field), [rule.policy]) for place, rule in enumerate(rules)]
        for where, policies in scopes:
            if where in settings.places and not any(map(use.needed, policies)):
                yield where, f"has no effect {use.otherwise.format(mode=policies[0].mode)}"


def _never_idle(settings: Settings) -> Iterator[_Note]:
    """Idle resets that something else always comes before."""
    default = settings.rulebook.reset
    if message := _before_idle(default):
        yield "reset.idle_minutes", message
    for place, rule in enumerate(settings.rulebook.reset_rules):
        message = _before_idle(rule.policy)
        if message and message != _before_idle(default):
            yield _name(place, "idle_minutes"), message


def _before_idle(policy: ResetPolicy) -> str | None:
    idle = policy.idle_after
    if idle is None:
        return None
    if policy.max_age is not None and policy.max_age <= idle:
        return f"is never reached: max_age ends the session after {show_duration(policy.max_age)}"
    if policy.mode is Mode.BOTH and idle >= _LONGEST_DAY:
        return "is never reached: the daily reset always comes first"
    return None


def _unreachable(rules: Sequence[ResetRule], winners: list[list[int]]) -> Iterator[_Note]:
    """Rules, and the default, that other rules leave no session to."""
    for place, by in enumerate(winners):
        if by:
            yield _name(place), f"never applies: {_listed(by)} always wins over it"
    everything = [place for place, rule in enumerate(rules) if matching.matches_all(rule)]
    if everything:
        yield "reset", f"applies to no session: {_listed(everything[-1:])} matches every one"


def _unchanging(settings: Settings, winners: list[list[int]]) -> Iterator[_Note]:
    """Rules that give their sessions what they would get without them."""
    rules, default = settings.rulebook.reset_rules, settings.rulebook.reset
    useless = {place for place, by in enumerate(winners) if by}
    for place, rule in enumerate(rules):
        if place in useless:
            continue
        # without the other useless ones too, so that following every finding changes nothing
        instead = chain(
            matching.fallbacks(rules, place, default),
            matching.fallbacks(rules, place, default, gone=useless),
        )
        if all(policy == rule.policy for policy in instead):
            useless.add(place)
            yield _name(place), "changes nothing: its sessions have the same policy without it"


def _beyond(settings: Settings) -> Iterator[_Note]:
    """What finalizers can not make use of."""
    most = settings.keeper.finalizers_at_once
    for place, each in enumerate(settings.finalizers):
        here = f"finalizers[{place}]"
        if each.concurrency > most and f"{here}.concurrency" in settings.places:
            yield f"{here}.concurrency", f"is never reached: keeper.finalizers_at_once is {most}"
        telling = (EVERY_SOURCE, *spared(each.kind, (EVERY_SOURCE,)))
        covered = [source for source in each.sources if source not in telling]
        if EVERY_SOURCE in each.sources and covered:
            yield f"{here}.sources", f"'{EVERY_SOURCE}' covers {' and '.join(covered)} already"
    if not settings.finalizers and "keeper.finalizers_at_once" in settings.places:
        yield "keeper.finalizers_at_once", "has no effect without finalizers"


def _untold(settings: Settings) -> Iterator[_Note]:
    """What was written down about notifications that nobody gets."""
    notify, written = settings.notify, settings.places
    if not notify.has_target:
        if any(name.startswith("notify.") for name in written):
            yield "notify", "has no effect without urls_env or webhook"
        return
    if notify.secret_env is not None and notify.webhook is None:
        yield "notify.secret_env", "has no effect without webhook"
    if "notify.held_after" in written and "held" not in notify.events:
        yield "notify.held_after", "has no effect: held is not among the events"


def _idle_classes(settings: Settings) -> Iterator[_Note]:
    """What was written down about retention and disk and can be left out."""
    retention = settings.rulebook.retention
    yield from _idle_for_ever(retention)
    yield from _void("retention", retention.general, settings)
    for place, each in enumerate(retention.classes):
        yield from _void(_class_name(place), each, settings)
    if not settings.disk.is_set and "disk.warn_at" in settings.places:
        yield "disk.warn_at", "has no effect without max_use or keep_free"


def _idle_for_ever(retention: Retention) -> Iterator[_Note]:
    """Classes that later ones leave no source to, and those that change nothing."""
    for place, each in enumerate(retention.classes):
        later = [
            next(
                (
                    at
                    for at in _later_classes(retention, place)
                    if source in retention.classes[at].sources
                ),
                None,
            )
            for source in each.sources
        ]
        if None not in later:
            by = " or ".join(_class_name(at) for at in dict.fromkeys(later) if at is not None)
            yield _class_name(place), f"never applies: {by} always wins over it"
        elif _class_changes_nothing(retention, place):
            yield _class_name(place), "changes nothing: its sources are kept the same without it"


def _later_classes(retention: Retention, place: int) -> range:
    return range(len(retention.classes) - 1, place, -1)


def _class_changes_nothing(retention: Retention, place: int) -> bool:
    classes = retention.classes
    without = replace(retention, classes=classes[:place] + classes[place + 1 :])
    return all(
        _without_sources(without.of(source)) == _without_sources(retention.of(source))
        for source in classes[place].sources
    )


def _without_sources(policy: RetentionClass) -> RetentionClass:
    return replace(policy, sources=())


def _void(here: str, policy: RetentionClass, settings: Settings) -> Iterator[_Note]:
    """What a class says that something else in it makes void."""
    written = settings.places
    heirs = [policy]
    if here == "retention":
        heirs += settings.rulebook.retention.classes
    if f"{here}.rows_max_age" in written and all(each.rows is Fate.KEEP for each in heirs):
        yield f"{here}.rows_max_age", "has no effect: rows are kept"
    for name in ("max_age", "database_only"):
        void = all(each.on_reset is not Fate.KEEP for each in heirs)
        if f"{here}.{name}" in written and void:
            yield (
                f"{here}.{name}",
                f"has no effect: files go at the end, on_reset is {policy.on_reset}",
            )


def _class_name(place: int) -> str:
    return f"retention.classes[{place}]"


def _idle_budgets(settings: Settings) -> Iterator[_Note]:
    """What was written down about budgets and can be left out."""
    yield from _replaced(settings.budget_names)
    yield from _outrun(settings.rulebook.spend.budgets)


def _replaced(entries: Sequence[Sequence[str]]) -> Iterator[_Note]:
    """Budgets whose name a later entry has, too."""
    last = {name: place for place, names in enumerate(entries) for name in names}
    for place, names in enumerate(entries):
        for name in names:
            if last[name] != place:
                words = f"its budget {name} never applies: that of budgets[{last[name]}] does"
                yield f"budgets[{place}]", words


def _outrun(budgets: Sequence[Budget]) -> Iterator[_Note]:
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


def _name(place: int, field: str = "") -> str:
    return f"reset.rules[{place}]" + (f".{field}" if field else "")


def _listed(places: list[int]) -> str:
    return " or ".join(_name(place) for place in places)


def _location(places: Mapping[str, str], where: str) -> str | None:
    """Where a setting stands, or the section it would stand in."""
    section = where.partition("[")[0]
    while where and where not in places:
        where = where.rpartition(".")[0]
    return places.get(where or section)
