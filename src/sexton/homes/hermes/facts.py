"""What do a Hermes row and its messages say about a session?"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from functools import lru_cache

from sexton.core.message import PREVIEW_LENGTH, one_line, preview
from sexton.core.session import Relation, Session, State, check_name
from sexton.core.usage import Usage
from sexton.errors import InvalidName
from sexton.homes.hermes.statements import MessageTally, SessionRow, SpendTally

UNATTENDED = frozenset({"cron", "subagent", "batch", "tool"})
FAILURES = frozenset({"error", "failed", "crashed"})
TITLE_LENGTH = 200
LARGEST = 2**62

UNSPENT = Usage()
FIRST_FIGURE = SessionRow._fields.index("input_tokens")
AFTER_FIGURES = SessionRow._fields.index("actual_cost_usd") + 1

STRUCTURED = "\0json:"
CRON_ID = re.compile(r"cron_(.+)_\d{8}_\d{6}")
TEXT_PART = re.compile(r'"text":\s*("(?:[^"\\]|\\.)*)')


def session_of(
    home: str,
    row: SessionRow,
    said: MessageTally,
    spent: SpendTally,
    first_words: bytes | None,
    now: datetime,
) -> Session:
    """The facts about one session.

    One without any believable time counts as active now, so that nothing takes it for old.
    """
    id = said.session_id
    source = label_of(row.source) or "unknown"
    signs = [row.started_at, said.first_at, said.last_at, spent.last_at, row.last_activity_at]
    times = [at for at in signs if at is not None]
    fallback = moment(row.ended_at) if row.ended_at else now
    began = row.started_at or min(times, default=None)
    started_at = moment(began) if began is not None else fallback
    parent = name_of(row.parent_session_id)
    parent = None if parent == id else parent
    ended = bool(row.has_ended)
    end_reason = reason_of(row.end_reason) if ended else None
    active_at = moment(max(times)) if times else fallback
    return Session(
        ref=0,
        home=home,
        id=id,
        key=name_of(row.session_key),
        source=source,
        chat_type=label_of(row.chat_type),
        job=_job(id),
        parent=parent,
        relation=relation_of(row, source) if parent else None,
        state=State.ENDED if ended else State.OPEN,
        started_at=started_at,
        active_at=active_at,
        ended_at=_end(row, started_at, active_at) if ended else None,
        end_reason=end_reason,
        message_count=said.messages,
        byte_count=said.bytes,
        turn_count=said.from_user,
        usage=usage_of(row, spent),
        title=line_of(row.title),
        preview=preview_of(first_words),
        pinned=bool(row.pinned or row.archived),
        human_touched=said.from_user > 0 and source not in UNATTENDED,
        errored=end_reason in FAILURES,
        live_messages=said.live_messages,
        live_bytes=said.live_bytes,
    )


def relation_of(row: SessionRow, source: str) -> Relation:
    """How a session came from its parent, by the marks Hermes itself goes by."""
    parent_ended = reason_of(row.parent_end_reason)
    if row.delegated:
        return Relation.SUBAGENT
    if row.branched or (parent_ended == "branched" and _came_after_parent(row)):
        return Relation.BRANCH
    if parent_ended == "compression" and source != "tool":
        return Relation.COMPRESSION
    return Relation.SUBAGENT if source == "subagent" else Relation.FORK


def usage_of(row: SessionRow, spent: SpendTally) -> Usage:
    """Tokens and cost, the calls beside the main loop included.

    Hermes counts reasoning as a part of the output; here every token is of one kind.
    """
    if not any(row[FIRST_FIGURE:AFTER_FIGURES]) and not any(spent[2:]):
        return UNSPENT
    reasoning = (row.reasoning_tokens or 0) + spent.reasoning_tokens
    output = (row.output_tokens or 0) + spent.output_tokens
    cost = row.estimated_cost_usd if row.actual_cost_usd is None else row.actual_cost_usd
    cached = (row.cache_read_tokens or 0) + (row.cache_write_tokens or 0)
    return Usage(
        input_tokens=_whole((row.input_tokens or 0) + spent.input_tokens),
        output_tokens=_whole(max(output - reasoning, 0)),
        cached_tokens=_whole(cached + spent.cache_read_tokens + spent.cache_write_tokens),
        reasoning_tokens=_whole(reasoning),
        cost_micros=_whole(((cost or 0) + spent.cost_usd) * 1_000_000),
    )


def name_of(raw: bytes | None) -> str | None:
    """Text that every ledger stores exactly, or None."""
    try:
        return check_name("name", raw.decode()) if raw else None
    except (UnicodeDecodeError, InvalidName):
        return None


def line_of(raw: bytes | None) -> str | None:
    """Text for people, as one line of bounded length, or None."""
    if not raw:
        return None
    text = " ".join(raw.decode("utf-8", "replace")[:TITLE_LENGTH].split())
    return (text if text.isprintable() else one_line(text)) or None


# The same few words in every row.
label_of = lru_cache(maxsize=1024)(name_of)
reason_of = lru_cache(maxsize=1024)(line_of)


def preview_of(raw: bytes | None) -> str | None:
    """The first words of a message, also of one that has pictures beside its text."""
    text = (raw or b"").decode("utf-8", "replace")
    if text.startswith(STRUCTURED):
        part = TEXT_PART.search(text)
        text = _unquoted(part[1]) if part else ""
    # Only as much as can show: the rest would be gone through letter by letter for nothing.
    return preview(" ".join(text.split())[: PREVIEW_LENGTH + 1])


def moment(epoch: float) -> datetime:
    """An aware time in UTC."""
    return datetime.fromtimestamp(epoch, UTC)


def _whole(figure: float) -> int:
    """A figure as a number every ledger can store."""
    return round(min(figure, LARGEST))


def _unquoted(start: str) -> str:
    try:
        return str(json.loads(start + '"'))
    except ValueError:
        return ""


def _job(id: str) -> str | None:
    match = CRON_ID.fullmatch(id)
    return match[1] if match else None


def _end(row: SessionRow, started_at: datetime, active_at: datetime) -> datetime:
    return max(moment(row.ended_at), started_at) if row.ended_at else active_at


def _came_after_parent(row: SessionRow) -> bool:
    return (row.started_at or 0) >= (row.parent_ended_at or 0)
