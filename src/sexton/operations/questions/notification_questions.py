"""What were people told, and did it reach them?"""

from __future__ import annotations

from typing_extensions import TypedDict

from sexton.core.wording import iso
from sexton.notifications.model import Event, Letter, LetterState
from sexton.operations.asker import Asker
from sexton.operations.cursors import cut
from sexton.operations.said import Moment


class Notification(TypedDict):
    """One notification on one channel."""

    ref: int
    target: str
    event: Event
    state: LetterState
    attempts: int
    last_error: str | None
    title: str
    text: str
    home: str | None
    session: str | None
    key: str
    posted_at: Moment
    not_before: Moment
    finished_at: Moment | None


class Notifications(TypedDict):
    """A page of notifications."""

    items: list[Notification]
    next: str | None


def notifications(
    asker: Asker,
    *,
    state: LetterState | None = None,
    after: int | None = None,
    limit: int = 50,
) -> Notifications:
    """What people were told, newest first, once for each channel.

    A pending one waits for its time, a failed one was given up after the last try, a folded one was
    told together with others.
    """
    page = asker.house.ledger.outbox.page(state, after, limit + 1)
    found, rest = cut(page, limit)
    return {
        "items": [_record(asker.house.content.letter(each)) for each in found],
        "next": rest,
    }


def _record(each: Letter) -> Notification:
    return {
        "ref": each.ref,
        "target": each.target,
        "event": each.notice.event,
        "state": each.state,
        "attempts": each.attempts,
        "last_error": each.last_error,
        "title": each.notice.title,
        "text": each.notice.text,
        "home": each.notice.home,
        "session": each.notice.session,
        "key": each.notice.key,
        "posted_at": iso(each.posted_at),
        "not_before": iso(each.not_before),
        "finished_at": iso(each.finished_at),
    }
