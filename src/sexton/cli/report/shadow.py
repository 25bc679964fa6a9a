"""What would have been done to a home that is only observed, and was it right?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sexton.ports import HomeRecord, Ledger, ShadowCount
from sexton.shapes.wording import counted, iso, number, share, stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """The reaps that were only recorded for a home, and since when."""

    count: ShadowCount
    since: datetime | None


def shadow_of(ledger: Ledger, home: HomeRecord) -> Shadow | None:
    """What was recorded for a home; None for one in which everything was carried out."""
    for count in ledger.samples.shadows():
        if count.home == home.name:
            return Shadow(count=count, since=ledger.samples.first_shadow(home.name))
    none = ShadowCount(home=home.name, recorded=0, contradicted=0)
    return None if home.act else Shadow(count=none, since=None)


def shadow_words(shadow: Shadow) -> str:
    """For a person, as a line of a report."""
    count = shadow.count
    if not count.recorded:
        return "only observed: so far there was nothing to reap"
    return (
        f"only observed: would have reaped {counted(count.recorded, 'session')} "
        f"since {stamp(shadow.since)}, {number(count.contradicted)} "
        f"({share(count.contradicted, count.recorded)}) contradicted by later activity"
    )


def shadow_shape(shadow: Shadow) -> dict[str, Any]:
    """For a program."""
    return {
        "recorded": shadow.count.recorded,
        "contradicted": shadow.count.contradicted,
        "since": iso(shadow.since),
    }
