"""What was said in a session? As text only, and not to everybody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice

from typing_extensions import TypedDict

from sexton.core.message import Message
from sexton.core.session import Session
from sexton.core.wording import iso
from sexton.errors import HomeObserved, HomeUnreadable
from sexton.operations.asker import Asker
from sexton.operations.said import Moment
from sexton.retention.model import AWAY
from sexton.wiring.removal_wiring import read_removed

END = 2**62
"""After the last message of every session."""
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


def messages(asker: Asker, name: str, after: int, limit: int) -> Messages:
    """A page of messages in order, as text; HomeObserved where they are not to be shown."""
    if not asker.house.content.is_shown:
        raise HomeObserved(
            "the messages of a shared ledger are not shown here",
            hint="Set 'serve: {messages: true}' where the server is started.",
        )
    found = asker.find(name)
    items = [_shape(each) for each in islice(transcript(asker, found, after, END), limit)]
    more = items[-1]["seq"] if len(items) == limit else None
    return {"items": items, "next": more}


def transcript(asker: Asker, session: Session, after: int, through: int) -> Iterator[Message]:
    """The messages of a session, from its home or the vault.

    Raises HomeUnreadable if the home is known, but this server does not reach it.
    """
    if session.state in AWAY:
        return read_removed(asker.house, session, after, through)
    home = asker.look().homes.get(session.home)
    if home is None:
        raise HomeUnreadable(
            f"the home '{session.home}' is not attached here",
            hint="Ask a server on its machine, or list the home in the settings of this one.",
        )
    return home.transcript(session, after, through)


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
