"""How are sessions of a Hermes home ended from outside?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path

import apsw

from sexton.core.machine_ports import Clock
from sexton.core.plan import INTENDED, ReapSession, Reason, Seen
from sexton.core.record import replace
from sexton.core.session import Session
from sexton.errors import HomeRefused
from sexton.homes.hermes import hermes_observe as observe
from sexton.homes.hermes.acting import changing, inode_of
from sexton.homes.hermes.hermes_writer import Writer
from sexton.homes.hermes.holders import Census
from sexton.homes.hermes.ownership import Ownership
from sexton.homes.home_ports import Due, Ended
from sexton.liveness.evidence import Evidence, Verdict
from sexton.liveness.policy import SILENT, SUSPECT
from sexton.store.journal import Entry, Journal

TOGETHER = 100
REAPED, RESET = "reaped", "session_reset"
"""What Hermes's own column says. The second one is honoured by its gateway, which begins anew."""

END = "UPDATE sessions SET ended_at = :at, end_reason = :reason WHERE id = :id AND ended_at IS NULL"

REOPEN = """
    UPDATE sessions SET ended_at = NULL, end_reason = NULL
    WHERE id = :id
      AND (ended_at = :at
           OR :reaped AND ended_at < :at AND end_reason IN ('reaped', 'session_reset'))
      AND NOT EXISTS (SELECT 1 FROM sessions AS child
                      WHERE child.parent_session_id = sessions.id
                        AND child.started_at >= sessions.ended_at)
      AND NOT EXISTS (SELECT 1 FROM sessions AS newer
                      WHERE newer.session_key = sessions.session_key
                        AND newer.started_at > sessions.started_at)"""
"""Open what we ended at that moment, in whatever words; a reap wrote the last activity instead.

What ended anew or has gone on in another row since stays as it is: to open it would fork it."""


class Ending:
    """Ends sessions of one home, each in a transaction that looks at it again."""

    def __init__(
        self, name: str, database: Path, ownership: Ownership, clock: Clock, journal: Journal
    ) -> None:
        self._name = name
        self._database = database
        self._ownership = ownership
        self._clock = clock
        self._journal = journal

    def reap(self, reaps: Sequence[tuple[ReapSession, Entry]], now: datetime) -> list[bool]:
        """End sessions as of their last activity; the owners are judged once more before."""
        inode = inode_of(self._database)
        census = self._ownership.census()
        evidence = self._ownership.evidence([each.seen.id for each, _ in reaps], census)
        dead = [(each, entry) for each, entry in reaps if _may_go(each, evidence)]
        done: set[str] = set()
        with changing(self._database, self._clock, inode=inode) as hand:
            waiting = iter(dead)
            while batch := list(islice(waiting, TOGETHER)):
                meant = {each.seen.id: each for each, _ in batch}
                self._intend([entry for _, entry in batch], now)
                gone = hand.step(partial(self._reap, meant=meant, census=census, now=now))
                self._journal.write([entry for each, entry in batch if each.seen.id in gone], now)
                done |= gone
        return [each.seen.id in done for each, _ in reaps]

    def end(self, seen: Seen, reason: Reason, entry: Entry, now: datetime) -> bool:
        """End one session now."""
        self._intend([entry], now)
        with changing(self._database, self._clock) as hand:
            done = hand.step(lambda db: self._end(db, seen, reason.code, now))
        if done:
            self._journal.write([entry], now)
        return done

    def revive(
        self, ended: Sequence[Ended], entry: Entry, due: Due, now: datetime
    ) -> list[Session]:
        """Open sessions again that we have ended, unless they went on as another row since."""
        done: list[Session] = []
        with changing(self._database, self._clock) as hand:
            waiting = iter(ended)
            while batch := list(islice(waiting, TOGETHER)):
                opened = hand.step(partial(self._reopen, ended=batch, now=now))
                told = [replace(entry, home=self._name, session=each.id) for each in opened]
                self._journal.write(told, now)
                done += [replace(each, due_at=due(each).at) for each in opened]
        return done

    def _reopen(self, db: Writer, ended: Sequence[Ended], now: datetime) -> list[Session]:
        opened = [
            each.id
            for each in ended
            if db.change(
                REOPEN, {"id": each.id, "at": each.at.timestamp(), "reaped": int(each.reaped)}
            )
        ]
        page = observe.page(db, self._database, opened)
        return list(observe.sessions_in(page, self._name, now))

    def _reap(
        self, db: Writer, meant: Mapping[str, ReapSession], census: Census, now: datetime
    ) -> set[str]:
        # While we write nobody can take up a session; whoever came since the census might have.
        if self._ownership.census(quick=True).has_grown(census):
            return set()
        still = self._as_seen(db, [each.seen for each in meant.values()])
        conversations = self._ownership.conversations(db, still.keys())
        done = set()
        for id, session in still.items():
            if id in conversations and meant[id].reason.code != SILENT:
                continue
            word = RESET if id in conversations else REAPED
            # A clock that was wrong may have put it into the future: no undo would find it there.
            if _ended(db, id, word, min(session.active_at, now)):
                done.add(id)
        return done

    def _end(self, db: Writer, seen: Seen, code: str, now: datetime) -> bool:
        if seen.id not in self._as_seen(db, [seen]):
            return False
        word = RESET if self._ownership.conversations(db, [seen.id]) else code
        return _ended(db, seen.id, word, now)

    def _as_seen(self, db: apsw.Connection, wanted: Sequence[Seen]) -> dict[str, Session]:
        """The sessions that are open and have not moved since they were seen."""
        page = observe.page(db, self._database, [each.id for each in wanted])
        known, now = {each.id: each.active_at for each in wanted}, self._clock.now()
        found = {each.id: each for each in observe.sessions_in(page, self._name, now, known)}
        return {
            seen.id: session
            for seen in wanted
            if (session := found.get(seen.id)) is not None and _is(session, seen)
        }

    def _intend(self, entries: Sequence[Entry], now: datetime) -> None:
        """Say what is going to be done: after a crash the next look tells how far it came."""
        action, ids = entries[0].action, tuple(str(entry.session) for entry in entries)
        reason = Reason("intent", f"about to {action} {len(ids)}: {', '.join(ids)}")
        meant = replace(entries[0], session=None, sessions=ids, result=INTENDED, reason=reason)
        self._journal.write([meant], now)


def _may_go(reap: ReapSession, evidence: Mapping[str, Evidence]) -> bool:
    """Whether what is known of the owner now still carries the reap.

    Where the ledger knows who held it, their death is proved already, and only a claim of
    somebody else speaks against it.
    """
    found = evidence.get(reap.seen.id)
    if found is None:
        return False
    if reap.dead:
        return found.verdict is not Verdict.LIVE
    carrying = {
        SUSPECT: (Verdict.DEAD, Verdict.SUSPECT),
        SILENT: (Verdict.DEAD, Verdict.UNKNOWN),
    }
    return found.verdict in carrying.get(reap.reason.code, (Verdict.DEAD,))


def _is(session: Session, seen: Seen) -> bool:
    """Whether a session has not moved; what its home does not pin may be pinned in the ledger."""
    now = (session.active_at, session.message_count, session.turn_count)
    then = (seen.active_at, seen.message_count, seen.turn_count)
    return session.is_open and now == then and session.pinned <= seen.pinned


def _ended(db: Writer, id: str, word: str, at: datetime) -> bool:
    count = db.change(END, {"id": id, "reason": word, "at": at.timestamp()})
    if count > 1:
        raise HomeRefused(f"more than one session is called {id!r}")
    return count == 1
