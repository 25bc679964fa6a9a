"""What the contract about removing sessions works with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import pytest

from sexton.core.plan import Reason, Seen
from sexton.core.session import Session, State
from sexton.errors import SessionRemoved
from sexton.retention.model import (
    Departure,
    End,
    Holds,
    Intent,
    Move,
    Part,
    Release,
    VaultFile,
    VaultKind,
    VaultState,
    Written,
)
from sexton.store.journal import Entry
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_finalizing_samples import LOG, claim, ended, rule
from tests.contract.ledger_contract_samples import at, enrol, entry, heard, reread, seen

TRIVIAL = Reason("trivial", "one message")
FIGURES = Written(bytes=10, raw_bytes=100, sha256="ab" * 32, sessions=1, messages=1, files=0)
RECEIPT = "receipt"
ME = "remover"
KEPT = VaultState.KEPT


def intent(name: str = "file", **facts: Any) -> Intent:
    """A file that is going to be written."""
    given: dict[str, Any] = {
        "kind": VaultKind.TRASH,
        "home": "native",
        "source": "chat",
        "host": "host",
        "place": "/vault",
        "worker": ME,
        "receipt": RECEIPT,
    }
    if facts.get("kind", VaultKind.TRASH) is VaultKind.TRASH:
        given["expires_at"] = at(1000)
    return Intent(name=name, **(given | facts))


def intended(ledger: Ledger, name: str = "file", **facts: Any) -> VaultFile:
    """A file that is being written."""
    return ledger.removal.intend(intent(name, **facts), at(5))


def move_of(session: Session, conversation: int = 0, **otherwise: Any) -> Move:
    """A session as it was planned and written, with some facts misremembered."""
    facts: dict[str, Any] = {
        "ref": session.ref,
        "state": session.state,
        "epoch": session.epoch,
        "active_at": session.active_at,
        "message_count": session.message_count,
        "turn_count": session.turn_count,
        "last_seq": session.message_count,
        "stored": session.message_count,
        "conversation": conversation or session.ref,
        "reason": TRIVIAL,
    }
    return Move(**(facts | otherwise))


def move(
    ledger: Ledger, file: VaultFile, *moves: Move, now: datetime | None = None, **facts: Any
) -> frozenset[int]:
    """Remove the sessions, into the trash unless told otherwise."""
    given: dict[str, Any] = {"state": State.TRASHED, "spares": None}
    departure = Departure(
        file=file, written=FIGURES, moves=moves, entry=told("trash"), **(given | facts)
    )
    return ledger.removal.move(departure, now or at(10))


def release(
    ledger: Ledger, file: VaultFile, *seen: Seen, day: date | None = None
) -> frozenset[int] | None:
    """Let the files of sessions go that are in a file now."""
    going = Release(
        file=file,
        written=FIGURES,
        seen=[(each, TRIVIAL) for each in seen],
        entry=told("remove_files"),
        day=day,
    )
    return ledger.removal.release(going, at(10))


def told(action: str, reason: Reason = TRIVIAL) -> Entry:
    """What the journal is to say."""
    return entry(action=action, receipt=RECEIPT, reason=reason)


def over(ledger: Ledger, count: int = 1, **facts: Any) -> Session:
    """A session that has ended, as it is stored."""
    return reread(ledger, ended(ledger, count, **facts))


def trashed(ledger: Ledger, *sessions: Session, name: str = "file", **facts: Any) -> VaultFile:
    """The sessions in the trash, in one file that is kept."""
    file = intended(ledger, name, **facts)
    archived = file.kind is VaultKind.ARCHIVE
    state = State.ARCHIVED if archived else State.TRASHED
    moved = move(ledger, file, *(move_of(each) for each in sessions), state=state)
    assert moved == {each.ref for each in sessions}
    return settled(ledger, file)


def alone(ledger: Ledger, session: Session, **facts: Any) -> VaultFile:
    """A file that is kept with the files of a session that stayed."""
    file = intended(ledger, session.id, holds=Holds.FILES, **facts)
    assert release(ledger, file, seen(session)) == frozenset()
    return settled(ledger, file)


def settled(ledger: Ledger, file: VaultFile) -> VaultFile:
    """The file when nothing of its sessions is left in the ledger."""
    [clearing] = [each for each in ledger.vault.unfinished(file.host) if each.ref == file.ref]
    refs = [each.ref for each in ledger.vault.inside(file)]
    assert ledger.removal.clear(clearing, refs)
    kept = ledger.removal.turn(clearing, KEPT, None)
    assert kept is not None
    return kept


def restoring(ledger: Ledger, file: VaultFile, worker: str = ME) -> VaultFile:
    """The file in the hands of somebody who brings back what is in it."""
    taken = ledger.removal.turn(file, VaultState.RESTORING, worker)
    assert taken is not None
    return taken


def parts_of(ledger: Ledger, *sessions: Session) -> list[Part]:
    """All there is of sessions that are still here."""
    refs = [each.ref for each in sessions]
    said = ledger.removable.messages(refs)
    return [Part(each.ref, said.get(each.ref, []), each.state) for each in sessions]


def put_back(ledger: Ledger, file: VaultFile, parts: Sequence[Part]) -> frozenset[int]:
    """Bring sessions back."""
    reason = Reason("undo", "asked for")
    return ledger.removal.put_back(file, parts, told("restore", reason), at(50))


def purge(ledger: Ledger, file: VaultFile, deadline: datetime, *owners: str) -> VaultFile | None:
    """Empty the file of what has expired by the deadline."""
    said = told("purge", Reason("expired", "its time is over"))
    end = End(file=file, entry=said, owners=owners)
    return ledger.removal.purge(end, ME, deadline, deadline)


def state(ledger: Ledger, session: Session) -> State:
    """How the session stands."""
    return reread(ledger, session).state


def remover(ledger: Ledger) -> str:
    """A worker that removes."""
    return enrol(ledger, ME)


def given_up(ledger: Ledger) -> Session:
    """A session whose work was given up an hour after noon."""
    rule(ledger, LOG)
    if not any(each.id == "keeper" for each in ledger.workers.all()):
        enrol(ledger, "keeper")
    session = ended(ledger)
    [taken] = claim(ledger)
    assert ledger.finalizing.put_back(taken, "hopeless", None, at(3600))
    return reread(ledger, session)


def unread(ledger: Ledger, session: Session) -> str:
    """Why the session can not be read."""
    with pytest.raises(SessionRemoved) as refused:
        heard(ledger, session)
    return refused.value.hint
