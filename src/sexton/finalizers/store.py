"""End-of-session work, owed from the transaction that ends a session.

What a session owes is written by triggers, so that no way of ending one can forget it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from sexton.core.message import one_line
from sexton.core.session import State
from sexton.finalizers.model import (
    Backlog,
    Due,
    DueVerdict,
    Finalization,
    FinalizationState,
    Wanted,
)
from sexton.finalizers.policy import LONGEST_WAIT, after_death
from sexton.rules.rulebook import owings
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.journal import Entry
from sexton.store.rows import maybe_micros, maybe_moment, micros, moment

KEEP_SUPERSEDED = timedelta(days=90)
KEEP_DAYS = timedelta(days=90)
KEEP_MEMO_AT_HOME = timedelta(days=1)
"""For so long only the host that wrote a memo goes on: the effect may be there already."""
WORDS = 1000
"""The longest note or error, in characters."""

_END_OF_TIME = 2**62


class LedgerFinalizing:
    """The finalizations of a ledger. They are owed from the transaction that ends a session."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(
        self, worker: str, finalizers: Sequence[str], limit: int, now: datetime
    ) -> list[Finalization]:
        """Take on pending work whose time has come, oldest first; each is one worker's only.

        It counts as a try when its outcome is reported, as a crash if its worker dies. A worker
        gets native work and that of homes on its host; one that was taken for dead gets none.
        """

        def job(tx: Transaction) -> list[rows.Row]:
            taken = tx.all(
                "claim_finalizations",
                worker=worker,
                finalizers=json.dumps(list(finalizers)),
                limit=limit,
                now=micros(now),
                given_up=micros(now - KEEP_MEMO_AT_HOME),
            )
            return tx.all("find_finalizations", refs=json.dumps([row[0] for row in taken]))

        return [_finalization(row) for row in self._database.write(job)]

    def memo(self, taken: Finalization) -> bytes | None:
        """What an earlier attempt wrote down."""
        row = self._database.read(lambda tx: tx.one("find_memo", ref=taken.ref))
        return None if row is None else row[0]

    def memoise(self, taken: Finalization, memo: bytes) -> bool:
        """Write down what must not be asked for twice; False if the claim was lost."""
        return bool(self._database.statement("memoise", **_fence(taken), memo=memo))

    def finish(self, taken: Finalization, note: str, now: datetime) -> bool:
        """Done: the memo is dropped, and a session with nothing left to do is finalized."""
        values = _fence(taken) | {"note": _words(note), "now": micros(now)}

        def job(tx: Transaction) -> bool:
            _lock(tx, taken.session_ref)
            if tx.one("finish_finalization", **values) is None:
                return False
            tx.all(
                "forget_superseded",
                session=taken.session_ref,
                finalizer=taken.finalizer,
                through=taken.through,
                before=micros(now - KEEP_SUPERSEDED),
            )
            tx.all("finalize_session", session=taken.session_ref)
            return True

        return self._database.write(job)

    def put_back(
        self,
        taken: Finalization,
        error: str,
        again: datetime | None,
        now: datetime,
        *,
        counted: bool = True,
    ) -> bool:
        """Not done: tried again from a moment on, or given up for good (None)."""
        values = _fence(taken) | {
            "state": FinalizationState.PENDING if again else FinalizationState.DEAD,
            "again": maybe_micros(again),
            "error": _words(error),
            "counted": int(counted),
            "finished": None if again else micros(now),
        }

        def job(tx: Transaction) -> bool:
            _lock(tx, taken.session_ref)
            if tx.one("put_back_finalization", **values) is None:
                return False
            tx.all("finalize_session", session=taken.session_ref)
            return True

        return self._database.write(job)

    def free(self, now: datetime) -> int:
        """Make work pending again whose worker has left or was declared dead, which is counted.

        What is to wait for longer than anything does has waited long enough: a clock that was far
        ahead may have put it off. Whoever dies again and again with the same work in its hands
        may die of it.
        """

        def job(tx: Transaction) -> int:
            freed = tx.all("free_finalizations", now=micros(now))
            for ref, crashes in freed:
                chance = random.random()  # noqa: S311  # spreads retries, hides nothing
                again = after_death(crashes, now, chance)
                if again > now:
                    error = f"{crashes} keepers died while doing it"
                    tx.all("delay_finalization", ref=ref, again=micros(again), error=error)
            tx.all("hasten_finalizations", now=micros(now), latest=micros(now + LONGEST_WAIT))
            return len(freed)

        return self._database.write(job)

    def page(self, wanted: Wanted, after: int | None, limit: int) -> list[Finalization]:
        """Finalizations, newest first."""
        values: dict[str, Any] = {
            "finalizer": wanted.finalizer,
            "home": wanted.home,
            "before": _END_OF_TIME if after is None else after,
            "limit": limit,
        }
        name = "page_finalizations"
        if wanted.session is not None:
            name = "page_finalizations_of_session"
            values |= {"session": wanted.session, "state": wanted.state}
        elif wanted.state is not None:
            name = "page_finalizations_in_state"
            values |= {"state": wanted.state}
        found = self._database.read(lambda tx: tx.all(name, **values))
        return [_finalization(row) for row in found]

    def tally(self) -> dict[tuple[str, FinalizationState], int]:
        """How much work of each finalizer is not done, by how it stands."""
        found = self._database.read(lambda tx: tx.all("tally_finalizations"))
        return {(row[0], FinalizationState(row[1])): row[2] for row in found}

    def decide(
        self, ref: int, state: FinalizationState, now: datetime, entry: Entry | None = None
    ) -> bool:
        """A person's word: dead ones are pending again, pending or dead ones count as done.

        An entry is journalled in the same transaction.
        """
        names = {
            FinalizationState.PENDING: "retry_finalization",
            FinalizationState.DONE: "discard_finalization",
        }

        def job(tx: Transaction) -> bool:
            found = tx.one("session_of_finalization", ref=ref)
            if found is None:
                return False
            _lock(tx, found[0])
            if tx.one(names[state], ref=ref, now=micros(now)) is None:
                return False
            tx.all("finalize_session", session=found[0])
            if entry is not None:
                tx.all("insert_entry", **rows.entry(entry, now))
            return True

        return self._database.write(job)

    def spend(self, finalizer: str, day: date, calls: int, most: int) -> bool:
        """Take calls from a day's budget, all or none."""
        values = {"finalizer": finalizer, "day": day.isoformat(), "calls": calls, "most": most}

        def job(tx: Transaction) -> bool:
            tx.all("forget_days", before=(day - KEEP_DAYS).isoformat())
            return tx.one("spend_calls", **values) is not None

        return self._database.write(job)


