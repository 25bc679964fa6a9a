"""When is a session over?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum

from sexton.core.endings import NATIVE, EndKind, end_kind
from sexton.core.plan import Reason
from sexton.core.record import record, replace
from sexton.core.schedule import Schedule
from sexton.core.session import Limit, Session
from sexton.core.setting import setting
from sexton.liveness.evidence import Evidence
from sexton.liveness.model import Holder
from sexton.resets.calendar import reached, zone_of

_ALL_WARNED = Limit.MESSAGES | Limit.BYTES | Limit.TURNS | Limit.AGE

PINNED = Reason("pinned", "it is pinned")
"""What holds back every end that nothing proves to have happened already."""

SAME_MOMENT = timedelta(minutes=1)
"""By how much the moment of a last activity may differ between a home and its owner."""

PROCESSES_NAMED = 3
"""The number of processes that a reason names."""

OWN_TIME = timedelta(minutes=15)
"""How long an owner that resets by itself has for it; a gateway of Hermes looks every five."""


class Mode(StrEnum):
    """Which clocks end a session; the limits hold in every mode."""

    NONE = "none"
    IDLE = "idle"
    DAILY = "daily"
    BOTH = "both"


@record
class ResetPolicy:
    """When a session is over, and when that is announced.

    A session ends at a limit only if the limit was set. Without one, `warn_messages` and
    `warn_bytes` say at which size its owner is warned, once, and nothing ends.
    """

    mode: Mode = setting(
        default=Mode.NONE,
        about="Which clocks end a session: none of them, `idle` time, a `daily` hour, or `both`. "
        "The limits below end sessions in every mode. No clock runs by default, because people "
        "are surprised by a conversation that disappears.",
        change="Choose `idle` or `daily` where conversations are about new things each time and "
        "old context only costs money.",
    )
    idle_minutes: int = setting(
        default=1440,
        kind="minutes",
        unit="minutes",
        about="How long nobody writes before an idle reset ends the session, in the modes `idle` "
        "and `both`. After a day, so that a person who comes back the next morning finds the "
        "conversation where it was.",
        change="Lower it for channels with short questions; raise it for people who come back "
        "only after a weekend.",
    )
    at_hour: int = setting(
        default=4,
        kind="hour",
        about="The hour of the daily reset, in the modes `daily` and `both`. Few people are in "
        "the middle of something at four in the morning.",
        change="Set it to the quietest hour of your users.",
    )
    timezone: str = setting(
        default="UTC",
        kind="zone",
        about="The time zone of `at_hour`. UTC by default, so that all keepers of a ledger agree, "
        "whatever the clocks of their machines say.",
        change="Set it to the zone your users live in.",
    )
    max_age: timedelta | None = setting(
        default=None,
        null="no limit",
        about="The age at which a session ends, counted from its start. No limit by default: age "
        "alone harms nobody, and size limits bound a long conversation.",
        change="Set it where a session must not outlive a shift, a sprint or a data protection "
        "rule.",
    )
    max_messages: int | None = setting(
        default=None,
        unit="messages",
        null="no limit",
        about="The number of messages at which a session ends. No limit by default, because "
        "people are surprised by a conversation that becomes empty.",
        change="Set it where each further message costs too much, as the model reads all earlier "
        "ones again.",
    )
    max_bytes: int | None = setting(
        default=None,
        kind="size",
        null="no limit",
        about="The size of all messages at which a session ends. No limit by default.",
        change="Set it below what your model can read at once.",
    )
    max_turns: int | None = setting(
        default=None,
        unit="turns",
        null="no limit",
        about="The number of turns at which a session ends. A native session counts the turns "
        "that its agent runs in `session.turn()`. No limit by default, because turns differ too "
        "much in length for one number.",
        change="Set it where all turns of an agent are about equally long.",
    )
    warn_at: float = setting(
        default=0.8,
        kind="share",
        about="The share of a limit at which Sexton warns a session once. At four fifths there is "
        "still room to bring the work to an end.",
        change="Lower it where agents need more room to finish.",
    )
    warn_messages: int | None = setting(
        default=1000,
        unit="messages",
        null="no warning",
        about="The number of messages at which Sexton warns a session once, where `max_messages` "
        "is not set. Nothing ends. Beyond a thousand messages, a loop is likelier than a "
        "conversation.",
        change="Raise it for agents that exchange many short messages, or write null for no "
        "warning.",
    )
    warn_bytes: int | None = setting(
        default=10_000_000,
        kind="size",
        null="no warning",
        about="The size of all messages at which Sexton warns a session once, where `max_bytes` "
        "is not set. Nothing ends. Ten megabytes are more text than any model reads at once.",
        change="Lower it to what your model can read, or write null for no warning.",
    )

    @property
    def idle_after(self) -> timedelta | None:
        return timedelta(minutes=self.idle_minutes) if self.mode in (Mode.IDLE, Mode.BOTH) else None

    @property
    def has_clock(self) -> bool:
        """Whether time alone can end a session under it."""
        return self.mode is not Mode.NONE or self.max_age is not None

    @property
    def is_daily(self) -> bool:
        return self.mode in (Mode.DAILY, Mode.BOTH)


def reset_reason(session: Session, policy: ResetPolicy, now: datetime) -> Reason | None:
    """Why the session is over, or None while it still lives.

    Whose end was undone has its time anew, and no limit ends it before it is used.
    """
    for gauge in () if session.is_spared else _gauges(session, policy, now):
        if gauge.is_full:
            return Reason(gauge.code, f"{gauge.shown} reached the limit of {gauge.limit_shown}")
    idle = now - session.rests_since
    if policy.idle_after is not None and idle >= policy.idle_after:
        words = f"idle for {span(idle)}, the limit is {span(policy.idle_after)}"
        return Reason("idle", words)
    if policy.is_daily and next_boundary(session.rests_since, policy) <= now:
        return Reason("daily", f"daily reset at {policy.at_hour:02}:00 {policy.timezone}")
    return None


def limit_warning(
    session: Session, policy: ResetPolicy, now: datetime
) -> tuple[Limit, Reason] | None:
    """The first limit or size to warn about that has not been warned about yet, or None."""
    for gauge in _gauges(session, policy, now):
        if gauge.is_near(policy.warn_at) and gauge.limit not in session.warned:
            share = round(100 * gauge.value / gauge.maximum)
            return gauge.limit, Reason(
                f"near_{gauge.code}", f"{gauge.shown}: {share} % of {gauge.limit_shown}"
            )
    for gauge in _unlimited(session, policy):
        if gauge.is_full and gauge.limit not in session.warned:
            return gauge.limit, Reason(gauge.code, f"{gauge.shown}, and no limit is set")
    return None


def holding(session: Session, turn: Holder | None, now: datetime) -> Reason | None:
    """What holds a reset of the session back: its pin, the turn that runs in it, or None."""
    if session.pinned:
        return PINNED
    if turn is not None and turn.busy_since is not None:
        who = turn.worker
        where = f"{who.kind}, pid {who.identity.pid} on {who.identity.host}"
        return Reason("busy", f"a turn of {where} has run for {span(now - turn.busy_since)}")
    return None


def busy_in_home(proof: Evidence | None) -> Reason | None:
    """The turn that a session's home shows to run in it, which holds a reset back, or None."""
    return Reason("busy", proof.busy) if proof is not None and proof.busy else None


