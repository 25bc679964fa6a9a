"""What the ledger contract works with: sample sessions, workers and messages, and a race."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar

from sexton.core.message import Message, draft
from sexton.core.plan import JournalEntry, Reason, Seen
from sexton.core.schedule import Schedule
from sexton.core.session import Session
from sexton.homes.home_ports import HomeRecord, Sighting
from sexton.liveness.model import Identity, Worker
from sexton.sessions.model import Appended, Batch, Birth, Filter
from sexton.store.journal import Entry
from sexton.store.ledger import Ledger

T = TypeVar("T")

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
IDLE = Reason("idle", "idle for a day")
NO_RULES = Schedule(0)
PATIENCE = 240.0
ALL = 1_000_000

_numbers = count(1)


def at(seconds: float) -> datetime:
    """That long after noon."""
    return NOON + timedelta(seconds=seconds)


def enrol(ledger: Ledger, id: str, now: datetime = NOON, host: str = "host") -> str:
    """Register a worker; its id."""
    identity = Identity(host=host, boot_id="boot", pid=1, started=1)
    ledger.workers.register(
        Worker(id=id, identity=identity, kind="agent", version="1", beat=0, registered_at=now)
    )
    return id


def birth(key: str | None = "talk", **facts: Any) -> Birth:
    """What a session of that key starts with; its id is new unless given."""
    given: dict[str, Any] = {"id": f"session-{next(_numbers)}", "source": "chat"}
    return Birth(key=key, **({"schedule": NO_RULES} | given | facts))


def born(
    ledger: Ledger, key: str | None = "talk", *, now: datetime = NOON, **facts: Any
) -> Session:
    """A session that has begun."""
    begun = ledger.book.begin(birth(key, **facts), now)
    assert begun is not None
    return begun


def seen(session: Session, **otherwise: Any) -> Seen:
    """The session as a plan remembers it, with some facts misremembered."""
    facts: dict[str, Any] = {
        "ref": session.ref,
        "home": session.home,
        "id": session.id,
        "epoch": session.epoch,
        "active_at": session.active_at,
        "message_count": session.message_count,
        "turn_count": session.turn_count,
        "pinned": session.pinned,
    }
    return Seen(**(facts | otherwise))


def entry(session: Session | None = None, **facts: Any) -> Entry:
    """A journal entry about the session."""
    given: dict[str, Any] = {"actor": "test", "receipt": None, "action": "end", "result": "done"}
    named = {"home": session.home, "session": session.id} if session else {}
    return Entry(**({"reason": IDLE} | given | named | facts))


def say(
    ledger: Ledger,
    session: Session,
    *contents: Any,
    now: datetime = NOON,
    schedule: Schedule = NO_RULES,
) -> Appended | None:
    """Append one message for each content, all in one batch."""
    drafts = [draft("user", content) for content in contents]
    return ledger.messages.append(Batch(session=session, drafts=drafts, schedule=schedule), now)


def heard(ledger: Ledger, session: Session, byte_limit: int = 1_000_000) -> list[Message]:
    """All messages of a session, read page by page."""
    found: list[Message] = []
    last = 0
    while page := ledger.messages.page(session.ref, last, byte_limit):
        assert last < page[0].seq <= page[-1].seq
        last = page[-1].seq
        found += page
    return found


def observe(ledger: Ledger, home: HomeRecord, *sessions: Session) -> None:
    """Store what was seen of sessions of a foreign home."""
    ledger.homes.store(home, Sighting(seen=sessions), None, NOON)


def reread(ledger: Ledger, session: Session) -> Session:
    """The session as it is now."""
    found = ledger.index.find(session.home, session.id)
    assert len(found) == 1
    return found[0]


def journal(ledger: Ledger, session: Session | None = None) -> list[JournalEntry]:
    """The whole journal, or that of a session, newest first."""
    return ledger.journal.page(session, None, None, ALL)


def holders(session: Session | None) -> list[str]:
    """The ids of its holders, first come first."""
    assert session is not None
    return [holder.worker.id for holder in session.holders]


def everything(ledger: Ledger) -> list[Session]:
    """Every session of the ledger."""
    return ledger.index.page(Filter(), None, ALL)


def race(jobs: Sequence[Callable[[], T]]) -> list[T]:
    """Run the jobs at the same moment, each in a thread of its own; their results in order."""
    start = threading.Barrier(len(jobs))

    def run(job: Callable[[], T]) -> T:
        start.wait(PATIENCE)
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        running = [pool.submit(run, job) for job in jobs]
        return [each.result(PATIENCE) for each in running]
