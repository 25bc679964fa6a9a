"""Workers' beats, and the end of what their death leaves behind."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter

from sexton.core.plan import ReapSession, Seen
from sexton.core.session import Session
from sexton.liveness.model import Left, Lost, Sample, ShadowCount, Worker
from sexton.sessions.store import hold, holders
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.journal import Entry
from sexton.store.rows import maybe_micros, maybe_moment, micros, moment

_SESSION_COLUMNS = 33

Death = tuple[str, int, str]
"""A worker, the beat it was last seen with, and the evidence."""


class LedgerReaping:
    """Workers' beats, and the end of what their death leaves behind."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def beat(self, worker: str) -> int | None:
        """Raise the worker's counter durably; None if it is declared dead, left or unknown."""
        found = self._database.statement("beat", worker=worker)
        return found[0][0] if found else None

    def suspects(self) -> list[Worker]:
        """Every worker that has not left, and dead ones that still hold something."""
        found = self._database.read(lambda tx: tx.all("all_workers") + tx.all("dead_and_holding"))
        return [rows.worker(row) for row in found]

    def sessions_of(self, *workers: str) -> list[Session]:
        """The open sessions that any of the workers holds, with all their holders."""
        named = json.dumps(workers)
        found = self._database.read(lambda tx: tx.all("sessions_of_worker", workers=named))
        return list(_with_holders(found))

    def left_by(self, *workers: str) -> list[Left]:
        """The same, but for ending them: there may be very many."""
        named = json.dumps(workers)
        found = self._database.read(lambda tx: tx.all("left_by", workers=named))
        return [_left(list(same)) for _, same in groupby(found, key=itemgetter(0))]

    def reap(self, reaps: Sequence[tuple[ReapSession, Entry]], now: datetime) -> list[bool]:
        """End each session that still is as seen and whose holders have not beaten since.

        A constant number of statements, whatever the number of sessions.
        """

        def job(tx: Transaction) -> list[bool]:
            ended = _reap(tx, [action for action, _ in reaps], now)
            told = [entry for action, entry in reaps if action.seen.ref in ended]
            tx.all("insert_entries", entries=_entries(told, now))
            return [action.seen.ref in ended for action, _ in reaps]

        return self._database.write(job)

    def declare(self, dead: Sequence[tuple[Worker, str]], now: datetime) -> int:
        """Record deaths with their evidence, unless the worker has beaten since.

        No dead worker holds a session afterwards that has ended by other means.
        """
        deaths = json.dumps([(worker.id, worker.beat, evidence) for worker, evidence in dead])

        def job(tx: Transaction) -> int:
            tx.all("lock_workers", deaths=deaths)
            declared = len(tx.all("declare_dead", deaths=deaths, now=micros(now)))
            tx.all("release_ended")
            return declared

        return self._database.write(job) if dead else 0

    def release(self, held: Sequence[tuple[int, str]]) -> None:
        """Take dead holders off sessions that live on without them, and any off what has ended."""

        def job(tx: Transaction) -> None:
            tx.all("lock_sessions", refs=json.dumps([ref for ref, _ in held]))
            tx.all("release_holders", held=json.dumps([(*each, None) for each in held]))

        if held:
            self._database.write(job)

    def revive(self, lost: Sequence[Lost], now: datetime) -> list[Session]:
        """Open sessions again with all they had, which counts as activity; the epoch rises.

        One whose key has gone on in another session, or whose end was undone already, stays.
        """

        def job(tx: Transaction) -> list[Session]:
            tx.all("lock_sessions", refs=json.dumps([each.ref for each in lost]))
            return [found for each in lost if (found := _revive(tx, each, now)) is not None]

        return self._database.write(job)

    def progress(self, ref: int, worker: str, now: datetime) -> None:
        """Record that a running turn got on."""
        self._database.statement("make_progress", ref=ref, worker=worker, now=micros(now))

    def occupy(self, session: Session, worker: str, now: datetime) -> bool:
        """Mark the holder of a foreign session busy: its home counts the turns itself."""

        def job(tx: Transaction) -> bool:
            if tx.one("lock_open", **rows.fence(session)) is None:
                return False
            marked = tx.one("mark_busy", ref=session.ref, worker=worker, now=micros(now))
            return marked is not None

        return self._database.write(job)


KEEP = timedelta(days=400)
"""How long samples, figures and recorded reaps are kept."""