def due_since(session: Session, policy: ResetPolicy) -> datetime | None:
    """When the session is or was over by the clock, if nothing is written to it.

    None also where a count is full: nobody knows since when.
    """
    if any(gauge.is_full for gauge in _gauges(session, policy, session.started_at)):
        return None
    return schedule(replace(session, warned=_ALL_WARNED), policy, 0).at


def schedule(session: Session, policy: ResetPolicy, serial: int) -> Schedule:
    """When to look at the session again, if nothing is written to it until then."""
    times = [time for time in _times(session, policy) if time is not None]
    return Schedule(serial, min(times, default=None), *_thresholds(session, policy))


def standing(session: Session, policy: ResetPolicy, now: datetime) -> Iterator[Reason]:
    """How the session stands with every rule, also those that do not end it."""
    idle = now - session.rests_since
    if session.is_spared:
        at = f"{session.spared_at:%Y-%m-%d %H:%M} UTC"
        yield Reason("undone", f"its end was undone at {at}; no limit ends it before it is used")
    if policy.idle_after is not None:
        left = policy.idle_after - idle
        yield Reason("idle", f"idle {span(idle)} of {span(policy.idle_after)}, {_left(left)}")
    if policy.is_daily:
        boundary = next_boundary(session.rests_since, policy)
        yield Reason(
            "daily", f"daily at {policy.at_hour:02}:00 {policy.timezone}, {_left(boundary - now)}"
        )
    if policy.mode is Mode.NONE:
        yield Reason("none", "no idle or daily reset is set for it")
    for gauge in _gauges(session, policy, now):
        yield Reason(gauge.code, f"{gauge.shown} of {gauge.limit_shown}")
    for gauge in _unlimited(session, policy):
        words = f"{gauge.shown}, no limit is set; warns at {gauge.limit_shown} and ends nothing"
        yield Reason(gauge.code, words)


def next_boundary(moment: datetime, policy: ResetPolicy) -> datetime:
    """The first daily boundary after a moment; a day that the calendar skips has none.

    An hour that the clocks skip counts as the moment after the gap; one that they repeat counts
    once, the first time.
    """
    zone = zone_of(policy.timezone)
    day = moment.astimezone(zone).date() - timedelta(days=1)
    while True:
        boundary = reached(day, policy.at_hour, zone)
        if boundary > moment and reached(day, 0, zone).astimezone(zone).date() == day:
            return boundary
        day += timedelta(days=1)


@record(kw_only=False)
class _Gauge:
    """A value that grows towards its limit."""

    limit: Limit
    code: str
    value: float
    maximum: float
    shown: str
    limit_shown: str

    @property
    def is_full(self) -> bool:
        return self.value >= self.maximum

    def is_near(self, share: float) -> bool:
        return not self.is_full and self.value >= self.maximum * share


