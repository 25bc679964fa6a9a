"""Sessions on their way from the ledger to the vault, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sexton.errors import HomeNotFound
from sexton.ledger.database import Database, Transaction
from sexton.ledger.rows import maybe_micros, micros
from sexton.ledger.vault_book import vault_files
from sexton.model.plan import Reason
from sexton.ports.removal import Departure, Intent, Move, Part, VaultFile, VaultState
from sexton.ports.upkeep import Entry
from sexton.ports.vault import Written

KEEP_DAYS = timedelta(days=90)
SPARED = timedelta(days=30)
"""For so long after it was given up, end-of-session work keeps its session from being purged."""

_NEVER = 2**62


class LedgerRemoval:
    """Implements `ports.removal.Removal`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def intend(self, intent: Intent, now: datetime) -> VaultFile:
        values = {
            "name": intent.name,
            "kind": intent.kind,
            "holds": intent.holds,
            "home": intent.home,
            "source": intent.source,
            "host": intent.host,
            "place": intent.place,
            "worker": intent.worker,
            "receipt": intent.receipt,
            "expires_at": maybe_micros(intent.expires_at),
            "now": micros(now),
        }

        def job(tx: Transaction) -> VaultFile:
            row = tx.one("insert_file", **values)
            if row is None:
                raise HomeNotFound(f"the ledger knows no home '{intent.home}'")
            return _file(tx, row[0])

        return self._database.write(job)

    def move(self, departure: Departure, now: datetime) -> frozenset[int]:
        """Sessions are locked before they are asked about, so that what is seen stays true."""
        file = departure.file
        moves = json.dumps([_as_seen(each) for each in departure.moves])
        spares = _NEVER if departure.spares is None else micros(departure.spares)

        def job(tx: Transaction) -> frozenset[int]:
            if not _is_ours(tx, file):
                return frozenset()
            tx.all("lock_sessions", refs=_listed(each.ref for each in departure.moves))
            fit = {row[0] for row in tx.all("fitting_moves", moves=moves, spares=spares)}
            going = _whole_conversations(departure.moves, fit)
            if not going:
                return frozenset()
            refs = _listed(each.ref for each in going)
            tx.all("move_sessions", state=departure.state, vault=file.ref, refs=refs)
            told = [(each.ref, each.reason.code, each.reason.text) for each in going]
            _tell(tx, told, departure.entry, now)
            _count(tx, departure, len(going))
            _turn(tx, file, VaultState.CLEARING, file.worker, departure.written)
            return frozenset(each.ref for each in going)

        return self._database.write(job)

    def clear(self, file: VaultFile, refs: Sequence[int], limit: int) -> int | None:
        listed = _listed(refs)

        def job(tx: Transaction) -> int | None:
            if not _is_ours(tx, file):
                return None
            return len(tx.all("clear_messages", vault=file.ref, refs=listed, limit=limit))

        return self._database.write(job)

    def turn(
        self, file: VaultFile, state: VaultState, worker: str | None, written: Written | None = None
    ) -> VaultFile | None:
        return self._database.write(lambda tx: _turn(tx, file, state, worker, written))

    def forget(self, file: VaultFile) -> bool:
        values = {"ref": file.ref, "state": file.state, "worker": file.worker}
        return bool(self._database.statement("forget_file", **values))

    def put_back(
        self, file: VaultFile, parts: Sequence[Part], entry: Entry, now: datetime
    ) -> frozenset[int]:
        def job(tx: Transaction) -> frozenset[int]:
            if not _is_ours(tx, file):
                return frozenset()
            refs = _listed({part.ref for part in parts})
            inside = {row[0] for row in tx.all("still_inside", vault=file.ref, refs=refs)}
            coming = [part for part in parts if part.ref in inside]
            tx.many("insert_stored", _rows(coming))
            arrivals = [(part.ref, part.state) for part in coming if part.state is not None]
            back = [
                row[0]
                for row in tx.all("bring_back", vault=file.ref, arrivals=json.dumps(arrivals))
            ]
            _tell_all(tx, back, entry, now)
            return frozenset(back)

        return self._database.write(job)

    def purge(
        self, file: VaultFile, worker: str, entry: Entry, deadline: datetime, now: datetime
    ) -> VaultFile | None:
        fate = {"worker": worker, "deadline": micros(deadline), "spares": micros(now - SPARED)}

        def job(tx: Transaction) -> VaultFile | None:
            tx.all("lock_inside", ref=file.ref)
            if tx.one("doom_file", ref=file.ref, **fate) is None:
                return None
            gone = [row[0] for row in tx.all("purge_sessions", vault=file.ref)]
            tx.all("purge_finalizations", refs=_listed(gone))
            _tell_all(tx, gone, entry, now)
            return _file(tx, file.ref)

        return self._database.write(job)


def _file(tx: Transaction, ref: int) -> VaultFile:
    return vault_files(tx.all("find_file", ref=ref))[0]


def _is_ours(tx: Transaction, file: VaultFile) -> bool:
    """Whether nobody has taken the file over since it was seen; nobody does until we are done."""
    seen = {"ref": file.ref, "state": file.state, "worker": file.worker}
    return tx.one("lock_file", **seen) is not None


def _turn(
    tx: Transaction,
    file: VaultFile,
    state: VaultState,
    worker: str | None,
    written: Written | None,
) -> VaultFile | None:
    seen = {"ref": file.ref, "state": file.state, "worker": file.worker}
    if tx.one("turn_file", next=state, hand=worker, **seen) is None:
        return None
    if written is not None:
        tx.all("store_written", ref=file.ref, **_figures(written))
    return _file(tx, file.ref)


def _figures(written: Written) -> dict[str, Any]:
    return {
        "bytes": written.bytes,
        "raw_bytes": written.raw_bytes,
        "digest": written.sha256,
        "sessions": written.sessions,
        "messages": written.messages,
        "files": written.files,
    }


def _listed(refs: Iterable[int]) -> str:
    return json.dumps(sorted(refs))


def _as_seen(move: Move) -> tuple[Any, ...]:
    """The values of `moves`."""
    return (*move[:3], micros(move.active_at), *move[4:8])


def _whole_conversations(moves: Sequence[Move], fit: set[int]) -> list[Move]:
    """The moves of conversations of which every part may go."""
    broken = {each.conversation for each in moves if each.ref not in fit}
    return [each for each in moves if each.conversation not in broken]


def _tell_all(tx: Transaction, refs: Sequence[int], entry: Entry, now: datetime) -> None:
    reason: Reason = entry.reason
    _tell(tx, [(ref, reason.code, reason.text) for ref in refs], entry, now)


def _tell(
    tx: Transaction, told: Sequence[tuple[int, str, str]], entry: Entry, now: datetime
) -> None:
    tx.all(
        "tell_of_sessions",
        told=json.dumps(told),
        at=micros(now),
        actor=entry.actor,
        receipt=entry.receipt,
        action=entry.action,
        result=entry.result,
    )


def _count(tx: Transaction, departure: Departure, sessions: int) -> None:
    """What goes without a person's word counts against its day."""
    if departure.day is None:
        return
    day = departure.day
    tx.all("forget_removal_days", before=(day - KEEP_DAYS).isoformat())
    tx.all("count_removed", ref=departure.file.ref, day=day.isoformat(), sessions=sessions)


def _rows(parts: Sequence[Part]) -> list[dict[str, Any]]:
    return [
        message._asdict() | {"session": part.ref} for part in parts for message in part.messages
    ]
