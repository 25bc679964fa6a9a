"""May one turn of Hermes go on?

The ledger says so. Where it can not, the turn is bounded by what it has spent itself; and whatever
ended the session, nothing more is done in its name until the turn is over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from enum import Enum
from typing import NamedTuple, TypeVar

from sexton.errors import BreakerOpen, BudgetExceeded, HomeNotFound, SessionError, SextonError
from sexton.integrations.hermes_plugin import plugin_stopping as stopping
from sexton.integrations.hermes_plugin.bounded import OwnCount
from sexton.integrations.hermes_plugin.foresight import Foreseen
from sexton.integrations.hermes_plugin.guests import ANEW, Guests
from sexton.integrations.hermes_plugin.trying import Trying
from sexton.liveness.policy import UNATTENDED
from sexton.sessions.visiting import GuestSession, GuestTurn, Visitor
from sexton.spending.grant import Grant
from sexton.spending.model import Unit
from sexton.spending.policy import SpendRules
from sexton.spending.tool_watch import Stop, ToolCall

T = TypeVar("T")
SUBAGENT = "subagent"
COUNTED_BY_CALL = (Unit.ITERATIONS, Unit.TOOL_CALLS)
"""What a call is one of; its tokens are counted when it has its answer."""


class Away(Enum):
    """The ledger can not say."""

    AWAY = "away"


class Refused(NamedTuple):
    """Why something is not to be done, in words for the user."""

    words: str


class Run:
    """One turn of Hermes, which may be one of several in its session."""

    def __init__(
        self,
        session_id: str,
        source: str,
        guests: Guests,
        trying: Trying,
        rules: Callable[[], SpendRules],
    ) -> None:
        self.session_id = session_id
        self.thread = threading.get_ident()
        self._source = source
        self._guests = guests
        self._trying = trying
        self._rules = rules
        self._lock = threading.RLock()
        self._count = OwnCount(trying.clock)
        self._turn: GuestTurn | None = None
        self._visitor: Visitor | None = None
        self._guest: GuestSession | None = None
        self._over: str | None = None
        self._are_tools_stopped = False

    @property
    def turn(self) -> GuestTurn | None:
        """The turn in the ledger, once there is one; one in a ledger that is gone is nobody's."""
        if self._turn is not None and self._visitor is not self._guests.visitor:
            self._turn = None
        return self._turn

    def unpriced(self) -> frozenset[str]:
        """The models whose price nobody knows, so that their money is not bounded."""
        turn = self.turn
        return frozenset(self._count.unpriced) | (turn.unpriced() if turn else frozenset())

    def begin(self) -> None:
        """Hold the session, if that can be: its row may come with its first message only."""
        self._guarded(lambda _: None)

    def move(self, session_id: str) -> None:
        """The turn goes on under another id: the row that it leaves was compressed."""
        self.leave(completed=True)
        before, self.session_id = self.session_id, session_id
        self._trying(lambda: self._guests.tell(before), None)
        for model, amounts in self._guests.uncounted.take(before).items():
            self._guests.uncounted.add(session_id, model, amounts)

    def progress(self) -> None:
        """The turn gets on."""
        turn = self.turn
        if turn is not None:
            self._trying(turn.progress, None)

    def reserve(self, foreseen: Foreseen, model: str) -> Grant | Refused | None:
        """Room for one call of the model, or why it is not made; None: the turn's own count."""
        if self._are_tools_stopped and (refused := self.stopped()) is not None:
            return refused
        self._catch_up()
        granted = self._guarded(
            lambda turn: turn.reserve(
                input_tokens=foreseen.sent,
                max_output_tokens=foreseen.answered,
                model=model or None,
            )
        )
        if isinstance(granted, Refused):
            return granted
        if granted is Away.AWAY:
            wanted = {
                Unit.ITERATIONS: 1,
                Unit.INPUT: foreseen.sent,
                Unit.OUTPUT: foreseen.answered,
            }
            if (refused := self._bounded(wanted, model)) is not None:
                return refused
        self._count.add({Unit.ITERATIONS: 1})
        return None if granted is Away.AWAY else granted

    def alone(self, wanted: Mapping[Unit, int], model: str | None = None) -> Refused | None:
        """Why so much is not done where the ledger could not even be asked."""
        if self._over is not None:
            return Refused(self._over)
        refused = self.stopped() if self._are_tools_stopped else None
        refused = refused or self._bounded(wanted, model)
        if refused is None:
            self._count.add({unit: 1 for unit in wanted if unit in COUNTED_BY_CALL})
        return refused

    def used(self, amounts: Mapping[Unit, int], model: str, *, is_granted: bool) -> None:
        """A call of the model took so much; what nobody granted the ledger learns of later."""
        self._count.add(amounts, model)
        if not is_granted:
            self._guests.uncounted.add(self.session_id, model, amounts)

    def beside(self, spent: Iterable[tuple[str, Mapping[Unit, int]]]) -> None:
        """Count what Hermes has asked models beside the conversation."""
        for model, amounts in spent:
            self.used(amounts, model, is_granted=False)
        self._catch_up()

    def _catch_up(self) -> None:
        """Let the ledger know of what it did not grant, in this turn or an earlier one."""
        for model, amounts in self._guests.uncounted.take(self.session_id).items():
            told = self._guarded(lambda turn, m=model, a=amounts: turn.beside(a, m))  # type: ignore[misc]
            if told is not None:  # nobody counted it
                self._guests.uncounted.add(self.session_id, model, amounts)

    def heard(self, messages: int = 1) -> None:
        """Hermes stores messages of the turn; a review of it stores none."""
        self._count.add({Unit.MESSAGES: messages})
        turn, guest = self.turn, self._guest
        if turn is not None and guest is not None and not self._over:
            self._trying(lambda: turn.heard(messages, guest.grown(messages)), None)

    def before_tool(self, name: str, arguments: object) -> ToolCall | Refused | None:
        """Let a tool be called, or say why not; None: the turn's own count lets it."""
        call = self._guarded(lambda turn: turn.tool(name, arguments).__enter__())
        if isinstance(call, Refused):
            return call
        if call is Away.AWAY and (refused := self._bounded({Unit.TOOL_CALLS: 1})) is not None:
            return refused
        self._count.add({Unit.TOOL_CALLS: 1})
        return None if call is Away.AWAY else call

    def after_tool(self, call: ToolCall, name: str, failure: str | None, result: object) -> None:
        """Take in how a tool did."""
        self._trying(lambda: call.ok(result) if failure is None else call.error(result), None)
        if (turn := self.turn) is not None:
            with suppress(SextonError):
                turn.remember("" if failure is None else f"{name} said last: {failure}")
        self._are_tools_stopped |= self._stop() is not None

    def leave(self, *, completed: bool) -> None:
        """The turn is over."""
        turn, self._turn = self.turn, None
        if turn is None:
            return
        trouble = None if completed else RuntimeError("the turn was not completed")
        with suppress(SextonError, OSError):  # what it can not tell the ledger now, it tells later
            turn.__exit__(None if trouble is None else RuntimeError, trouble, None)

    def _guarded(self, act: Callable[[GuestTurn], T]) -> T | Refused | Away:
        """What comes of it in the turn of the ledger, why it is refused, or that nobody knows."""
        if self._over is not None:
            return Refused(self._over)
        away: T | Refused | Away = Away.AWAY
        come = self._trying(lambda: self._attempt(act), away)
        if come is not Away.AWAY:
            self._trying.answered()
            self._trying(self._guests.catch_up, None)
        return come if self._over is None else Refused(self._over)

    def _attempt(self, act: Callable[[GuestTurn], T]) -> T | Refused | Away:
        for _ in range(2):
            was_held = self.turn is not None
            try:
                turn = self._entered()
                return self._ended_above() or act(turn)
            except HomeNotFound:
                return Away.AWAY
            except (BudgetExceeded, BreakerOpen) as refused:
                self._are_tools_stopped |= isinstance(refused, BreakerOpen)
                self._end_if_ended(str(refused))
                return Refused(str(refused))
            except SessionError as lost:
                self.leave(completed=False)
                words = ". ".join([str(lost), *filter(None, [ANEW.get(self._source)])])
                if self._end_if_ended(words, was_held=was_held):
                    return Refused(words)
        return Away.AWAY  # Hermes goes on with what has ended, for whatever reason it did

    def _ended_above(self) -> Refused | None:
        """A subagent does nothing more once a session that it works for was ended for good."""
        visitor = self._guests.visitor
        if self._source != SUBAGENT or visitor is None:
            return None
        above = visitor.ended_above(self.session_id)
        if above is None:
            return None
        self._over = f"the session {above.id}, for which this one works, ended {above.end_reason}"
        self.leave(completed=False)
        self._guests.settle(self.session_id, above.end_reason)
        return Refused(self._over)

    def _entered(self) -> GuestTurn:
        with self._lock:
            turn = self.turn
            if turn is None:
                guest = self._guests.hold(self.session_id)
                self._guest, self._source = guest, guest.source
                turn = guest.turn()
                turn.__enter__()
                self._turn, self._visitor = turn, self._guests.visitor
            return turn

    def _end_if_ended(self, words: str, *, was_held: bool = True) -> bool:
        """Do nothing more in the name of a session that has ended in its turn, or for good."""
        visitor = self._guests.visitor
        reason = None if visitor is None else visitor.ended(self.session_id)
        if visitor is None or reason is None:
            return False
        if not (was_held or visitor.is_over(self.session_id)):
            return False
        self._over = words
        if self._source in UNATTENDED:
            self._guests.settle(self.session_id, reason)
        return True

    def _bounded(self, wanted: Mapping[Unit, int], model: str | None = None) -> Refused | None:
        words = self._count.refusal(self._rules(), self._source, wanted, model)
        if words is None:
            return None
        if self._source in UNATTENDED:
            self._over = words
        return Refused(words)

    def _stop(self) -> Stop | None:
        """Why the breaker lets no tool through now; that is in memory, with or without a ledger."""
        turn = self.turn
        with suppress(SextonError):
            return None if turn is None else turn.stop()
        return None

    def stopped(self) -> Refused | None:
        """While tools are stopped there is nothing for a model to do: the user is told at once."""
        stop = self._stop()
        if stop is None and self._over is None:
            self._are_tools_stopped = False  # they have rested: one more may be tried
            return None
        words = self._over if stop is None else stopping.words(stop)
        assert words is not None
        self._trying(lambda: self._end_if_ended(words), None)
        if self._source in UNATTENDED:
            self._over = self._over or words
        return Refused(words)