class LedgerSamples:
    """What was counted over time, and what was only recorded."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def store(self, samples: Sequence[Sample], now: datetime) -> None:
        """Keep samples; very old ones are forgotten."""

        def job(tx: Transaction) -> None:
            tx.many(
                "store_sample",
                [
                    {
                        "home": sample.home,
                        "at": micros(sample.at),
                        "open": sample.open,
                        "live": sample.live,
                        "waiting": sample.waiting,
                        "leaked": sample.leaked,
                        "unproven": sample.unproven,
                    }
                    for sample in samples
                ],
            )
            tx.all("forget_samples", before=micros(now - KEEP))
            tx.all("forget_shadow_reaps", before=micros(now - KEEP))

        self._database.write(job)

    def since(self, start: datetime) -> list[Sample]:
        """The samples from a moment on, oldest first."""
        found = self._database.read(lambda tx: tx.all("samples_since", since=micros(start)))
        return [
            Sample(
                home=row[0],
                at=moment(row[1]),
                open=row[2],
                live=row[3],
                waiting=row[4],
                leaked=row[5],
                unproven=row[6],
            )
            for row in found
        ]

    def record(self, *actions: ReapSession, now: datetime) -> list[bool]:
        """Write down reaps that were not carried out; False of one that was already."""
        told = [
            {
                "home": action.seen.home,
                "session": action.seen.id,
                "now": micros(now),
                "active_at": micros(action.seen.active_at),
                "reason": action.reason.code,
            }
            for action in actions
        ]

        def job(tx: Transaction) -> list[bool]:
            return [tx.one("record_shadow_reap", **values) is not None for values in told]

        return self._database.write(job)

    def recorded(self, home: str) -> frozenset[tuple[str, datetime]]:
        """The sessions of a home whose reap was only recorded, and when each had been active."""
        found = self._database.read(lambda tx: tx.all("recorded_reaps", home=home))
        return frozenset((row[0], moment(row[1])) for row in found)

    def shadows(self) -> list[ShadowCount]:
        """How the recorded reaps turned out, by home."""
        found = self._database.read(lambda tx: tx.all("count_shadow_reaps"))
        return [ShadowCount(home=row[0], recorded=row[1], contradicted=row[2]) for row in found]

    def first_shadow(self, home: str) -> datetime | None:
        """When the first reap was only recorded for a home."""
        ((first,),) = self._database.read(lambda tx: tx.all("first_shadow_reap", home=home))
        return maybe_moment(first)


def _revive(tx: Transaction, lost: Lost, now: datetime) -> Session | None:
    revived = tx.one(
        "revive_session",
        ref=lost.ref,
        due_at=maybe_micros(lost.schedule.at),
        serial=lost.schedule.serial,
        undoes=lost.undoes,
        now=micros(now),
    )
    if revived is None:
        return None
    if lost.worker is not None:
        hold(tx, lost.ref, lost.worker, micros(now))
    tx.all("insert_entry", **rows.entry(lost.entry, now))
    row = tx.one("find_by_ref", ref=lost.ref)
    assert row is not None
    return rows.session(row, holders(tx, lost.ref))


def _left(same: Sequence[rows.Row]) -> Left:
    """What was left from the rows of `left_by` about it, one for each holder."""
    ref, home, id, epoch, active_at, messages, turns, pinned, source, parent, _ = same[0]
    seen = Seen(
        ref=ref,
        home=home,
        id=id,
        epoch=epoch,
        active_at=moment(active_at),
        message_count=messages,
        turn_count=turns,
        pinned=bool(pinned),
    )
    holders = tuple(row[-1] for row in same)
    return Left(seen=seen, source=source, parent=parent, holders=holders)


def _with_holders(found: Iterable[rows.Row]) -> Iterator[Session]:
    """Sessions from rows of `sessions_of_worker`; a worker that holds many is made once."""
    known: dict[str, Worker] = {}
    for _, group in groupby(found, key=itemgetter(0)):
        same = list(group)
        holding = []
        for row in same:
            held = row[_SESSION_COLUMNS:]
            worker = known.get(held[4]) or known.setdefault(held[4], rows.worker(held[4:]))
            holding.append(rows.holding(held, worker))
        yield rows.session(same[0], holding)


def _reap(tx: Transaction, actions: Sequence[ReapSession], now: datetime) -> frozenset[int]:
    """End the sessions that still are as seen, with all that an end brings about.

    Sessions are locked before workers, as everywhere, and asked about when both are. The holders
    are declared dead, so that whoever beats again is told.
    """
    tx.all("lock_sessions", refs=json.dumps([action.seen.ref for action in actions]))
    tx.all("lock_workers", deaths=json.dumps(_deaths(actions)))
    held = [(action.seen.ref, *holder) for action in actions for holder in action.dead]
    proved = Counter(row[0] for row in tx.all("confirm_dead", held=json.dumps(held)))
    dead = [_as_seen(each) for each in actions if proved[each.seen.ref] == len(each.dead)]
    ended = frozenset(row[0] for row in tx.all("reap_sessions", reaps=json.dumps(dead)))
    tx.all("drop_holders_of", refs=json.dumps(sorted(ended)))
    buried = _deaths(each for each in actions if each.seen.ref in ended)
    tx.all("declare_dead", deaths=json.dumps(buried), now=micros(now))
    return ended


def _entries(told: Iterable[Entry], now: datetime) -> str:
    """The values of `entries`."""
    at = micros(now)
    return json.dumps(
        [
            (
                at,
                each.actor,
                each.receipt,
                each.home,
                each.session,
                each.action,
                each.result,
                each.reason.code,
                each.reason.text,
            )
            for each in told
        ]
    )


def _as_seen(action: ReapSession) -> tuple[int | str, ...]:
    """The values of `reaps`."""
    seen = action.seen
    counts = (seen.message_count, seen.turn_count)
    return (
        seen.ref,
        seen.epoch,
        micros(seen.active_at),
        *counts,
        action.reason.code,
        len(action.dead),
        seen.id,
    )


def _deaths(actions: Iterable[ReapSession]) -> list[Death]:
    """Each dead holder once, with the reason of a session it held."""
    found: dict[str, Death] = {}
    for action in actions:
        for worker, beat in action.dead:
            if worker not in found:
                code = action.reason.code.removeprefix("reaped:")
                found[worker] = (worker, beat, f"{code}: {action.reason.text}")
    return list(found.values())
