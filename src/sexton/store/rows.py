"""How do rows of the ledger and values of the model become one another?"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from sexton.core.message import Message, revive_content
from sexton.core.plan import JournalEntry, Reason, Seen
from sexton.core.session import Limit, Relation, Session, State
from sexton.core.usage import Usage
from sexton.liveness.model import Holder, Identity, Worker

if TYPE_CHECKING:
    from sexton.store.journal import Entry

Row = tuple[Any, ...]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)


_UNSPENT = Usage()
_RELATIONS = {None: None} | {relation.value: relation for relation in Relation}


def micros(moment: datetime) -> int:
    """A moment as the ledger stores it."""
    return (moment - _EPOCH) // _TICK


def maybe_micros(moment: datetime | None) -> int | None:
    return None if moment is None else micros(moment)


def moment(stored: int) -> datetime:
    """The moment that `micros` stored, exactly."""
    return _EPOCH + timedelta(0, 0, stored)  # by place: thousands are read at once


def maybe_moment(stored: int | None) -> datetime | None:
    return None if stored is None else moment(stored)


# Asked for every row, so there is nothing of ours in between.
limits = {number: Limit(number) for number in range(sum(Limit) + 1)}.__getitem__
state = {state.value: state for state in State}.__getitem__


def fence(held: Session | Seen) -> dict[str, Any]:
    """What a statement compares before it changes a session on behalf of its holder or a plan."""
    return {"ref": held.ref, "id": held.id, "epoch": held.epoch}


def random_end() -> int:
    """The 28 random bits of a session's number, for `new_ref`."""
    return int.from_bytes(os.urandom(4), "big") >> 4


def session(row: Row, holders: Sequence[Holder] = ()) -> Session:
    """A session from the columns named SESSION."""
    return Session(
        ref=row[0],
        home=row[1],
        id=row[2],
        key=row[3],
        source=row[4],
        chat_type=row[5],
        job=row[6],
        parent=row[7],
        relation=_RELATIONS[row[8]],
        state=state(row[9]),
        epoch=row[10],
        started_at=moment(row[11]),
        active_at=moment(row[12]),
        due_at=maybe_moment(row[13]),
        ended_at=maybe_moment(row[14]),
        end_reason=row[15],
        message_count=row[16],
        byte_count=row[17],
        turn_count=row[18],
        usage=_usage(row[19:24]),
        title=row[24],
        preview=row[25],
        pinned=bool(row[26]),
        human_touched=bool(row[27]),
        errored=bool(row[28]),
        warned=limits(row[29]),
        spared_at=maybe_moment(row[30]),
        live_messages=row[31],
        live_bytes=row[32],
        holders=tuple(holders),
    )


def _usage(spent: Sequence[int]) -> Usage:
    if not any(spent):
        return _UNSPENT
    return Usage(
        input_tokens=spent[0],
        output_tokens=spent[1],
        cached_tokens=spent[2],
        reasoning_tokens=spent[3],
        cost_micros=spent[4],
    )


def facts(seen: Session, home: int) -> dict[str, Any]:
    """An observed session as the parameters of `store_facts`."""
    return {
        "home": home,
        "random": random_end(),
        "id": seen.id,
        "key": seen.key,
        "source": seen.source,
        "chat_type": seen.chat_type,
        "job": seen.job,
        "parent": seen.parent,
        "relation": seen.relation,
        "state": seen.state,
        "started_at": micros(seen.started_at),
        "active_at": micros(seen.active_at),
        "due_at": maybe_micros(seen.due_at),
        "ended_at": maybe_micros(seen.ended_at),
        "end_reason": seen.end_reason,
        "message_count": seen.message_count,
        "byte_count": seen.byte_count,
        "turn_count": seen.turn_count,
        "input_tokens": seen.usage.input_tokens,
        "output_tokens": seen.usage.output_tokens,
        "cached_tokens": seen.usage.cached_tokens,
        "reasoning_tokens": seen.usage.reasoning_tokens,
        "cost_micros": seen.usage.cost_micros,
        "title": seen.title,
        "preview": seen.preview,
        "pinned": int(seen.pinned),
        "human_touched": int(seen.human_touched),
        "errored": int(seen.errored),
        "live_messages": seen.live_messages,
        "live_bytes": seen.live_bytes,
        "spared_at": maybe_micros(seen.spared_at),
    }


def worker(row: Row) -> Worker:
    """A worker from the columns named WORKER."""
    return Worker(
        id=row[0],
        identity=identity(row[1:8]),
        kind=row[8],
        version=row[9],
        beat=row[10],
        registered_at=moment(row[11]),
        left_at=maybe_moment(row[12]),
        swept_at=maybe_moment(row[13]),
        dead_at=maybe_moment(row[14]),
        evidence=row[15],
    )


def identity(row: Row) -> Identity:
    """Which process is meant, from the columns that every table of processes has."""
    return Identity(
        host=row[0],
        boot_id=row[1],
        pid=row[2],
        started=row[3],
        inode=row[4],
        pid_namespace=row[5],
        uid=row[6],
    )


def holder(row: Row) -> Holder:
    """A holder from a row of `find_holders`."""
    return holding(row, worker(row[4:]))


def holding(row: Row, by: Worker) -> Holder:
    """A holder from a row of `find_holders` whose worker is known already."""
    return Holder(
        worker=by,
        joined_at=moment(row[1]),
        busy_since=maybe_moment(row[2]),
        progress_at=maybe_moment(row[3]),
    )


def message(row: Row) -> Message:
    """A message from a row of `page_messages`."""
    return Message(
        seq=row[0],
        role=row[1],
        content=revive_content(row[3], bool(row[2])),
        at=moment(row[4]),
        extra=revive_content(row[5], False) or {},
    )


def journal_entry(row: Row) -> JournalEntry:
    """A line of the journal from a row of `page_journal`."""
    return JournalEntry(
        ref=row[0],
        at=moment(row[1]),
        actor=row[2],
        receipt=row[3],
        home=row[4],
        session=row[5],
        action=row[6],
        result=row[7],
        reason=Reason(row[8], row[9]),
        sessions=() if row[10] is None else _read_names(row[10]),
    )


def entry(written: Entry, now: datetime) -> Mapping[str, Any]:
    """A journal entry as the parameters of `insert_entry`."""
    return {
        "at": micros(now),
        "actor": written.actor,
        "receipt": written.receipt,
        "home": written.home,
        "session": written.session,
        "action": written.action,
        "result": written.result,
        "reason": written.reason.code,
        "explanation": written.reason.text,
        "sessions": _names(written.sessions) if written.sessions else None,
    }


def _names(ids: Sequence[str]) -> str:
    import json  # noqa: PLC0415  # slow to load, and few entries are about several sessions

    return json.dumps(ids)


def _read_names(stored: str) -> tuple[str, ...]:
    import json  # noqa: PLC0415  # as above

    return tuple(json.loads(stored))