def _gauges(session: Session, policy: ResetPolicy, now: datetime) -> Iterator[_Gauge]:
    messages, size = _size(session)
    counts = (
        (Limit.MESSAGES, "max_messages", messages, policy.max_messages, "messages"),
        (Limit.BYTES, "max_bytes", size, policy.max_bytes, "bytes"),
        (Limit.TURNS, "max_turns", session.turn_count, policy.max_turns, "turns"),
    )
    for limit, code, value, maximum, unit in counts:
        if maximum is not None:
            yield _Gauge(limit, code, value, maximum, f"{value} {unit}", str(maximum))
    if policy.max_age is not None:
        age = now - session.started_at
        shown, maximum_shown = f"an age of {span(age)}", span(policy.max_age)
        yield _Gauge(
            Limit.AGE,
            "max_age",
            age.total_seconds(),
            policy.max_age.total_seconds(),
            shown,
            maximum_shown,
        )


def _size(session: Session) -> tuple[int, int]:
    """Messages and bytes of a session without what was compacted away, where its home tells."""
    messages, size = session.live_messages, session.live_bytes
    return (
        session.message_count if messages is None else messages,
        session.byte_count if size is None else size,
    )


def _unlimited(session: Session, policy: ResetPolicy) -> Iterator[_Gauge]:
    """The sizes that nothing bounds, as far as somebody is to be warned of them."""
    messages, size = _size(session)
    sizes = (
        (Limit.MESSAGES, messages, policy.max_messages, policy.warn_messages),
        (Limit.BYTES, size, policy.max_bytes, policy.warn_bytes),
    )
    for limit, value, maximum, warn in sizes:
        if maximum is None and warn is not None:
            unit = "messages" if limit is Limit.MESSAGES else "bytes"
            yield _Gauge(limit, f"large_{unit}", value, warn, f"{value} {unit}", str(warn))


def _times(session: Session, policy: ResetPolicy) -> Iterator[datetime | None]:
    if policy.idle_after is not None:
        yield session.rests_since + policy.idle_after
    if policy.is_daily:
        yield next_boundary(session.rests_since, policy)
    if session.is_spared:
        return
    if policy.max_age is not None:
        share = 1.0 if Limit.AGE in session.warned else policy.warn_at
        yield session.started_at + policy.max_age * share
    counts = (*_size(session), session.turn_count)
    counted = zip(counts, _thresholds(session, policy), strict=True)
    yield (
        session.active_at if any(at is not None and value >= at for value, at in counted) else None
    )


def _thresholds(session: Session, policy: ResetPolicy) -> Iterator[int | None]:
    """The counts of messages, bytes and turns at which there is something to say.

    That is the warning's, then the limit's; after a warning without a limit there is none.
    """
    for limit, maximum, warn in (
        (Limit.MESSAGES, policy.max_messages, policy.warn_messages),
        (Limit.BYTES, policy.max_bytes, policy.warn_bytes),
        (Limit.TURNS, policy.max_turns, None),
    ):
        if limit in session.warned:
            yield maximum
        else:
            yield warn if maximum is None else math.ceil(maximum * policy.warn_at)


def _left(left: timedelta) -> str:
    return f"{span(left)} left" if left > timedelta(0) else f"over since {span(-left)}"


def span(length: timedelta) -> str:
    """A duration as a person says it, in its two largest units."""
    seconds = max(0, int(length.total_seconds()))
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2]) or "0 s"


def told_reset(session: Session, policy: ResetPolicy | None) -> EndKind:
    """Which reset a session came to whose home says no more than that it was reset.

    What is reaped ends as of its last activity, and what the policy did not ask for a user did.
    """
    ended = session.ended_at or session.active_at
    if ended <= session.active_at:
        return EndKind.REAP
    reason = None if policy is None else reset_reason(session, policy, ended + SAME_MOMENT)
    return EndKind.USER if reason is None else end_kind(reason.code, NATIVE)


def is_for_size(wanted: Reason, home: str) -> bool:
    """Whether a session of that home would end because it has grown too large or too old."""
    return end_kind(wanted.code, home) is EndKind.SIZE_RESET


def open_in_terminal(wanted: Reason, session: Session, proof: Evidence | None) -> Reason | None:
    """The terminal that holds back a reset for the size of a session, or None.

    A clock does not wait for terminals: the gateway of Hermes, which has the same one, does not.
    """
    if proof is None or not is_for_size(wanted, session.home):
        return None
    if not proof.terminals:
        return _unclear(proof)
    pids = ", ".join(str(pid) for pid, _ in proof.terminals[:PROCESSES_NAMED])
    words = f"a person may have it open in a terminal (pid {pids}), where its size does not end it"
    return Reason("terminal", words)


def _unclear(proof: Evidence) -> Reason | None:
    if not proof.unclear:
        return None
    words = f"a person may have it open where that is not to be seen: {proof.unclear}"
    return Reason("terminal", words)
