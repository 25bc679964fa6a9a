"""The background processes of sessions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sexton.core.record import as_dict, replace
from sexton.core.session import Session, State
from sexton.liveness.model import Identity
from sexton.processes.model import Doing, Figures, Process, ProcessKind, Told
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.journal import Entry
from sexton.store.rows import maybe_micros, maybe_moment, micros, moment

KEEP = timedelta(days=7)
"""For so long a process that ended is shown."""
LOST = timedelta(days=30)
"""A process nobody has seen for so long is not there any more, nor is its host."""

_END_OF_TIME = 2**62


class LedgerProcesses:
    """The background processes of sessions. They survive whoever registered them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def register(
        self, process: Process, session: Session, moved: tuple[Entry, datetime] | None = None
    ) -> Process | None:
        """Add a process to an open session; None if it ended or the fence fell.

        If it was another session's before, `moved` is journalled there.
        """
        place = {"session": session.ref}
        values = _values(process) | place | {"id": session.id, "epoch": session.epoch}
        names = ("host", "boot_id", "pid", "started")
        named = {name: values[name] for name in names} | place

        def job(tx: Transaction) -> rows.Row | None:
            former = tx.one("former_session", **named)
            added = tx.one("register_process", **values)
            if added is None:
                return None
            if former is not None and moved is not None:
                entry, now = moved
                line = replace(entry, home=former[0], session=former[1])
                tx.all("insert_entry", **rows.entry(line, now))
            tx.all("forget_told", ref=added[0])
            return tx.one("find_process", ref=added[0])

        row = self._database.write(job)
        return None if row is None else _process(row)

    def identify(self, process: Process, identity: Identity, now: datetime) -> bool:
        """Say which process came of one that was about to be started."""
        named = {"ref": process.ref, "pid": identity.pid, "started": identity.started}
        place = {"host": process.identity.host, "boot_id": process.identity.boot_id}

        def job(tx: Transaction) -> bool:
            tx.all("end_twins", **named, **place, now=micros(now))
            told = {"inode": identity.inode, "uid": identity.uid}
            return tx.one("identify_process", **named, **told) is not None

        return self._database.write(job)

    def running(self) -> list[Process]:
        """Every process, on any host, that is not known to have ended, oldest first."""
        found = self._database.read(lambda tx: tx.all("running_processes"))
        return [_process(row) for row in found]

    def of_session(self, ref: int) -> list[Process]:
        """Those of one session."""
        found = self._database.read(lambda tx: tx.all("processes_of_session", session=ref))
        return [_process(row) for row in found]

    def page(self, before: int | None, limit: int) -> list[Process]:
        """All processes, newest first, those that ended as well."""
        place = {"before": _END_OF_TIME if before is None else before, "limit": limit}
        found = self._database.read(lambda tx: tx.all("page_processes", **place))
        return [_process(row) for row in found]

    def judge(self, found: Sequence[tuple[int, Doing, Figures]], now: datetime) -> None:
        """Store what processes were seen doing, so that every view says the same."""
        values = [
            {
                "ref": ref,
                "doing": doing,
                "figures": json.dumps(as_dict(figures)),
                "now": micros(now),
            }
            for ref, doing, figures in sorted(found, key=lambda each: each[0])
        ]
        if values:
            self._database.write(lambda tx: tx.many("judge_process", values))

    def end(self, ref: int, how: str, now: datetime, entry: Entry | None = None) -> bool:
        """Record that a process is gone; False if that was known."""
        return self._change("end_process", entry, now, ref=ref, how=how, now=micros(now))

    def keep(
        self,
        ref: int,
        kept: bool,
        now: datetime,
        entry: Entry | None = None,
        *,
        by_agent: bool = False,
    ) -> bool:
        """Protect a process from being stopped by policy, or do so no more; False if it has ended.

        What a person protects stays a person's: an agent does not undo it, which is False, too.
        """
        if kept:
            own = int(by_agent)
            return self._change("keep_process", entry, now, ref=ref, kept_by_agent=own)
        return self._change("release_process", entry, now, ref=ref, by_person=int(not by_agent))

    def tell(self, ref: int, what: str, now: datetime, entry: Entry | None = None) -> Told | None:
        """Record that people are told something of it, each thing once; None if it has ended."""
        about = {"ref": ref, "what": what}

        def told(tx: Transaction) -> Told | None:
            row = tx.one("told_of_process", **about)
            return None if row is None else Told(moment(row[0]), False)

        def job(tx: Transaction) -> Told | None:
            if tx.one("tell_of_process", **about, now=micros(now)) is None:
                return told(tx)
            if entry is not None:
                tx.all("insert_entry", **rows.entry(entry, now))
            return Told(now, True)

        return self._database.read(told) or self._database.write(job)

    def forget(self, now: datetime) -> int:
        """Drop what ended a week ago, and what nobody has seen for a month."""

        def job(tx: Transaction) -> int:
            ended = tx.all("forget_ended_processes", before=micros(now - KEEP))
            return len(ended) + len(tx.all("forget_lost_processes", before=micros(now - LOST)))

        return self._database.write(job)

    def _change(self, name: str, entry: Entry | None, at: datetime, /, **values: Any) -> bool:
        """One change of one row, and its line in the journal."""

        def job(tx: Transaction) -> bool:
            if tx.one(name, **values) is None:
                return False
            if entry is not None:
                tx.all("insert_entry", **rows.entry(entry, at))
            return True

        return self._database.write(job)


def _values(process: Process) -> dict[str, Any]:
    return as_dict(process.identity) | {
        "random": rows.random_end(),
        "task": process.task,
        "kind": process.kind,
        "tag": process.tag,
        "command": process.command,
        "cwd": process.cwd,
        "started_at": micros(process.started_at),
        "expires_at": maybe_micros(process.expires_at),
        "registered_by": process.registered_by,
    }


def _process(row: rows.Row) -> Process:
    return Process(
        ref=row[0],
        identity=rows.identity(row[1:8]),
        session_ref=row[8],
        home=row[9],
        session=row[10],
        session_state=None if row[11] is None else State(row[11]),
        epoch=row[12],
        end_reason=row[13],
        task=row[14],
        kind=ProcessKind(row[15]),
        tag=row[16],
        command=row[17],
        cwd=row[18],
        started_at=moment(row[19]),
        expires_at=maybe_moment(row[20]),
        registered_by=row[21],
        kept=bool(row[22]),
        ended_at=maybe_moment(row[23]),
        ended_how=row[24],
        doing=Doing(row[25]),
        judged_at=maybe_moment(row[26]),
        figures=_figures(row[27]),
        kept_by_agent=bool(row[28]),
    )


def _figures(stored: str | None) -> Figures:
    if stored is None:
        return Figures()
    told = json.loads(stored)
    return Figures(**(told | {"ports": tuple(told["ports"])}))
