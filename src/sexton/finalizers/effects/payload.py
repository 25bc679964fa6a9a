"""What do programs and webhooks get to read? One JSON object; its names are stable.

    idempotency_key   the same for every attempt at the same work
    finalizer, home, end_reason, attempt
    session           id key source started_at ended_at end_reason message_count title parent
                      relation
    since, through    the messages are those after the one, up to the other
    messages          objects with seq at role content extra, in order

It is one line of plain ASCII, so that any content survives: what is not ASCII is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from sexton.core.message import Message
from sexton.finalizers.job import Job


def document(job: Job) -> Iterator[bytes]:
    """The object in pieces, with one message in memory at a time."""
    yield json.dumps(_facts(job)).removesuffix("}").encode("ascii") + b', "messages": ['
    separator = b""
    for message in job.messages():
        yield separator + json.dumps(_told(message)).encode("ascii")
        separator = b", "
    yield b"]}\n"


def _facts(job: Job) -> dict[str, Any]:
    session = job.session
    return {
        "idempotency_key": job.key,
        "finalizer": job.finalizer,
        "home": session.home,
        "session": {
            "id": session.id,
            "key": session.key,
            "source": session.source,
            "started_at": _iso(session.started_at),
            "ended_at": _iso(session.ended_at),
            "end_reason": session.end_reason,
            "message_count": session.message_count,
            "title": session.title,
            "parent": session.parent,
            "relation": session.relation.value if session.relation else None,
        },
        "end_reason": session.end_reason,
        "since": job.since,
        "through": job.through,
        "attempt": job.attempt,
    }


def _told(message: Message) -> dict[str, Any]:
    return {
        "seq": message.seq,
        "at": _iso(message.at),
        "role": message.role,
        "content": message.content,
        "extra": dict(message.extra),
    }


def _iso(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
