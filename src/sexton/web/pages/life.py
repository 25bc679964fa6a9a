"""What happened in the life of a session, and what is to come?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from markupsafe import Markup

from sexton.core.plan import JournalEntry
from sexton.core.record import record
from sexton.core.session import Session
from sexton.core.wording import ago, counted, span
from sexton.finalizers.model import Finalization
from sexton.web.drawing.strip import Life, Mark, strip
from sexton.web.tones import tone_of

MOST = 24


@record
class Moment:
    """One thing that happened, or is to happen."""

    at: datetime
    what: str
    why: str = ""
    tone: str = "done"
    ahead: bool = False


def moments(
    session: Session,
    journal: Sequence[JournalEntry],
    work: Sequence[Finalization],
    now: datetime,
) -> list[Moment]:
    """What is known of its life, what is to come first, then newest first."""
    found = [*_own(session, now), *_journal(journal), *_work(work)]
    found.sort(key=lambda each: each.at, reverse=True)
    return found[: MOST - 1] + found[-1:] if len(found) > MOST else found


def _own(session: Session, now: datetime) -> Iterator[Moment]:
    yield Moment(at=session.started_at, what="began", why=f"from {session.source}", tone="live")
    if session.message_count:
        said = counted(session.message_count, "message")
        yield Moment(at=session.active_at, what="last active", why=said, tone="busy")
    for holder in session.holders:
        who = holder.worker
        held = f"{who.kind}, pid {who.identity.pid} on {who.identity.host}"
        yield Moment(at=holder.joined_at, what="held by a worker", why=held, tone="held")
        if holder.busy_since is not None:
            yield Moment(at=holder.busy_since, what="a turn began", tone="busy")
    if session.ended_at is not None:
        yield Moment(at=session.ended_at, what="ended", why=session.end_reason or "", tone="leaked")
    elif session.due_at is not None:
        ahead = session.due_at > now
        what = "is looked at next" if ahead else "is due"
        yield Moment(at=session.due_at, what=what, tone="suspect", ahead=ahead)


def _journal(entries: Iterable[JournalEntry]) -> Iterator[Moment]:
    for each in entries:
        what = each.action.replace("_", " ")
        result = "" if each.result == "done" else f" ({each.result})"
        yield Moment(
            at=each.at, what=what + result, why=each.reason.text, tone=tone_of(each.action)
        )


def _work(work: Iterable[Finalization]) -> Iterator[Moment]:
    for each in work:
        if each.finished_at is not None:
            why = each.last_error if each.state == "dead" else each.note
            what = f"{each.finalizer}: {'given up' if each.state == 'dead' else 'done'}"
            yield Moment(at=each.finished_at, what=what, why=why or "", tone=tone_of(each.state))


def drawn(session: Session, tone: str, now: datetime) -> Markup:
    """Its life as one bar."""
    until = session.ended_at or now
    marks = [Mark(session.started_at, "began")]
    if session.ended_at is not None:
        marks.append(Mark(session.ended_at, "ended"))
    else:
        marks.append(Mark(now, "now"))
    if session.active_at > session.started_at and session.active_at != session.ended_at:
        marks.append(Mark(session.active_at, "last active"))
    life = Life(session.started_at, session.active_at, until, tone, marks)
    due = session.due_at if session.is_open else None
    return strip(said(session, now), life, due)


def said(session: Session, now: datetime) -> str:
    """Its life in a sentence."""
    begun = f"began {ago(session.started_at, now)}"
    if session.ended_at is None:
        return f"{begun}, open for {span(now - session.started_at)}, last active " + ago(
            session.active_at, now
        )
    lasted = span(
        max(session.ended_at - session.started_at, session.started_at - session.started_at)
    )
    return f"{begun}, lasted {lasted}, ended {ago(session.ended_at, now)}"
