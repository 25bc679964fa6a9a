"""Which sessions owe end-of-session work, in rules and in words, and when is it tried?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import assert_never

from sexton.core.record import record
from sexton.finalizers.model import Due, DueVerdict

EVERY_SOURCE = "*"
LONGEST_WISH = timedelta(days=1)
"""For how long at most an endpoint's wish to be left alone is heeded."""

LONGEST_WAIT = timedelta(days=2)
"""Nothing waits longer for its next try; what seems to was put off by a clock that was ahead."""

LONGEST_INDULGENCE = timedelta(days=7)
"""Work that is owed for longer than this is tried as often as other work, whatever is wished."""

FIRST_REST = timedelta(seconds=15)
LONGEST_REST = timedelta(minutes=5)
"""So often at least an endpoint that is out of order is tried."""

MOST_CRASHES = 5
"""So many workers may die with the same work in their hands."""
FIRST_WAIT_AFTER_DEATH = timedelta(seconds=10)

_MOST_THIRDS = 6
_MOST_DOUBLINGS = 64


@record
class Owing:
    """Which sessions owe a finalizer's work.

    Without `sources` those of every source do, but for the `spared` ones. A short session owes
    nothing.
    """

    name: str
    sources: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    min_messages: int = 0

    def rows(self) -> Iterator[dict[str, str | int | None]]:
        """The rule as rows of the ledger; None means that the source owes nothing."""
        named = dict.fromkeys(self.sources or (EVERY_SOURCE,), self.min_messages)
        spared = dict.fromkeys(self.spared)
        for source, least in (spared | named).items():
            yield {"finalizer": self.name, "source": source, "min_messages": least}

    def includes(self, source: str) -> bool:
        """Whether sessions of the source owe it."""
        if source in self.sources:
            return True
        return source not in self.spared and (not self.sources or EVERY_SOURCE in self.sources)


def why(due: Due) -> str:
    """The verdict of the ledger in words."""
    match due.verdict:
        case DueVerdict.OWES:
            return f"messages {due.since + 1} to {due.through}"
        case DueVerdict.PUT_AWAY:
            return f"it is {due.state}"
        case DueVerdict.COMPRESSION:
            return "the conversation goes on in the session that replaced it"
        case DueVerdict.OTHER_SOURCE:
            return f"{due.finalizer} is not for sessions of {due.source}"
        case DueVerdict.TOO_SHORT:
            return f"{due.message_count} messages of at least {due.least}"
        case DueVerdict.NOTHING_NEW:
            return "everything that was said is covered"
        case never:
            assert_never(never)


@record
class RetryPolicy:
    """How often failing work is tried, and how long is waited in between.

    Each wait is `factor` times the one before, up to `longest`, and up to the share `jitter`
    longer, so that what failed together is not tried together.
    """

    attempts: int = 14
    first: timedelta = timedelta(seconds=30)
    factor: float = 2.0
    longest: timedelta = timedelta(hours=6)
    jitter: float = 0.2


def next_try(
    attempts: int, policy: RetryPolicy, after: timedelta | None, now: datetime, chance: float
) -> datetime | None:
    """When to try again after so many attempts, or None to give up; `chance` is from 0 to 1."""
    if attempts >= policy.attempts:
        return None
    grown = policy.first.total_seconds() * policy.factor ** min(attempts - 1, _MOST_DOUBLINGS)
    wait = timedelta(seconds=min(grown, policy.longest.total_seconds()))
    wait = max(wait, min(after or timedelta(0), LONGEST_WISH))
    return now + wait * (1 + policy.jitter * chance)


def is_excused(wish: timedelta | None, owed_at: datetime, now: datetime) -> bool:
    """Whether a failure costs no try: its endpoint asked for time, and has not done so for ever."""
    return wish is not None and now - owed_at < LONGEST_INDULGENCE


def after_death(crashes: int, now: datetime, chance: float) -> datetime:
    """When work is tried again with which so many workers died; `chance` is from 0 to 1.

    Whoever is restarted goes on at once. Work that has outlived more may be what kills them: it
    is tried ever later, each for itself, so that the harmless are not with it each time.
    """
    if crashes <= 1:
        return now
    return now + FIRST_WAIT_AFTER_DEATH * 3.0 ** min(crashes - 2, _MOST_THIRDS) * (0.5 + chance)


def rest_after(outages: int, wish: timedelta | None) -> timedelta:
    """How long all work of a finalizer rests after so many outages in a row, or as wished."""
    grown = FIRST_REST.total_seconds() * 2.0 ** min(max(outages, 1) - 1, _MOST_DOUBLINGS)
    rest = timedelta(seconds=min(grown, LONGEST_REST.total_seconds()))
    return max(rest, min(wish or timedelta(0), LONGEST_WISH))


@record
class Rate:
    """At most so many at once, and so many in each span."""

    count: int
    per: timedelta = timedelta(minutes=1)


@record
class Bucket:
    """What was left of a rate at a moment of running time: the wall clock may jump."""

    left: float
    at: float


def filled(rate: Rate, now: float) -> Bucket:
    """A bucket from which nothing has been taken."""
    return Bucket(left=rate.count, at=now)


def take(bucket: Bucket, rate: Rate, wanted: int, now: float) -> tuple[Bucket, int]:
    """The bucket after taking as much of what is wanted as there is, and how much that was."""
    passed = max(0.0, now - bucket.at) / rate.per.total_seconds()
    refilled = min(rate.count, bucket.left + rate.count * passed)
    taken = min(wanted, int(refilled))
    return Bucket(left=refilled - taken, at=max(bucket.at, now)), taken


def wait_for_one(bucket: Bucket, rate: Rate) -> timedelta:
    """How long it takes after the last look until one can be taken."""
    return max(0.0, 1 - bucket.left) / rate.count * rate.per
