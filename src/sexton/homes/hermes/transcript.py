"""What was said in a session of a Hermes home?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import apsw

from sexton.core.message import Message
from sexton.homes.hermes.facts import moment
from sexton.homes.hermes.statements import EARLIEST, LATEST

PAGE = 200

# Counted, for rows of other sessions lie between those of one; numbers may begin anywhere.
MESSAGES = """
    SELECT CAST(role AS BLOB), CAST(content AS BLOB), CAST(timestamp AS REAL)
    FROM messages WHERE session_id = :session
    ORDER BY id LIMIT :limit OFFSET :after"""


def page(
    db: apsw.Connection, session: str, after: int, through: int, ended: datetime
) -> list[Message]:
    """The next messages after so many, none beyond `through`; one without a time gets the end's."""
    wanted: dict[str, Any] = {"session": session, "after": after}
    wanted["limit"] = min(PAGE, through - after)
    rows: list[Any] = db.execute(MESSAGES, wanted).fetchall()
    return list(_messages(rows, after, ended))


def _messages(rows: list[Any], after: int, ended: datetime) -> Iterator[Message]:
    for seq, (role, content, timestamp) in enumerate(rows, after + 1):
        known = timestamp is not None and EARLIEST <= timestamp <= LATEST
        yield Message(
            seq=seq,
            role=_text(role) or "unknown",
            content=_text(content),
            at=moment(timestamp) if known else ended,
        )


def _text(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode("utf-8", "replace")
