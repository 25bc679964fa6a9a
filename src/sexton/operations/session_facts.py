"""What is said of one session, wherever it is shown?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sexton.core.session import Session
from sexton.core.wording import ahead, number, size, until


def facts(session: Session, now: datetime) -> Iterator[tuple[str, str | None]]:
    """What each fact is called and its words, or None where there is nothing to say."""
    yield "home", session.home
    yield "source", session.source
    yield "key", session.key
    yield "chat type", session.chat_type
    yield "job", session.job
    parent = f"{session.parent} ({session.relation or 'child'})"
    yield "parent", parent if session.parent else None
    yield "started", until(session.started_at, now)
    yield "last active", until(session.active_at, now)
    yield "looked at next", ahead(session.due_at, now) if session.due_at else None
    yield "ended", until(session.ended_at, now) if session.ended_at else None
    yield "end reason", session.end_reason
    yield "messages", f"{number(session.message_count)}, {size(session.byte_count)}"
    yield "turns", number(session.turn_count)
    yield "epoch", str(session.epoch)
