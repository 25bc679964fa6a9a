"""One turn of an agent in a session."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from contextvars import ContextVar
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

from sexton.core.schedule import Schedule
from sexton.core.session import Session
from sexton.errors import LedgerError, UsageInvalid
from sexton.sessions.handle import following
from sexton.sessions.model import Appended, WorkerUnknown
from sexton.sessions.turns import catch_up
from sexton.sessions.watermarks import look_back
from sexton.sessions.worker_context import Desk
from sexton.spending.model import Unit

if TYPE_CHECKING:
    from sexton.spending.grant import Grant
    from sexton.spending.guard import Guard
    from sexton.spending.tool_watch import ToolCall
    from sexton.spending.turn_spend import TurnSpend

NOBODY = ""
"""No worker has this id."""

_inside: ContextVar[tuple[Turn, ...]] = ContextVar("sexton_turns", default=())
"""The turns that the calling thread or task is inside of."""


class Turn:
    """Counts a turn and marks the session busy until the block ends, however it ends.

    If the conversation is compressed meanwhile, the turn goes on where it does. Whatever is
    called in it may raise `BudgetExceeded`; threads may share it.
    """

    def __init__(
        self,
        desk: Desk,
        session: Session,
        schedule: Callable[[datetime], Schedule],
        learn: Callable[[Session, Appended], None],
        guard: Guard,
    ) -> None:
        self._desk = desk
        self._session = session
        self._schedule = schedule
        self._learn = learn
        self._guard = guard
        self._pid = os.getpid()
        self._timeline = desk.membership.timeline
        self._spend: TurnSpend | None = None
        self._is_unheard = False

    def __enter__(self) -> Self:
        from sexton.spending.turn_spend import TurnSpend  # noqa: PLC0415  # when the first turn begins

        if self._spend is not None:
            raise UsageInvalid("the turn runs already", hint="Begin another one for each block.")
        self._desk.membership.ensure_present()  # a turn makes its worker a holder
        fenced = self._is_fenced()
        spend = TurnSpend(self._guard, lambda: self._session, self._moved, fenced=fenced)
        spend.enter()
        now = self._desk.clock.now()
        with self._desk.turns.moving():
            while (started := self._begun(now)) is None:
                if not self._moved():
                    raise self._desk.refusal(self._session)
            self._learn(self._session, started)
            self._spend = spend
            self._guard.before_turn()
            self._desk.turns.add(self)
        _inside.set((*_inside.get(), self))
        return self

    def reserve(
        self,
        *,
        input_tokens: int = 0,
        max_output_tokens: int = 0,
        cached_tokens: int = 0,
        reasoning_tokens: int = 0,
        model: str | None = None,
    ) -> Grant:
        """Room for one call of a model in every budget, before it is made.

        The first one is the iteration that the turn began with; each further one counts as one.
        """
        if self._pid != os.getpid():
            raise UsageInvalid("the turn belongs to the process that forked this one")
        amounts = {
            Unit.INPUT: input_tokens,
            Unit.OUTPUT: max_output_tokens,
            Unit.CACHED: cached_tokens,
            Unit.REASONING: reasoning_tokens,
        }
        return self._running().reserve(amounts, model)

    def tool(self, name: str, arguments: object = None) -> ToolCall:
        """A context manager around one call of a tool; raises `BreakerOpen` if tools are stopped.

        Of the arguments and the result only digests are kept.
        """
        from sexton.spending.tool_watch import ToolCall  # noqa: PLC0415  # not every agent has tools

        spend = self._running()
        return ToolCall(self._guard.watch(spend.watch), spend, name, arguments)

    def tools_stopped(self) -> str | None:
        """Why the breaker lets no call of a tool through now, or None; the ledger is not asked."""
        found = self._guard.watch(self._running().watch).stopped()
        return None if found is None else found.why

    def advice(self) -> str | None:
        """What to tell the model now, if anything; each advice is given once."""
        return self._guard.advice()

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
        spend, self._spend = self._spend, None
        if spend is None or self._pid != os.getpid():
            return  # it is over, or a forked child unwinds: the turn is its parent's
        _inside.set(tuple(turn for turn in _inside.get() if turn is not self))
        failed = isinstance(error, Exception)
        with ExitStack() as last:  # all of them, also where one fails; the last one first
            last.callback(self._catch_up)
            last.callback(self._end_if_due)
            last.callback(self._desk.turns.discard, self)
            last.callback(self._at_end, partial(self._finish, failed), partial(self._fail, failed))
            for grant in spend.close():
                last.callback(self._at_end, grant.finish, grant.finish)
            last.callback(self._at_end, spend.leave, None)

    def _at_end(self, job: Callable[[], object], late: Callable[[], object] | None) -> None:
        """Do something at the end of the turn; while the ledger is away, later in its place.

        What the turn did must not be hidden by an error of the ledger that comes after it.
        """
        if not self._is_unheard:
            try:
                job()
                return
            except LedgerError:
                self._is_unheard = True
        if late is not None:
            self._desk.turns.later(late)

    def _end_if_due(self) -> None:
        reason = self._guard.after_turn()
        if reason is not None:
            end = partial(self._guard.end, self._session, reason, forced=False)
            self._at_end(end, end)

    def _catch_up(self) -> None:
        """Try once more at once; if the ledger is still away, the heartbeat does it later."""
        if self._is_unheard:
            with suppress(LedgerError):
                catch_up(self._desk.turns, self._desk.ledger.workers, self._desk.worker)

    def _is_fenced(self) -> bool:
        """Whether it is over as soon as the session is not open under its epoch any more."""
        return True

    def _begun(self, now: datetime) -> Appended | None:
        """The same, unless the ledger was set back: also a turn that moved has to ask."""
        self._check_timeline()
        return self._start(now)

    def _start(self, now: datetime) -> Appended | None:
        """Count it, and mark the session busy; None if it is not there any more."""
        start, worker = self._desk.ledger.book.start_turn, self._desk.worker
        mark = self._desk.membership.watermarks.of_id(self._session.id)
        seen = mark.count if mark else 0
        try:
            return start(self._session, worker, self._schedule(now), now, seen)
        except WorkerUnknown:
            return None

    def _running(self) -> TurnSpend:
        spend = self._spend  # once: a signal handler may end the turn at any step
        if spend is None:
            raise UsageInvalid("the turn has not begun yet, or is over")
        self._check_timeline()
        return spend

    def _check_timeline(self) -> None:
        """SessionRewound if the ledger was set back since the turn was asked for."""
        if self._timeline != self._desk.membership.timeline:
            raise self._desk.rewound(self._session)

    def _finish(self, failed: bool) -> None:
        finish, snapshot = self._desk.ledger.book.finish_turn, self._guard.snapshot()
        with self._desk.turns.moving():
            self._desk.turns.discard(self)
            # The mark is where the conversation was when it was last compressed.
            while not finish(self._session, self._desk.worker, failed, snapshot) and self._moved():
                pass

    def _fail(self, failed: bool) -> None:
        """Note that the turn failed, and nothing else: nobody knows whether its end arrived."""
        if failed:
            self._desk.ledger.book.finish_turn(self._session, NOBODY, failed)

    def ref(self) -> int:
        """The session it runs in, by its row."""
        self._moved()
        return self._session.ref

    def is_company_in(self, session: Session) -> bool:
        """Whether it runs in the session, in another thread or task of this process."""
        if self in _inside.get() or self._pid != os.getpid():
            return False
        self._moved()
        return self._session.ref == session.ref

    def _moved(self) -> bool:
        tip = following(self._desk, self._session)
        if tip is not None:
            membership = self._desk.membership
            look_back(membership, membership.watermarks.of_id(self._session.id))
            self._session = tip
        return tip is not None
