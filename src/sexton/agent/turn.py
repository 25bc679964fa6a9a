"""One turn of an agent in a session."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from types import TracebackType

from sexton.agent.desk import Desk
from sexton.model.schedule import Schedule
from sexton.model.session import Session
from sexton.ports import Appended


class Turn:
    """Counts a turn and marks the session busy until the block ends, however it ends."""

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
        started = self._desk.ledger.book.start_turn(
            self._session, self._desk.worker, self._schedule(now), now
        )
        if started is None:
            raise self._desk.refusal(self._session)
        self._learn(started)
        return self

    def progress(self) -> None:
        """Say that the turn gets on although it writes nothing; a silent one is shown stalled."""
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
        failed = isinstance(error, Exception)
        self._desk.ledger.book.finish_turn(self._session.ref, self._desk.worker, failed)
