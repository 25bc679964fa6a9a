"""How long is what a session left behind kept, and where does it go?"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from sexton.core.endings import EndKind, end_kind
from sexton.core.plan import Reason
from sexton.core.record import made, record
from sexton.core.session import Session
from sexton.core.setting import setting
from sexton.retention.model import Remains

CUT_SHORT = (EndKind.REAP, EndKind.BUDGET, EndKind.BREAKER)
"""What ended like that has not come to its end by itself."""


class Fate(StrEnum):
    """What becomes of something that is not needed where it is any more."""

    KEEP = "keep"
    ARCHIVE = "archive"
    REMOVE = "remove"  # into the trash, from where it can be had back for a while


class Protection(StrEnum):
    """What keeps a session from being archived or removed, however old it is."""

    PINNED = "pinned"
    HUMAN_TOUCHED = "human_touched"
    ERRORED = "errored"


@record
class RetentionClass:
    """How sessions of some sources are retained; no sources mean every source.

    `on_reset` and `max_age` are about the files of a session that has ended, `rows` and
    `rows_max_age` about its record with all messages. `keep_last` spares the newest of a key or
    job from both. `after_delivery` is about all that an unattended session left behind once its
    work has been delivered; `database_only` makes the files of a foreign home go when the session
    ends, as the home's database has it all.
    """

    sources: tuple[str, ...] = setting(
        default=(),
        kind="source",
        match=True,
        needed=True,
        about="The sources that the class is for, like `cron`. Of two classes that name a source, "
        "the later one wins.",
        change="Name the sources whose sessions you keep for a shorter or longer time.",
    )
    on_reset: Fate = setting(
        default=Fate.KEEP,
        about="What happens to the files of a session when it ends: `keep`, `archive` or "
        "`remove`. Sexton keeps them by default, because the person who comes back the next day "
        "may need them.",
        change="Choose `archive` or `remove` where the files of an ended session are of no use to "
        "anybody.",
    )
    max_age: timedelta | None = setting(
        default=timedelta(days=7),
        null="never",
        about="How long after its last use the files of an ended session go to the trash. They "
        "are most of what fills a disk, and hardly anybody opens them after a week. The messages "
        "stay.",
        change="Raise it where people come back to old files; write null to keep all files.",
    )
    keep_last: int | None = setting(
        default=None,
        unit="sessions",
        null="no limit",
        about="How many of the newest ended sessions of every key or job are kept whatever their "
        "age. Only the age counts by default.",
        change="Set it where the last runs of a job must stay available.",
    )
    protect: tuple[Protection, ...] = setting(
        default=(Protection.PINNED,),
        about="Which sessions keep everything for ever: `pinned` ones, those that a person wrote "
        "in (`human_touched`), those that `errored`. Pinned sessions are always protected, "
        "whether named here or not.",
        change="Add `errored` to examine failures later, and `human_touched` to remove only what "
        "machines wrote.",
    )
    after_delivery: Fate = setting(
        default=Fate.KEEP,
        about="What happens to everything that an unattended session left behind, once it came to "
        "its end by itself and without an error. Only for sources of `liveness.dies_with_owner`; "
        "any other session waits for somebody.",
        change="Choose `archive` or `remove` for jobs whose result is delivered elsewhere.",
    )
    database_only: bool = setting(
        default=False,
        about="In homes of other agents: the files of a session go when it ends, because the "
        "agent's database has the conversation as well. Some tools read the files, so they stay "
        "by default.",
        change="Set it to true where nothing but the agent reads its sessions.",
    )
    rows: Fate = setting(
        default=Fate.KEEP,
        about="What happens to the messages of a session that nobody used for `rows_max_age`: "
        "`keep`, `archive` or `remove`. Sexton keeps them by default, so that no history "
        "disappears by itself.",
        change="Choose `archive` to keep the ledger small, or `remove` where messages must not be "
        "kept. Both need `rows_max_age`.",
    )
    rows_max_age: timedelta | None = setting(
        default=None,
        null="never",
        about="How long after the last use of a session `rows` applies. There is no age that "
        "suits everyone.",
        change="Set it together with `rows`.",
    )

    @property
    def touches_rows(self) -> bool:
        """Whether it ever moves more than files."""
        return self.rows is not Fate.KEEP or self.after_delivery is not Fate.KEEP


@record
class Retention:
    """The class of every source: the last one that names it, else the general one.

    With `allow_remove_all` it is meant that nothing of a home may be left.
    """

    general: RetentionClass = made(RetentionClass)
    classes: tuple[RetentionClass, ...] = ()
    allow_remove_all: bool = setting(
        default=False,
        about="Whether a policy may remove everything. Sexton refuses `rows: remove` for every "
        "source, and a plan that would empty a home, because both are more often mistakes than "
        "wishes.",
        change="Set it to true where you mean it.",
    )

    def of(self, source: str) -> RetentionClass:
        """The class a source belongs to."""
        named = (each for each in reversed(self.classes) if source in each.sources)
        return next(named, self.general)


@record
class Verdict:
    """What is to become of a session's files and of its record, and why, also why it is kept.

    `since` is when its time came, if it has.
    """

    files: Fate
    rows: Fate
    reason: Reason
    since: datetime | None = None


def judge(remains: Remains, policy: RetentionClass, now: datetime) -> Verdict:
    """What becomes of what a session left behind."""
    kept = spared(remains, policy)
    if kept is not None:
        return Verdict(files=Fate.KEEP, rows=Fate.KEEP, reason=kept)
    rows = _rows(remains.session, policy, now)
    if rows is not None:
        fate, reason, since = rows
        return Verdict(files=fate, rows=fate, reason=reason, since=since)
    files = _files(remains.session, policy, now)
    if files is not None:
        fate, reason, since = files
        return Verdict(files=fate, rows=Fate.KEEP, reason=reason, since=since)
    return Verdict(files=Fate.KEEP, rows=Fate.KEEP, reason=_not_yet(remains, policy, now))


def spared(remains: Remains, policy: RetentionClass) -> Reason | None:
    """What keeps a session from being touched at all, or None."""
    session = remains.session
    if session.is_open:
        return Reason("open", "it is open")
    if remains.owes:
        return Reason("owing", "its end-of-session work is not done")
    return _protected(session, policy) or _among_the_last(remains, policy)


def _protected(session: Session, policy: RetentionClass) -> Reason | None:
    if session.pinned:
        return Reason("pinned", "it is pinned")
    if session.human_touched and Protection.HUMAN_TOUCHED in policy.protect:
        return Reason("human_touched", "a person wrote in it")
    if session.errored and Protection.ERRORED in policy.protect:
        return Reason("errored", "something went wrong in it")
    return None


def _among_the_last(remains: Remains, policy: RetentionClass) -> Reason | None:
    if policy.keep_last is None or remains.rank is None or remains.rank > policy.keep_last:
        return None
    whose = "key" if remains.session.job is None else "job"
    return Reason("keep_last", f"it is one of the last {policy.keep_last} of its {whose}")


_Found = tuple[Fate, Reason, datetime]


def _rows(session: Session, policy: RetentionClass, now: datetime) -> _Found | None:
    if policy.after_delivery is not Fate.KEEP and is_delivered(session):
        reason = Reason("delivered", "its work has been delivered")
        return policy.after_delivery, reason, _ended(session)
    if policy.rows is Fate.KEEP or policy.rows_max_age is None:
        return None
    age = now - session.active_at
    if age < policy.rows_max_age:
        return None
    reason = Reason("max_age", _older(age, policy.rows_max_age))
    return policy.rows, reason, session.active_at + policy.rows_max_age


def _files(session: Session, policy: RetentionClass, now: datetime) -> _Found | None:
    if policy.on_reset is not Fate.KEEP:
        reason = Reason("on_reset", f"it has ended: {session.end_reason}")
        return policy.on_reset, reason, _ended(session)
    if policy.database_only:
        reason = Reason("database_only", "the database of its home has it all")
        return Fate.REMOVE, reason, _ended(session)
    age = now - session.active_at
    if policy.max_age is None or age < policy.max_age:
        return None
    reason = Reason("files_max_age", _older(age, policy.max_age))
    return Fate.REMOVE, reason, session.active_at + policy.max_age


def _ended(session: Session) -> datetime:
    return session.ended_at or session.active_at


def soonest(policy: RetentionClass, *, files: bool = True) -> timedelta | None:
    """How long a session is unused at least before anything of it goes; None: nothing ever does.

    Without `files` only what moves records counts.
    """
    at_once = [policy.after_delivery is not Fate.KEEP]
    ages = [None if policy.rows is Fate.KEEP else policy.rows_max_age]
    if files:
        at_once += [policy.database_only, policy.on_reset is not Fate.KEEP]
        ages.append(policy.max_age)
    if any(at_once):
        return timedelta(0)
    return min((age for age in ages if age is not None), default=None)


def is_delivered(session: Session) -> bool:
    """Whether an unattended session came to its end by itself and without trouble."""
    kind = end_kind(session.end_reason, session.home)
    return not (session.errored or kind in CUT_SHORT)


def _not_yet(remains: Remains, policy: RetentionClass, now: datetime) -> Reason:
    age = now - remains.session.active_at
    if policy.max_age is None:
        return Reason("kept", "nothing of its class is removed by age")
    left = policy.max_age - age
    if left > timedelta(0):
        return Reason("young", f"last used {days(age)} ago; files go after {days(policy.max_age)}")
    return Reason("kept", "records of its class are kept")


def _older(age: timedelta, limit: timedelta) -> str:
    return f"last used {days(age)} ago, more than {days(limit)}"


def days(span: timedelta) -> str:
    """A span as people say it, coarsely."""
    hours = int(span.total_seconds() // 3600)
    if hours < 48:
        return f"{max(hours, 0)} hours"
    return f"{hours // 24} days"
