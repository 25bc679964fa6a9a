"""What is stored of a session, and what is asked of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from sexton.core.message import Draft
from sexton.core.record import record
from sexton.core.schedule import Schedule
from sexton.core.session import Limit, Relation, Session, State

if TYPE_CHECKING:
    from sexton.spending.model import Spend


class WorkerUnknown(Exception):
    """The ledger has no such worker, so it can hold nothing; nothing was changed."""


@record
class Birth:
    """What a new session starts with, and who holds it."""

    id: str
    key: str | None
    source: str
    chat_type: str | None = None
    job: str | None = None
    parent: str | None = None
    relation: Relation | None = None
    title: str | None = None
    worker: str | None = None
    schedule: Schedule


@record(kw_only=False)
class Appended:
    """What an append did: the last sequence number, the warnings given, the policies in force."""

    last_seq: int
    warned: Limit = Limit.NONE
    serial: int = 0


@record
class Filter:
    """Which sessions to list; None means any.

    `folded` leaves out those that were compressed: the newest of a chain stands for all of it.
    """

    home: str | None = None
    source: str | None = None
    state: State | None = None
    key: str | None = None
    folded: bool = False


@record(kw_only=False)
class Place:
    """Where a page begins: after the session with that time and row."""

    at: datetime
    ref: int


@record
class Batch:
    """Messages to be stored together, and when to look at their session again.

    `spend` is counted with them where a budget counts messages. `seen` is the highest number
    under which the writer knows a message of the session to be stored.
    """

    session: Session
    drafts: Sequence[Draft]
    schedule: Schedule
    preview: str | None = None
    from_human: bool = False
    spend: Spend | None = None
    seen: int = 0


class Opened(StrEnum):
    """How an agent came by a session.

    `NEW`: the key had no session before, or there is no key. `JOINED`: the session was open and a
    living worker held it. `ADOPTED`: it was open and nobody living held it. `RESET`: the one
    before has ended, and the conversation begins anew.
    """

    NEW = "new"
    JOINED = "joined"
    ADOPTED = "adopted"
    RESET = "reset"


@record
class Previous:
    """The session that a key had before: its id, why it ended, and when."""

    id: str
    end_reason: str
    ended_at: datetime
