"""What would have been done to a home that is only observed, and was it right?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sexton.homes.home_ports import HomeRecord
from sexton.liveness.liveness_ports import ShadowCount
from sexton.store.ledger import Ledger


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
