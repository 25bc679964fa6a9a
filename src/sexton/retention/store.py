"""Sessions on their way from the ledger to the vault, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from sexton.core.plan import Reason
from sexton.core.record import replace
from sexton.core.session import NATIVE
from sexton.errors import HomeNotFound
from sexton.retention.model import (
    Departure,
    End,
    Intent,
    Move,
    Part,
    Release,
    VaultFile,
    VaultState,
    Written,
)
from sexton.retention.protection import SPARED
from sexton.retention.vault_book import vault_files
from sexton.store.database import Database, Transaction
from sexton.store.journal import Entry
from sexton.store.rows import Row, entry, maybe_micros, micros

KEEP_DAYS = timedelta(days=90)

_NEVER = 2**62


class LedgerRemoval:
    """Moves sessions between the ledger and the vault.

    Every change of a file is one worker's only: whoever was taken for dead changes nothing more.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def intend(self, intent: Intent, now: datetime) -> VaultFile:
        """Record that a file is going to be written, before anything of it is on the disk."""
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
        """Remove those sessions that still are as seen; the file is `clearing` if any did.

        What is in one file may go in several steps. Sessions are locked before they are asked
        about, so that what is seen stays true.
        """
        file = departure.file
        refs = _listed(each.ref for each in departure.moves)
        spares = _NEVER if departure.spares is None else micros(departure.spares)

        def job(tx: Transaction) -> frozenset[int]:
            if not _is_ours(tx, file):
                return frozenset()
            tx.all("lock_sessions", refs=refs)
            free = {row[0]: row for row in tx.all("free_to_go", refs=refs, spares=spares)}
            going = _whole_conversations(departure, free)
            if not going:
                return frozenset()
            gone = frozenset(each.ref for each in going)
            tx.all("move_sessions", state=departure.state, vault=file.ref, refs=_listed(gone))
            for reason, those in _by_reason(going):
                _tell(tx, those, replace(departure.entry, reason=reason), now)
            _count(tx, file, departure.day, len(going))
            if departure.at_once:
                tx.all("clear_messages", vault=file.ref, refs=_listed(gone))
            _turn(tx, file, VaultState.CLEARING, file.worker, departure.written)
            return gone

        return self._database.write(job, lasting=departure.lasting)

    def release(self, release: Release, now: datetime) -> frozenset[int] | None:
        """Let files go if all of their sessions still are as seen; the file is `clearing` then.

        Else nothing changes, and these are the sessions that are not. None if the file was lost.
        """
        file = release.file
        seen = {each.ref: each for each, _ in release.seen if each.ref}
        entries = [
            entry(replace(release.entry, home=each.home, session=each.id, reason=reason), now)
            for each, reason in release.seen
        ]

        def job(tx: Transaction) -> frozenset[int] | None:
            if not _is_ours(tx, file):
                return None
            refs = _listed(seen)
            tx.all("lock_sessions", refs=refs)
            free = {row[0]: row[2:4] for row in tx.all("free_to_go", refs=refs, spares=_NEVER)}
            moved = [
                ref
                for ref, each in seen.items()
                if free.get(ref) != (each.epoch, micros(each.active_at))
            ]
            if not moved:
                tx.many("insert_entry", entries)
                _count(tx, file, release.day, len(entries))
                _turn(tx, file, VaultState.CLEARING, file.worker, release.written)
            return frozenset(moved)

        return self._database.write(job)

    def clear(self, file: VaultFile, refs: Sequence[int]) -> bool:
        """Delete the messages of removed sessions; False if the file was lost."""
        listed = _listed(refs)

        def job(tx: Transaction) -> bool:
            if not _is_ours(tx, file):
                return False
            tx.all("clear_messages", vault=file.ref, refs=listed)
            return True

        return self._database.write(job, lasting=False)

    def clear_some(self, file: VaultFile, ref: int, limit: int) -> int | None:
        """Delete so many messages of a removed session; how many, None if the file was lost."""

        def job(tx: Transaction) -> int | None:
            if not _is_ours(tx, file):
                return None
            return len(tx.all("clear_some_messages", vault=file.ref, session=ref, limit=limit))

        return self._database.write(job, lasting=False)

    def turn(
        self, file: VaultFile, state: VaultState, worker: str | None, written: Written | None = None
    ) -> VaultFile | None:
        """Take a file from the state and the worker it was seen with on to the next."""

        def job(tx: Transaction) -> VaultFile | None:
            return _file(tx, file.ref) if _turn(tx, file, state, worker, written) else None

        return self._database.write(job)

    def forget(self, file: VaultFile) -> bool:
        """Drop the row of a file that is gone; never while a session is in it."""
        values = {"ref": file.ref, "state": file.state, "worker": file.worker}
        return bool(self._database.statement("forget_file", **values))

    def put_back(
        self, file: VaultFile, parts: Sequence[Part], entry: Entry, now: datetime
    ) -> frozenset[int]:
        """Store messages again; the sessions that are back, whole and with the state they had."""

        def job(tx: Transaction) -> frozenset[int]:
            if not _is_ours(tx, file):
                return frozenset()
            refs = _listed({part.ref for part in parts})
            inside = {row[0] for row in tx.all("still_inside", vault=file.ref, refs=refs)}
            coming = [part for part in parts if part.ref in inside]
            tx.many("insert_stored", _rows(coming))
            arrivals = json.dumps([part[::2] for part in coming if part.state is not None])
            back = [row[0] for row in tx.all("bring_back", vault=file.ref, arrivals=arrivals)]
            _tell(tx, back, entry, now)
            return frozenset(back)

        return self._database.write(job)

    def purge(self, end: End, worker: str, deadline: datetime, now: datetime) -> VaultFile | None:
        """Give up for good what is in the trash and expired by the deadline.

        None if it is not, or while a session of it or its files is pinned or its work not done.
        """
        file, entry = end.file, end.entry
        fate = {"worker": worker, "deadline": micros(deadline), "spares": micros(now - SPARED)}

        def job(tx: Transaction) -> VaultFile | None:
            if tx.one("doom_file", ref=file.ref, refs=_concerned(tx, end), **fate) is None:
                return None
            gone = [row[0] for row in tx.all("purge_sessions", vault=file.ref)]
            tx.all("purge_finalizations", refs=_listed(gone))
            _tell(tx, gone, entry, now)
            return _file(tx, file.ref)

        return self._database.write(job)

    def discard(self, end: End, until: datetime, now: datetime) -> VaultFile | None:
        """Put an archive whose time is over into the trash, to be had back until then.

        The owners of files alone are told, too. It counts against its day. None if it is not
        over, or while somebody is at it or a session of it or its files is pinned.
        """
        file, said = end.file, end.entry
        fate = {"until": micros(until), "now": micros(now)}
        told = [entry(replace(said, home=file.home, session=each), now) for each in end.owners]

        def job(tx: Transaction) -> VaultFile | None:
            if tx.one("discard_file", ref=file.ref, refs=_concerned(tx, end), **fate) is None:
                return None
            gone = [row[0] for row in tx.all("discard_sessions", vault=file.ref)]
            _count(tx, file, now.date(), len(gone) or file.written.sessions)
            _tell(tx, gone, said, now)
            tx.many("insert_entry", told)
            return _file(tx, file.ref)

        return self._database.write(job)


