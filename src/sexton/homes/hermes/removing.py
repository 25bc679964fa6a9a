"""How do sessions leave a Hermes database, and how do they come back?

Hermes's own way is one long transaction, in which its writers wait and give up. Here as many
messages go at once as take a moment, and everybody else has as long a moment in between.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import apsw

from sexton.core.machine_ports import Clock
from sexton.homes.hermes.acting import LONG_PATIENCE, Hand, TooLong, changing, check
from sexton.homes.hermes.hermes_database import read
from sexton.homes.hermes.hermes_writer import Writer
from sexton.homes.hermes.ownership import Ownership
from sexton.homes.hermes.records import Layout, layout, quoted, stored, take
from sexton.homes.hermes.returning import begin_return, is_whole, store_messages, store_whole
from sexton.homes.hermes.writable import refuse_unwritable
from sexton.retention.home_storage import PutRow, Removed, Taken, as_text
from sexton.retention.model import StoredMessage

AIM, QUIET_AIM = 0.2, 0.4
"""Seconds for which Hermes's writers may be kept waiting in one go; and while none writes."""
FEWEST, FIRST, MOST = 20, 100, 2000
"""How many messages go at once."""
ASK_AGAIN = 30.0
"""Seconds after which it is asked thoroughly once more who has the database open."""
WHOLE = 1000
"""A conversation of so many messages goes at once in any case."""

UNLINK = "UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = :id"
DELETE_SOME = """
    DELETE FROM messages WHERE id IN (
        SELECT id FROM messages WHERE session_id = :id AND id <= :last ORDER BY id LIMIT :limit)"""
DELETE_ROW = "DELETE FROM sessions WHERE id = :id"


