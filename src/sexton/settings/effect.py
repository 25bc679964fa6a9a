"""What every rule, and every class of retention, selects or protects right now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from sexton.core.plan import EndSession, Held, ReapSession, Tending
from sexton.core.record import record
from sexton.core.session import NATIVE, Session
from sexton.finalizers.policy import EVERY_SOURCE, Owing
from sexton.resets.policy import ResetPolicy, due_since
from sexton.retention.model import Remains
from sexton.retention.policy import Fate, Retention, Verdict, judge
from sexton.rules.rulebook import ResetRule, Rulebook
from sexton.spending.budgets import shown
from sexton.spending.model import Budget
from sexton.spending.policy import span

Decide: TypeAlias = Callable[[Session], Tending | Held | None]
"""What a plan says of an open session."""


@record
class RuleEffect:
    """What one rule, or the default where `rule` is None, does to the open sessions.

    `over` counts the sessions under it that end now, by the reason's code, also those whose owner
    is dead. `held` counts those that are over and held back, by what holds them; they are among
    the protected. `next_due` is when the first of the others will be over, if nothing is written
    until then and it is not pinned. A finalizer and a budget end and protect nothing: they govern
    the open sessions of their sources, whatever these will owe or spend.
    """

    rule: int | None
    where: str
    matches: str
    governs: int
    over: Mapping[str, int]
    held: Mapping[str, int]
    protects: int
    next_due: datetime | None


@dataclass(slots=True)
class _Count:
    governs: int = 0
    over: Counter[str] = field(default_factory=Counter)
    held: Counter[str] = field(default_factory=Counter)
    next_due: datetime | None = None

    def add(self, session: Session, policy: ResetPolicy, decision: Tending | Held | None) -> None:
        self.governs += 1
        match decision:
            case EndSession(reason=reason) | ReapSession(reason=reason):
                self.over[reason.code] += 1
            case Held(holding=holding):
                self.held[holding.code.partition(":")[0]] += 1  # of a process, whichever it is
            case _ if not session.pinned and (due := due_since(session, policy)):
                self.next_due = min(self.next_due or due, due)


_Counts: TypeAlias = dict[int | None, _Count]


def effect(
    rules: Rulebook,
    sessions: Iterable[Session],
    decide: Decide,
    homes: Mapping[str, Rulebook] | None = None,
) -> list[RuleEffect]:
    """What the default, every rule, finalizer and budget do to the open ones of sessions.

    Then the same of the rules that foreign homes bring along for theirs.
    """
    books = {NATIVE: rules, **(homes or {})}
    counts: dict[str, _Counts] = {
        home: {place: _Count() for place in (None, *range(len(book.reset_rules)))}
        for home, book in books.items()
    }
    owing: Counter[str] = Counter()
    spending: Counter[str] = Counter()
    for session in sessions:
        if not session.is_open:
            continue
        owing[session.source] += 1
        if session.home == NATIVE or session.holders:  # a foreign agent is bounded where we are
            spending[session.source] += 1
        if session.home in books:
            place, policy = _rule(books[session.home], session)
            counts[session.home][place].add(session, policy, decide(session))
    return [
        *_resets(rules, counts.pop(NATIVE)),
        *(_finalizer(place, each, owing) for place, each in enumerate(rules.finalizers)),
        *(_budget(place, each, spending) for place, each in enumerate(rules.spend.budgets)),
        *(
            each
            for home, found in counts.items()
            for each in _resets(books[home], found, f"homes[{home}] ")
        ),
    ]


def _rule(rules: Rulebook, session: Session) -> tuple[int | None, ResetPolicy]:
    """The place and the policy of the rule that a session is under."""
    rule = rules.reset_rule(session)
    if rule is None:
        return None, rules.reset
    return next(at for at, each in enumerate(rules.reset_rules) if each is rule), rule.policy


def _resets(rules: Rulebook, counts: _Counts, whose: str = "") -> list[RuleEffect]:
    return [
        RuleEffect(
            rule=place,
            where=f"{whose}reset" if place is None else f"{whose}reset.rules[{place}]",
            matches=_words(None if place is None else rules.reset_rules[place]),
            governs=count.governs,
            over=dict(count.over),
            held=dict(count.held),
            protects=count.governs - count.over.total(),
            next_due=count.next_due,
        )
        for place, count in counts.items()
    ]


def _finalizer(place: int, owing: Owing, sources: Mapping[str, int]) -> RuleEffect:
    least = f", from {owing.min_messages} messages on" if owing.min_messages > 1 else ""
    matches = f"{owing.name}: {_covered(owing)}{least}"
    return _lasting(place, f"finalizers[{place}]", matches, owing.includes, sources)


def _budget(place: int, budget: Budget, sources: Mapping[str, int]) -> RuleEffect:
    per = f" in {span(budget.per)}" if budget.per else ""
    whose = f"source {' or '.join(budget.sources)}" if budget.sources else "every source"
    matches = f"{shown(budget.unit, budget.limit)} per {budget.scope}{per}: {whose}"
    return _lasting(place, f"budgets[{budget.name}]", matches, budget.includes, sources)


def _lasting(
    place: int,
    where: str,
    matches: str,
    includes: Callable[[str], bool],
    sources: Mapping[str, int],
) -> RuleEffect:
    """A rule that ends nothing now: only how many sessions it is for."""
    return RuleEffect(
        rule=place,
        where=where,
        matches=matches,
        governs=sum(count for source, count in sources.items() if includes(source)),
        over={},
        held={},
        protects=0,
        next_due=None,
    )


def _covered(owing: Owing) -> str:
    if owing.sources and EVERY_SOURCE not in owing.sources:
        return f"source {' or '.join(owing.sources)}"
    spared = [source for source in owing.spared if not owing.includes(source)]
    return f"every source but {' and '.join(spared)}" if spared else "every source"


def _words(rule: ResetRule | None) -> str:
    if rule is None:
        return "every other session"
    matches = (("source", rule.sources), ("chat type", rule.chat_types), ("key", rule.keys))
    return ", ".join(f"{what} {' or '.join(names)}" for what, names in matches if names)


def retention_effect(
    retention: Retention, remains: Iterable[Remains], now: datetime
) -> list[RuleEffect]:
    """For the general class and every other: how many sessions that are over it is for.

    `over` counts what would go now, by what goes; `protects` those that keep everything.
    """
    classes = (retention.general, *retention.classes)
    places = {id(each): place for place, each in enumerate(classes)}
    governs: Counter[int] = Counter()
    goes: dict[int, Counter[str]] = {place: Counter() for place in places.values()}
    for each in remains:
        policy = retention.of(each.session.source)
        place = places[id(policy)]
        governs[place] += 1
        what = _what(judge(each, policy, now))
        if what is not None:
            goes[place][what] += 1
    return [
        RuleEffect(
            rule=place - 1 if place else None,
            where=f"retention.classes[{place - 1}]" if place else "retention",
            matches=f"source {' or '.join(policy.sources)}" if place else "every other source",
            governs=governs[place],
            over=dict(goes[place]),
            held={},
            protects=governs[place] - sum(goes[place].values()),
            next_due=None,
        )
        for place, policy in enumerate(classes)
    ]


def _what(verdict: Verdict) -> str | None:
    """What becomes of a session, in words; None if nothing does."""
    if verdict.rows is not Fate.KEEP:
        return str(verdict.rows)
    return None if verdict.files is Fate.KEEP else f"{verdict.files} files"
