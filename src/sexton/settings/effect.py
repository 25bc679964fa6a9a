"""What does every rule select or protect right now?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sexton.model.record import record
from sexton.model.session import Session
from sexton.policies.finalizing import EVERY_SOURCE, Owing
from sexton.policies.reset import ResetPolicy, due_since, reset_reason
from sexton.policies.rulebook import ResetRule, Rulebook


@record
class RuleEffect:
    """What one rule, or the default where `rule` is None, does to the open sessions.

    `over` counts the sessions that are over by it, by the reason's code; `next_due` is when the
    first of the others will be, if nothing is written until then. A finalizer ends and protects
    nothing: it governs the open sessions of its sources, whatever they will owe once they end.
    """

    rule: int | None
    where: str
    matches: str
    governs: int
    over: Mapping[str, int]
    protects: int
    next_due: datetime | None


@dataclass(slots=True)
class _Count:
    governs: int = 0
    over: dict[str, int] = field(default_factory=dict)
    next_due: datetime | None = None

    def add(self, session: Session, policy: ResetPolicy, now: datetime) -> None:
        self.governs += 1
        if reason := reset_reason(session, policy, now):
            self.over[reason.code] = self.over.get(reason.code, 0) + 1
        elif due := due_since(session, policy):
            self.next_due = min(self.next_due or due, due)


def effect(rules: Rulebook, sessions: Iterable[Session], now: datetime) -> list[RuleEffect]:
    """The default's effect, every rule's and every finalizer's, on the open ones of sessions."""
    places = {id(rule): place for place, rule in enumerate(rules.reset_rules)}
    counts: dict[int | None, _Count] = {place: _Count() for place in (None, *places.values())}
    sources: Counter[str] = Counter()
    for session in sessions:
        if session.is_open:
            sources[session.source] += 1
            rule = rules.reset_rule(session)
            place, policy = (places[id(rule)], rule.policy) if rule else (None, rules.reset)
            counts[place].add(session, policy, now)
    return [
        RuleEffect(
            rule=place,
            where="reset" if place is None else f"reset.rules[{place}]",
            matches=_words(None if place is None else rules.reset_rules[place]),
            governs=count.governs,
            over=count.over,
            protects=count.governs - sum(count.over.values()),
            next_due=count.next_due,
        )
        for place, count in counts.items()
    ] + [_finalizer(place, owing, sources) for place, owing in enumerate(rules.finalizers)]


def _finalizer(place: int, owing: Owing, sources: Mapping[str, int]) -> RuleEffect:
    least = f", from {owing.min_messages} messages on" if owing.min_messages > 1 else ""
    return RuleEffect(
        rule=place,
        where=f"finalizers[{place}]",
        matches=f"{owing.name}: {_covered(owing)}{least}",
        governs=sum(count for source, count in sources.items() if owing.includes(source)),
        over={},
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