class LedgerBackfill:
    """Work for sessions that ended before there was a finalizer."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def estimate(self, finalizer: str, since: datetime) -> Backlog:
        """What would be owed for sessions that ended since a moment."""
        values = {"finalizer": finalizer, "since": micros(since)}
        row = self._database.read(lambda tx: tx.one("count_backfill", **values))
        assert row is not None
        return Backlog(sessions=row[0], messages=row[1], bytes=row[2])

    def owe(self, finalizer: str, since: datetime, limit: int, now: datetime) -> int:
        """Let so many of them owe it, those that ended first; how many do from now on."""
        values: dict[str, Any] = {"finalizer": finalizer, "since": micros(since)}
        values |= {"limit": limit, "now": micros(now)}
        return len(self._database.write(lambda tx: tx.all("backfill", **values)))


class LedgerDues:
    """What sessions owe, as the rule in the database decides it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, sessions: Sequence[int], rules: str | None = None) -> list[Due]:
        """What these sessions owe to every finalizer; of open ones, if they ended now.

        `rules` is the text of a rulebook that is not in force; it stands in place of the stored
        one. Changes nothing.
        """
        refs = json.dumps(list(sessions))
        if rules is None:
            return _dues(self._database.read(lambda tx: tx.all("find_dues", refs=refs)))
        drafted = [row for owing in owings(rules) for row in owing.rows()]
        text = json.dumps([[row[name] for name in _OWING] for row in drafted])
        return _dues(
            self._database.read(lambda tx: tx.all("find_drafted_dues", refs=refs, rules=text))
        )


_OWING = ("finalizer", "source", "min_messages")


def _dues(found: Sequence[rows.Row]) -> list[Due]:
    return [
        Due(
            session=row[0],
            finalizer=row[1],
            verdict=DueVerdict(row[2]),
            since=row[3],
            through=row[4],
            least=row[5],
            state=State(row[6]),
            source=row[7],
            message_count=row[8],
            byte_count=row[9],
        )
        for row in found
    ]


def _lock(tx: Transaction, session: int) -> None:
    """Of two that finish a session's last work together, the second must see the first."""
    tx.all("lock_sessions", refs=json.dumps([session]))


def _fence(taken: Finalization) -> dict[str, Any]:
    return {
        "ref": taken.ref,
        "session": taken.session_ref,
        "worker": taken.worker,
        "claim": taken.claim,
    }


def _words(text: str) -> str:
    """What every engine stores, and no more than people read."""
    return one_line(text[: WORDS * 4])[:WORDS]


def _finalization(row: rows.Row) -> Finalization:
    """A finalization from the columns of `finalization`."""
    return Finalization(
        ref=row[0],
        home=row[1],
        session=row[2],
        session_ref=row[3],
        finalizer=row[4],
        since=row[5],
        through=row[6],
        state=FinalizationState(row[7]),
        attempts=row[8],
        claim=row[9],
        worker=row[10],
        owed_at=moment(row[11]),
        not_before=moment(row[12] or row[11]),  # 0: at any time since it is owed
        finished_at=maybe_moment(row[13]),
        last_error=row[14],
        note=row[15],
        crashes=row[16],
    )
