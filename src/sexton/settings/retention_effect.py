"""What does every class of retention select or protect right now?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from sexton.retention.policy import Fate, Retention, Verdict, judge
from sexton.retention.remains import Remains
from sexton.settings.effect import RuleEffect


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
