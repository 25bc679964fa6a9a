"""What was said in a session? As text only, and not to everybody."""

from __future__ import annotations

import json
from itertools import islice

from typing_extensions import TypedDict

from sexton.core.message import Message
from sexton.core.wording import iso
from sexton.errors import HomeObserved
from sexton.operations.said import Moment
from sexton.web.answers.homes_answers import END, transcript
from sexton.web.desk import Desk

LONGEST = 20_000
"""Characters of one message that are shown; of a longer one it is told how long it is."""


class ShownMessage(TypedDict):
    """A message as text; `characters` says how long it is where it is cut."""

    seq: int
    at: Moment
    role: str
    text: str
    characters: int


class Messages(TypedDict):
    """A page of messages."""

    items: list[ShownMessage]
    next: int | None


def messages(desk: Desk, name: str, after: int, limit: int) -> Messages:
    """A page of messages in order, as text; HomeObserved where they are not to be shown."""
    if not desk.shows_messages:
        raise HomeObserved(
            "the messages of a shared ledger are not shown here",
            hint="Set 'serve: {messages: true}' where the server is started.",
        )
    found = desk.house.find(name)
    items = [_shape(each) for each in islice(transcript(desk, found, after, END), limit)]
    more = items[-1]["seq"] if len(items) == limit else None
    return {"items": items, "next": more}


def _shape(message: Message) -> ShownMessage:
    content = message.content
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    said = text.encode("utf-8", "replace").decode()
    return {
        "seq": message.seq,
        "at": iso(message.at),
        "role": message.role,
        "text": said[:LONGEST],
        "characters": len(said),
    }
