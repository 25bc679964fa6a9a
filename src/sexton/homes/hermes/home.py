"""A Hermes home: observed without being changed, and changed without being disturbed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from sexton.core.machine_ports import Clock
from sexton.core.message import Message
from sexton.core.plan import ReapSession, Reason, Seen
from sexton.core.session import Session
from sexton.errors import HomeNotFound, HomeObserved, HomeUnreadable
from sexton.homes.hermes import hermes_observe as observe
from sexton.homes.hermes import transcript
from sexton.homes.hermes.fingerprint import recognise
from sexton.homes.hermes.generations import usual_mode
from sexton.homes.hermes.hermes_background import hinted
from sexton.homes.hermes.hermes_database import Signature, read, signature
from sexton.homes.hermes.hermes_ending import Ending
from sexton.homes.hermes.hermes_files import HomeFigures, figures_of
from sexton.homes.hermes.hermes_observe import Survey
from sexton.homes.hermes.hermes_places import DATABASE
from sexton.homes.hermes.inherited import UNLIMITED, OwnRules
from sexton.homes.hermes.mark import Mark, load
from sexton.homes.hermes.ownership import Ownership
from sexton.homes.hermes.removing import HermesRows
from sexton.homes.home_ports import Due, Ended, Known, Sighting
from sexton.liveness.evidence import Evidence
from sexton.liveness.model import Identity
from sexton.processes.model import Process
from sexton.resets.policy import ResetPolicy
from sexton.store.journal import Entry, Journal

PAGE = 5_000


class HermesHome:
    """The sessions of one Hermes home, through the port all homes share."""

    def __init__(
        self,
        path: Path,
        name: str,
        *,
        clock: Clock,
        zone: str = "UTC",
        journal: Journal | None = None,
        limits: ResetPolicy = UNLIMITED,
    ) -> None:
        """Know the home at that path; HomeNotFound unless a Hermes database is there.

        Hermes resets by the machine's own time of day, so `zone` names the machine's; `limits` are
        ours. Without a journal, which tells of every change, nothing is changed.
        """
        self.path, self._database = _located(path)
        self._own_rules = OwnRules(self.path, zone, limits)
        self._schema: int | None = None
        self._name = name
        self._clock = clock
        self._journal = journal
        self._ownership = Ownership(self.path, self._database, clock)
        self.records = HermesRows(self._database, self._ownership, clock)

    @property
    def name(self) -> str:
        """What the ledger calls this home."""
        return self._name

    @property
    def kind(self) -> str:
        """Which agent lives here."""
        return "hermes"

    def rules(self) -> str:
        """The resets that the home's own configuration asks for, as its release understands it."""
        if self._schema is None:
            read(self._database, self._recognise)
        return self._own_rules.text(usual_mode(self._schema or 0))

    def look(self, mark: Mapping[str, Any] | None, known: Known) -> Iterator[Sighting]:
        """What changed since the mark, read-only; nothing at all if nothing did.

        Nothing is held open in the home while a part is being dealt with.
        """
        now = self._clock.now()
        before = signature(self._database)
        last = load(mark)
        if last and last.is_current(before, now):
            return
        if last and last.wants_full(before, now):
            last = None
        believed_open = known.open_ids() if last else frozenset()
        surveyed = self._survey(last, believed_open)
        wanted, gone = _compared(surveyed, known)
        pages = [wanted[start : start + PAGE] for start in range(0, len(wanted), PAGE)] or [[]]
        for page in pages[:-1]:
            yield Sighting(seen=self._sessions(page, now))
        rest = self._sessions(pages[-1], now)
        # Replaced meanwhile: what was seen is of two homes, so the old mark stays in force.
        if signature(self._database).database[0] == before.database[0]:
            yield Sighting(seen=rest, gone=gone, mark=_next_mark(last, surveyed, before, now))

    def owners(self, ids: Collection[str]) -> Mapping[str, Evidence]:
        """Who has the open sessions, by what the home claims and who has its database open."""
        return self._ownership.evidence(ids)

    def reap(self, reaps: Sequence[tuple[ReapSession, Entry]], now: datetime) -> list[bool]:
        """End sessions whose owner is gone, each if it still is as seen and its owner still is.

        Hermes is told `reaped`; a conversation of its gateway, which ends by policy only, is reset.
        """
        return self._ending(len(reaps)).reap(reaps, now)

    def end(self, seen: Seen, reason: Reason, entry: Entry, now: datetime) -> bool:
        """End a session by policy if it still is as seen; a conversation is reset."""
        return self._ending(1).end(seen, reason, entry, now)

    def revive(
        self, ended: Sequence[Ended], entry: Entry, due: Due, now: datetime
    ) -> list[Session]:
        """Open sessions again as Hermes does on `--resume`: the same row goes on."""
        return self._ending(len(ended)).revive(ended, entry, due, now)

    def background(self, here: Identity) -> Sequence[Process]:
        """The background processes that the home's file names and that are alive."""
        return tuple(hinted(self.path, self._name, here))

    def transcript(self, session: Session, since: int, through: int) -> Iterator[Message]:
        """The messages after so many, up to a number, as far as Hermes still has them."""
        after, ended = since, session.ended_at or session.active_at
        while after < through:
            look = partial(
                transcript.page, session=session.id, after=after, through=through, ended=ended
            )
            found = read(self._database, look)
            if not found:
                return
            yield from found
            after = found[-1].seq

    def figures(self) -> HomeFigures:
        """Sizes and counts for a report."""
        return figures_of(self.path, self._database)

    def _ending(self, count: int) -> Ending:
        if self._journal is None:
            raise HomeObserved(
                f"{count} sessions of the Hermes home {self._name!r} stay open: it is only observed"
            )
        return Ending(self._name, self._database, self._ownership, self._clock, self._journal)

    def _survey(self, last: Mark | None, believed_open: frozenset[str]) -> Survey:
        where = self._database

        def survey(db: apsw.Connection) -> Survey:
            self._recognise(db)
            return observe.survey(db, where, last, believed_open)

        return read(where, survey)

    def _recognise(self, db: apsw.Connection) -> None:
        """Remember the schema; it changes when Hermes is brought up to date."""
        self._schema = recognise(db, self._database).version

    def _sessions(self, ids: Sequence[str], now: datetime) -> tuple[Session, ...]:
        if not ids:
            return ()
        where = self._database
        page = read(where, lambda db: observe.page(db, where, ids))
        return tuple(observe.sessions_in(page, self._name, now))


def _located(path: Path) -> tuple[Path, Path]:
    try:
        home = path.expanduser().resolve()
        if not home.is_dir():
            raise HomeNotFound(f"{path} is not a directory")
        database = (home / DATABASE).resolve()
        if not database.is_file():
            raise HomeNotFound(f"{path} is not a Hermes home: it has no {DATABASE}")
    except (OSError, RuntimeError) as problem:
        raise HomeUnreadable(f"{path} can not be read: {problem}") from None
    return home, database


def _compared(surveyed: Survey, known: Known) -> tuple[list[str], tuple[str, ...]]:
    """The ids to look at and the ids that are gone."""
    if surveyed.ids is None:
        return sorted(surveyed.changed), ()
    known_ids = known.all_ids()
    wanted = surveyed.changed | (surveyed.ids - known_ids)
    return sorted(wanted), tuple(sorted(known_ids - surveyed.ids))


def _next_mark(
    last: Mark | None, surveyed: Survey, before: Signature, now: datetime
) -> dict[str, Any]:
    continued = None if surveyed.full else last
    return Mark(
        signature=before,
        water=surveyed.water,
        trail=continued.water.message if continued else surveyed.water.message,
        looked_at=now,
        full_at=continued.full_at if continued else now,
    ).dump()
