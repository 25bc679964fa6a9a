"""What happens, told as it happens; whoever was away is told what was missed."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, NamedTuple

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent

from sexton.core.plan import JournalEntry
from sexton.errors import SextonError
from sexton.operations.values import journal_entry
from sexton.web.answers.activity import Activity
from sexton.wiring import Sexton

LOOK_EVERY = 1.0
FRESH = 0.5
LATE = 100
"""Entries that are written together need not be seen in their order: so far back it is looked."""
KEPT = 2000
REPLAYED = 1000
"""Who missed more than that is told to look at everything anew."""
MOST_LISTENERS = 64
AGAIN = 2000
"""Milliseconds after which a browser that lost the stream asks again."""


class Arrived(NamedTuple):
    """What came as the how manyth, and its number in the journal.

    Without an entry: the ledger was set back, and its journal counts on from an earlier number.
    """

    place: int
    ref: int
    entry: JournalEntry | None


class News:
    """The journal as it grows, read once for all who listen."""

    def __init__(self, house: Sexton, activity: Activity) -> None:
        self._board = house.ledger.board
        self._clock = house.clock
        self.activity = activity
        self._lock = threading.Lock()
        self._recent: deque[Arrived] = deque(maxlen=KEPT)
        self._known: dict[int, datetime] = {}
        self._place = 0
        self._looked = float("-inf")
        self._last: int | None = None
        self._listeners = 0
        self.is_over = False

    def stop(self) -> None:
        """Let every stream come to its end."""
        self.is_over = True

    def enter(self) -> bool:
        """Become a listener; False if there are too many."""
        with self._lock:
            if self._listeners >= MOST_LISTENERS:
                return False
            self._listeners += 1
            return True

    def leave(self) -> None:
        """Listen no more."""
        with self._lock:
            self._listeners -= 1

    def place(self) -> int:
        """Where somebody begins who wants to hear what comes from now on."""
        with self._lock:
            self._look()
            return self._place

    def since(self, place: int) -> list[Arrived]:
        """What has come after a place."""
        with self._lock:
            self._look()
            return [each for each in self._recent if each.place > place]

    def missed(self, after: int) -> list[Arrived]:
        """The entries behind one, or that it is not known how many were missed."""
        found = self._board.journal_since(after, REPLAYED + 1)
        newest = found[-1].ref if found else self._board.newest_entry()
        if len(found) > REPLAYED or newest < after:
            return [Arrived(0, newest, None)]
        return [Arrived(0, each.ref, each) for each in found]

    def _look(self) -> None:
        now = self._clock.monotonic()
        if now - self._looked < FRESH:
            return
        self._looked = now
        if self._last is None:
            self._last = self._begin()
        found = self._near(self._last)
        if self._is_set_back(found, self._last):
            self._last = self._begin()
            self._tell(self._last, None)
            return
        for entry in found:
            if entry.ref not in self._known:
                self._known[entry.ref] = entry.at
                self._tell(entry.ref, entry)
                self._last = max(self._last, entry.ref)
        for ref in list(self._known)[: -2 * KEPT]:
            del self._known[ref]

    def _begin(self) -> int:
        """Take what is in the journal for known; the number of the newest entry."""
        newest = self._board.newest_entry()
        self._known = {each.ref: each.at for each in self._near(newest)}
        return newest

    def _is_set_back(self, found: list[JournalEntry], last: int) -> bool:
        """Whether the last entry is gone, and newer ones too, or a number means another entry."""
        if any(self._known.get(each.ref, each.at) != each.at for each in found):
            return True
        return all(each.ref != last for each in found) and self._board.newest_entry() < last

    def _tell(self, ref: int, entry: JournalEntry | None) -> None:
        self._place += 1
        self._recent.append(Arrived(self._place, ref, entry))

    def _near(self, last: int) -> list[JournalEntry]:
        return self._board.journal_since(max(0, last - LATE), KEPT)


def stream(news: News, after: int | None) -> EventSourceResponse:
    """All events from now on, and before them those behind an id."""
    return EventSourceResponse(_events(news, after), ping=15, send_timeout=10)


async def _events(news: News, after: int | None) -> AsyncIterator[ServerSentEvent]:
    try:
        try:
            place = await anyio.to_thread.run_sync(news.place)
            missed = await anyio.to_thread.run_sync(_replayed, news, after)
        except SextonError as trouble:
            yield _of_trouble(trouble)  # and the stream ends: whoever listens asks again
            return
        for event in missed:
            yield event
        yield ServerSentEvent(event="ready", data="{}", retry=AGAIN)
        etag = ""
        while not news.is_over:
            try:
                arrived = await anyio.to_thread.run_sync(news.since, place)
                snapshot = await anyio.to_thread.run_sync(news.activity.current)
            except SextonError as trouble:
                yield _of_trouble(trouble)
                await anyio.sleep(LOOK_EVERY)
                continue
            for each in arrived:
                place = each.place
                yield _of_arrived(each)
            if snapshot.etag != etag:
                etag = snapshot.etag
                yield ServerSentEvent(event="activity", data=_text({"etag": etag}))
            await anyio.sleep(LOOK_EVERY)
        yield ServerSentEvent(event="bye", data="{}")
    finally:
        news.leave()


def _replayed(news: News, after: int | None) -> list[ServerSentEvent]:
    if after is None:
        return []
    return [_of_arrived(each) for each in news.missed(after)]


def _of_arrived(arrived: Arrived) -> ServerSentEvent:
    """An entry; or that everything is to be looked at anew."""
    id = str(arrived.ref)
    if arrived.entry is None:
        return ServerSentEvent(event="reset", data="{}", id=id)
    return ServerSentEvent(event="journal", id=id, data=_text(journal_entry(arrived.entry)))


def _of_trouble(trouble: SextonError) -> ServerSentEvent:
    return ServerSentEvent(event="trouble", data=_text({"detail": str(trouble)}), retry=AGAIN)


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
