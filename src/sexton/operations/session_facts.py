"""What is said of one session, wherever it is shown?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sexton.core.wording import ahead, moment_of, number, size, until
from sexton.operations.said import Session


def facts(session: Session, now: datetime) -> Iterator[tuple[str, str | None]]:
    """What each fact is called and its words, or None where there is nothing to say."""
    yield "home", session["home"]
    yield "source", session["source"]
    yield "key", session["key"]
    yield "chat type", session["chat_type"]
    yield "job", session["job"]
    parent = f"{session['parent']} ({session['relation'] or 'child'})"
    yield "parent", parent if session["parent"] else None
    yield "started", until(moment_of(session["started_at"]), now)
    yield "last active", until(moment_of(session["active_at"]), now)
    due, ended = session["due_at"], session["ended_at"]
    yield "looked at next", ahead(moment_of(due), now) if due else None
    yield "ended", until(moment_of(ended), now) if ended else None
    yield "end reason", session["end_reason"]
    yield "messages", f"{number(session['message_count'])}, {size(session['byte_count'])}"
    yield "turns", number(session["turn_count"])
    yield "epoch", str(session["epoch"])
