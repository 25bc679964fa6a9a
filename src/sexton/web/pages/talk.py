"""What was said in a session? As text only, a page at a time, and only when asked for."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

from sexton.core.message import Message
from sexton.core.record import record
from sexton.core.session import Session
from sexton.operations.questions.message_questions import END, transcript
from sexton.web.desk import Desk
from sexton.web.rendering import session_href

PAGE = 40
LONGEST = 4000
"""So many characters of one message are shown."""
_TONES = {"user": "held", "assistant": "live", "system": "waiting", "tool": "unproven"}


@record
class Said:
    """A message as it is shown; `more` characters of it are not."""

    seq: int
    role: str
    at: Any
    text: str
    more: int
    is_data: bool

    @property
    def tone(self) -> str:
        return _TONES.get(self.role, "done")


def talk(desk: Desk, session: Session, after: int | None) -> dict[str, Any]:
    """The messages of a session, from one on; without a number they stay unread."""
    told: dict[str, Any] = {"allowed": True, "shown": False, "href": _href(session, 0)}
    if not desk.shows_messages:
        why = (
            "This ledger is shared, so what was said is not shown here unless the settings of "
            "this server allow it (serve.messages)."
        )
        return {"allowed": False, "why": why}
    if after is None:
        return told
    after = max(0, after)
    found = list(islice(transcript(desk.asker, session, after, END), PAGE + 1))
    shown = [_said(each) for each in found[:PAGE]]
    return told | {
        "shown": True,
        "messages": shown,
        "hide": session_href(session.home, session.id),
        "next": _href(session, shown[-1].seq) if len(found) > PAGE else None,
        "first": _href(session, 0) if after else None,
    }


def _said(message: Message) -> Said:
    content, is_text = message.content, isinstance(message.content, str)
    text = content if is_text else "" if content is None else json.dumps(content, indent=2)
    return Said(
        seq=message.seq,
        role=message.role,
        at=message.at,
        text=text[:LONGEST],
        more=max(0, len(text) - LONGEST),
        is_data=not is_text,
    )


def _href(session: Session, after: int) -> str:
    return session_href(session.home, session.id, messages=str(after)) + "#talk"
