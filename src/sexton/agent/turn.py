"""One turn of an agent in a session."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime
from types import TracebackType

from sexton.agent.desk import Desk
from sexton.agent.following import following
from sexton.model.schedule import Schedule
from sexton.model.session import Session
from sexton.ports import Appended

_inside: ContextVar[tuple[Turn, ...]] = ContextVar("sexton_turns", default=())
"""The turns that the calling thread or task is inside of."""


class Turn:
    """Counts a turn and marks the session busy until the block ends, however it ends.

    If the conversation is compressed meanwhile, the turn goes on where it does.
    """

    def __init__(
        self,
        desk: Desk,
        session: Session,
        schedule: Callable[[datetime], Schedule],
        learn: Callable[[Appended], None],
    ) -> None:
        self._desk = desk
        self._session = session
        self._schedule = schedule
        self._learn = learn
        self._pid = os.getpid()

    def __enter__(self) -> Turn:
        self._desk.membership.ensure_present()  # a turn makes its worker a holder
        now = self._desk.clock.now()
        start, worker = self._desk.ledger.book.start_turn, self._desk.worker
        started = start(self._session, worker, self._schedule(now), now)
        while started is None:
            if not self._moved():
                raise self._desk.refusal(self._session)
            started = start(self._session, worker, self._schedule(now), now)
        self._learn(started)
        self._desk.turns.add(self)
        _inside.set((*_inside.get(), self))
        return self

    def progress(self) -> None:
        """Say that the turn gets on although it writes nothing; a silent one is shown stalled."""
        self._moved()
        now = self._desk.clock.now()
        self._desk.ledger.reaping.progress(self._session.ref, self._desk.worker, now)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pid != os.getpid():
            return  # a forked child that unwinds: the turn is its parent's
        self._desk.turns.discard(self)
        _inside.set(tuple(turn for turn in _inside.get() if turn is not self))
        failed = isinstance(error, Exception)
        finish = self._desk.ledger.book.finish_turn
        # The mark is where the conversation was when it was last compressed.
        while not finish(self._session.ref, self._desk.worker, failed) and self._moved():
            pass

    def is_company_in(self, session: Session) -> bool:
        """Whether it runs in the session, in another thread or task of this process."""
        if self in _inside.get() or self._pid != os.getpid():
            return False
        self._moved()
        return self._session.ref == session.ref

    def _moved(self) -> bool:
        tip = following(self._desk, self._session)
        self._session = tip or self._session
        return tip is not None