def _file(tx: Transaction, ref: int) -> VaultFile:
    return vault_files(tx.all("find_file", ref=ref))[0]


def _concerned(tx: Transaction, end: End) -> str:
    """The sessions that a file has, or files of; whoever pins one of them is seen, or waits."""
    file, names = end.file.ref, json.dumps(list(end.owners))
    inside = tx.all("sessions_inside", vault=file)
    refs = _listed(row[0] for row in (*inside, *tx.all("owners_of_files", ref=file, names=names)))
    tx.all("lock_sessions", refs=refs)
    return refs


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
) -> bool:
    seen = {"ref": file.ref, "state": file.state, "worker": file.worker}
    if tx.one("turn_file", next=state, hand=worker, **seen) is None:
        return False
    if written is not None:
        tx.all("store_written", ref=file.ref, **_figures(written))
    return True


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


def _whole_conversations(departure: Departure, free: Mapping[int, Row]) -> list[Move]:
    """The moves of conversations of which every part is free and as it was seen.

    One whose row does not tell how much was said in it was judged by a number that is not true;
    what was said in a foreign home is not in the ledger.
    """
    ours = departure.file.home == NATIVE
    broken = {
        each.conversation
        for each in departure.moves
        if free.get(each.ref) != _as_seen(each) or (ours and each.stored != each.message_count)
    }
    return [each for each in departure.moves if each.conversation not in broken]


def _as_seen(move: Move) -> Row:
    """What `free_to_go` tells of a session that has not moved on."""
    return (*move[:3], micros(move.active_at), *move[4:8])


def _by_reason(moves: Sequence[Move]) -> Iterator[tuple[Reason, list[int]]]:
    found: dict[Reason, list[int]] = {}
    for each in moves:
        found.setdefault(each.reason, []).append(each.ref)
    yield from found.items()


def _tell(tx: Transaction, refs: Sequence[int], entry: Entry, now: datetime) -> None:
    tx.all(
        "tell_of_sessions",
        refs=_listed(refs),
        at=micros(now),
        actor=entry.actor,
        receipt=entry.receipt,
        action=entry.action,
        result=entry.result,
        reason=entry.reason.code,
        explanation=entry.reason.text,
    )


def _count(tx: Transaction, file: VaultFile, day: date | None, sessions: int) -> None:
    """What goes without a person's word counts against its day."""
    if day is None:
        return
    tx.all("forget_removal_days", before=(day - KEEP_DAYS).isoformat())
    tx.all("count_removed", ref=file.ref, day=day.isoformat(), sessions=sessions)


def _rows(parts: Sequence[Part]) -> list[dict[str, Any]]:
    return [
        message._asdict() | {"session": part.ref} for part in parts for message in part.messages
    ]