class HermesRows:
    """Implements `home_storage.HomeRows`."""

    def __init__(self, database: Path, ownership: Ownership, clock: Clock) -> None:
        self._database = database
        self._ownership = ownership
        self._clock = clock
        self._together = FIRST
        self._alone = False
        self._asked_at = self._glanced_at = float("-inf")

    def take(self, ids: Collection[str]) -> dict[str, Taken]:
        now = self._clock.now().timestamp()

        def look(db: apsw.Connection) -> dict[str, Taken]:
            check(db, self._database)
            shape = layout(db)
            found = {id: take(db, shape, id, now) for id in ids}
            return {id: each for id, each in found.items() if each is not None}

        return read(self._database, look)

    def messages(self, ids: Collection[str]) -> dict[str, list[StoredMessage]]:
        def look(db: apsw.Connection) -> dict[str, list[StoredMessage]]:
            shape = layout(db)
            return {id: list(stored(db, shape, id)) for id in ids}

        return read(self._database, look)

    def message_page(self, id: str, after: int, byte_limit: int) -> list[StoredMessage]:
        def look(db: apsw.Connection) -> list[StoredMessage]:
            found: list[StoredMessage] = []
            weight = 0
            for message in stored(db, layout(db), id, after):
                found.append(message)
                weight += len(message.content or b"") + len(message.extra or b"")
                if weight > byte_limit:
                    break
            return found

        return read(self._database, look)

    def remove(self, conversations: Sequence[Mapping[str, str]], *, begun: bool = False) -> Removed:
        gone: set[str] = set()
        cut: set[str] = set()
        with changing(self._database, self._clock, LONG_PATIENCE) as hand:
            for batch in self._batches(conversations):
                hand.fold(self._is_alone())
                for each in self._remove(hand, batch, begun):
                    gone |= each.gone
                    cut |= each.cut
        return Removed(frozenset(gone), frozenset(cut))

    def refuse_unwritable(self, *, now: bool = False) -> None:
        refuse_unwritable(self._database)
        if now:
            with changing(self._database, self._clock, LONG_PATIENCE) as hand:
                hand.step(lambda _: None)

    @contextmanager
    def returning(self) -> Iterator[PutRow]:
        with changing(self._database, self._clock, LONG_PATIENCE) as hand:
            yield partial(self._put_back, hand)

    def _put_back(
        self, hand: Hand, row: Mapping[str, Any], messages: Iterable[StoredMessage]
    ) -> bool:
        hand.fold(self._is_alone())
        waiting = iter(messages)
        some = list(islice(waiting, self._together))
        if len(some) < self._together:
            whole = hand.step(partial(store_whole, known=row, messages=some))
            self._learn(len(some), hand)
            return whole
        if not hand.step(partial(begin_return, known=row, messages=some)):
            for _ in waiting:  # whoever reads a file needs it read to the end
                pass
            return False
        while some:
            hand.step(partial(store_messages, known=row, messages=some))
            self._learn(len(some), hand)
            some = list(islice(waiting, self._together))
        return hand.step(partial(is_whole, known=row))

    def _is_alone(self) -> bool:
        """Whether nobody else has the database open: asked thoroughly now and then, else quickly.

        Who is not alone is not asked again for a while: the log is the business of the others.
        """
        now = self._clock.monotonic()
        if now - self._asked_at >= ASK_AGAIN:
            self._alone, self._asked_at = self._ownership.census().is_empty, now
        elif self._alone and now - self._glanced_at >= AIM:
            self._alone = self._ownership.census(quick=True).is_empty
        else:
            return self._alone
        self._glanced_at = now
        return self._alone

    def _batches(
        self, conversations: Sequence[Mapping[str, str]]
    ) -> Iterator[list[Mapping[str, str]]]:
        """Conversations that go together in one transaction; a long one is alone."""
        batch: list[Mapping[str, str]] = []
        weight = 0
        for each in conversations:
            size = sum(_size(text) for text in each.values())
            if batch and weight + size > self._together:
                yield batch
                batch, weight = [], 0
            batch.append(each)
            weight += size
        if batch:
            yield batch

    def _remove(self, hand: Hand, batch: list[Mapping[str, str]], begun: bool) -> Iterator[Removed]:
        now = self._clock.now().timestamp()
        size = sum(_size(text) for each in batch for text in each.values())
        if size <= max(WHOLE, self._together):
            try:
                delete = partial(_delete_batch, batch=batch, now=now, begun=begun)
                yield Removed(hand.step(delete))
            except TooLong:
                self._together = FEWEST
            else:
                self._learn(size, hand)
                return
        for each in batch:
            yield self._slowly(hand, each, begun)

    def _slowly(self, hand: Hand, conversation: Mapping[str, str], begun: bool) -> Removed:
        """Delete in several transactions what is too long for one; the row itself goes last."""
        now = self._clock.now().timestamp()
        if not hand.step(partial(_are_as_taken, taken=conversation, now=now, begun=begun)):
            return Removed()
        for id, text in conversation.items():
            deleted = limit = 1
            while deleted == limit:
                limit = self._together
                values = {"id": id, "last": json.loads(text)["last"], "limit": limit}
                deleted = hand.step(
                    partial(_delete_some, taken=conversation, now=now, values=values)
                )
                if deleted < 0:
                    return Removed(cut=frozenset(conversation))
                self._learn(deleted, hand)
        gone = hand.step(partial(_delete_batch, batch=[conversation], now=now, begun=True))
        return Removed(gone, cut=frozenset(conversation) - gone)

    def _learn(self, count: int, hand: Hand) -> None:
        """Take so many next time as fit into the aim, but not many more than now."""
        if count:
            aim = QUIET_AIM if hand.quiet else AIM
            fitting = round(aim * count / max(hand.held, 1e-6))
            self._together = min(
                max(fitting, self._together // 2, FEWEST), 2 * self._together, MOST
            )


def _size(text: str) -> int:
    return int(json.loads(text)["messages"]) if text else 0


def _are_as_taken(
    db: apsw.Connection,
    taken: Mapping[str, str],
    now: float,
    *,
    begun: bool,
    shape: Layout | None = None,
) -> bool:
    shape = shape or layout(db)
    for id, text in taken.items():
        found = take(db, shape, id, now)
        if found is None and begun:
            continue
        if found is None or found.refusal is not None:
            return False
        if found.text != text and not _is_same(found.text, text, begun):
            return False
    return True


def _is_same(found: str, text: str, begun: bool) -> bool:
    """Whether only relatives have gone meanwhile or, where it was begun, messages."""
    now, then = json.loads(found), json.loads(text)
    children = set(now.pop("children")) <= set(then.pop("children"))
    left, last = now.pop("messages"), now.pop("last") or 0
    had, end = then.pop("messages"), then.pop("last") or 0
    said = (left <= had and last <= end) if begun else (left, last) == (had, end)
    if now["session"].get("parent_session_id") is None:
        then["session"]["parent_session_id"] = None
    return children and said and as_text(now) == as_text(then)


def _delete_batch(
    db: Writer, batch: Iterable[Mapping[str, str]], now: float, begun: bool
) -> frozenset[str]:
    shape, gone = layout(db), set[str]()
    for each in batch:
        if _are_as_taken(db, each, now, begun=begun, shape=shape):
            _delete(db, shape, each)
            gone |= each.keys()
    return frozenset(gone)


def _delete(db: Writer, shape: Layout, ids: Collection[str]) -> None:
    for id in ids:
        db.change(UNLINK, {"id": id})
    for id in ids:
        db.change("DELETE FROM messages WHERE session_id = :id", {"id": id})
        for table, (column, _) in shape.beside.items():
            db.change(f"DELETE FROM {quoted(table)} WHERE {quoted(column)} = :id", {"id": id})
        db.change(DELETE_ROW, {"id": id})


def _delete_some(
    db: Writer, taken: Mapping[str, str], now: float, values: Mapping[str, Any]
) -> int:
    """How many messages went; -1 if somebody has taken the session up."""
    if not _are_as_taken(db, taken, now, begun=True):
        return -1
    return db.change(DELETE_SOME, values)
