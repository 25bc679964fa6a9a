"""How many sessions leaked, before and after?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from typing_extensions import TypedDict

from sexton.core.wording import iso
from sexton.homes.home_ports import Started
from sexton.liveness.leaks import Counted, Leaks, count_leaks
from sexton.liveness.model import Sample
from sexton.liveness.shadow import Shadow
from sexton.operations.asker import Asker
from sexton.operations.questions.home_questions import check_home
from sexton.operations.said import Moment


class StartedSessions(TypedDict):
    """Of sessions that started in a time, how many are open still and how many were reaped."""

    sessions: int
    open: int
    reaped: int
    share: float | None


class StartedDay(StartedSessions):
    """The same of one day."""

    day: str


class CountedShares(TypedDict):
    """What sweeps counted in a time: the leaked and the unproven part of the open sessions."""

    samples: int
    share: float | None
    unproven_share: float | None


class CountedDay(CountedShares):
    """The same of one day."""

    day: str


class Before(StartedSessions):
    """Sessions by the day they started."""

    days: list[StartedDay]


class After(CountedShares):
    """Open sessions by the day they were counted."""

    days: list[CountedDay]


class LastCount(TypedDict):
    """The last count of one home."""

    home: str
    at: Moment
    open: int
    live: int
    waiting: int
    leaked: int
    unproven: int


class ShadowOf(TypedDict):
    """What would have been reaped in a home that is only observed, and what proved wrong of it."""

    home: str
    recorded: int
    contradicted: int
    since: Moment | None


class LeakReport(TypedDict):
    """How many sessions leaked, before and after, day by day in UTC."""

    home: str | None
    since: str
    until: Moment
    before: Before
    after: After
    last: list[LastCount]
    shadow: list[ShadowOf]


def leaks(
    asker: Asker, *, since: timedelta = timedelta(days=30), home: str | None = None
) -> LeakReport:
    """How many sessions leaked, day by day.

    Before: of the sessions started on a day, the part that did not end by itself. After: of the
    open sessions that sweeps counted, the part that was leaked, and the part that is unproven.
    """
    return leak_report(asker, count(asker, since, home), home)


def count(asker: Asker, since: timedelta, home: str | None) -> Leaks:
    """The figures behind the report."""
    check_home(asker, home)
    ledger = asker.house.ledger
    wanted = [each for each in ledger.homes.all() if home in (None, each.name)]
    return count_leaks(ledger, wanted, since, asker.house.clock.now())


def leak_report(asker: Asker, found: Leaks, home: str | None) -> LeakReport:
    """The figures for programs."""
    return {
        "home": home,
        "since": found.before[0].day.isoformat(),
        "until": iso(asker.house.clock.now()),
        "before": {
            **_started(all_started(found.before)),
            "days": [{"day": each.day.isoformat(), **_started(each)} for each in found.before],
        },
        "after": {
            **_counted(all_counted(found.after)),
            "days": [{"day": each.day.isoformat(), **_counted(each)} for each in found.after],
        },
        "last": [_sample(each) for each in found.last],
        "shadow": [shadow_record(each) for each in found.shadows],
    }


def shadow_record(each: Shadow) -> ShadowOf:
    """What would have been done in a home that is only observed."""
    return {
        "home": each.count.home,
        "recorded": each.count.recorded,
        "contradicted": each.count.contradicted,
        "since": iso(each.since),
    }


def all_started(days: Sequence[Started]) -> Started:
    """All days together."""
    return Started(
        day=days[0].day,
        sessions=sum(each.sessions for each in days),
        open=sum(each.open for each in days),
        reaped=sum(each.reaped for each in days),
    )


def all_counted(days: Sequence[Counted]) -> Counted:
    """All days together."""
    return Counted(
        day=days[0].day,
        samples=sum(each.samples for each in days),
        open=sum(each.open for each in days),
        leaked=sum(each.leaked for each in days),
        unproven=sum(each.unproven for each in days),
    )


def _started(each: Started) -> StartedSessions:
    return {
        "sessions": each.sessions,
        "open": each.open,
        "reaped": each.reaped,
        "share": _rounded(each.share),
    }


def _counted(each: Counted) -> CountedShares:
    return {
        "samples": each.samples,
        "share": _rounded(each.share),
        "unproven_share": _rounded(each.unproven_share),
    }


def _sample(each: Sample) -> LastCount:
    return {
        "home": each.home,
        "at": iso(each.at),
        "open": each.open,
        "live": each.live,
        "waiting": each.waiting,
        "leaked": each.leaked,
        "unproven": each.unproven,
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)
