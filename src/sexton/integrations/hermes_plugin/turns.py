"""Which turns run in this process, and may they go on?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from sexton.agent.grant import Grant
from sexton.agent.tools import ToolCall
from sexton.agent.turn import Turn
from sexton.errors import BreakerOpen, BudgetExceeded, HomeNotFound, SessionError
from sexton.integrations.hermes_plugin import calls
from sexton.integrations.hermes_plugin.guests import Guests
from sexton.integrations.hermes_plugin.trying import Trying

Answer = Callable[[Any], Any]
Granted = tuple[Grant | None, str | None]

_UNGUARDED: Granted = (None, None)


class Turns:
    """The turns of this process by session, with what is under way in them."""

    def __init__(self, guests: Guests, trying: Trying) -> None:
        self._guests = guests
        self._trying = trying
        self._lock = threading.Lock()
        self._turns: dict[str, Turn] = {}
        self._refused: dict[str, str] = {}
        self._tools: dict[tuple[str, str], ToolCall] = {}
        self._grants: dict[str, Grant] = {}
        self._sessions: dict[str, str] = {}

    def begin(self, session_id: str = "", task_id: str = "", **_: Any) -> None:
        """A turn begins; one that a budget has no room for is answered without a model."""
        if task_id:
            self._sessions[task_id] = session_id
        if session_id and session_id not in self._turns:
            self._trying(lambda: self._begin(session_id), None)

    def progress(self, session_id: str = "", **told: Any) -> None:
        """A turn gets on."""
        if session_id not in self._turns:
            self.begin(session_id, **told)
        turn = self._turns.get(session_id)
        if turn is not None:
            self._trying(turn.progress, None)

    def end(self, session_id: str = "", completed: bool = True, **_: Any) -> None:
        """A turn is over."""
        turn = self._turns.pop(session_id, None)
        self._refused.pop(session_id, None)
        if turn is not None:
            trouble = None if completed else RuntimeError("the turn was not completed")
            self._trying(
                lambda: turn.__exit__(None if trouble is None else RuntimeError, trouble, None),
                None,
            )
        if session_id:
            self._trying(lambda: self._guests.tell(session_id), None)

    def before_tool(
        self,
        tool_name: str = "",
        args: Any = None,
        session_id: str = "",
        task_id: str = "",
        tool_call_id: str = "",
        **_: Any,
    ) -> Mapping[str, str] | None:
        """Let a tool be called, or say why not."""
        session = session_id or self._sessions.get(task_id, "")
        turn = self._turns.get(session)
        if turn is None:
            return None
        call = turn.tool(tool_name, args)
        refused = self._trying(lambda: _refusal(call), None)
        if refused is not None:
            return {"action": "block", "message": f"[sexton] {refused}"}
        self._tools[session, tool_call_id or tool_name] = call
        return None

    def after_tool(
        self,
        tool_name: str = "",
        session_id: str = "",
        task_id: str = "",
        tool_call_id: str = "",
        result: Any = None,
        status: str | None = None,
        **_: Any,
    ) -> None:
        """Take in how a tool did."""
        session = session_id or self._sessions.get(task_id, "")
        call = self._tools.pop((session, tool_call_id or tool_name), None)
        if call is not None:
            finish = call.error if calls.has_failed(status, result) else call.ok
            self._trying(lambda: finish(result), None)

    def advised(self, session_id: str = "", task_id: str = "", result: Any = None, **_: Any) -> Any:
        """The result of a tool with what the model is to be told, if there is anything."""
        turn = self._turns.get(session_id or self._sessions.get(task_id, ""))
        advice = None if turn is None else turn.advice()
        return f"{result}\n\n[sexton] {advice}" if advice and isinstance(result, str) else None

    def around_model(
        self,
        request: Any = None,
        next_call: Answer = lambda _: None,
        session_id: str = "",
        api_request_id: str = "",
        model: str = "",
        api_mode: str = "",
        **_: Any,
    ) -> Any:
        """Ask the model, if every budget has room for that; else answer in its place."""
        refused = self._refused.get(session_id)
        if refused is None and (turn := self._turns.get(session_id)) is not None:
            grant, refused = self._trying(lambda: _reserve(turn, request, model), _UNGUARDED)
            if grant is not None:
                return self._ask(grant, api_request_id, lambda: next_call(request))
        if refused is None or api_mode not in calls.STREAMED:
            return next_call(request)
        return calls.answer(f"[sexton] {refused}", model)

    def after_model(self, api_request_id: str = "", usage: Any = None, **_: Any) -> None:
        """Count what a call has used."""
        grant = self._grants.pop(api_request_id, None)
        if grant is not None:
            self._trying(lambda: grant.commit(**calls.used(usage)), None)

    def _ask(self, grant: Grant, api_request_id: str, ask: Callable[[], Any]) -> Any:
        self._grants[api_request_id] = grant
        try:
            return ask()
        except BaseException:
            self._grants.pop(api_request_id, None)
            self._trying(grant.release, None)
            raise

    def _begin(self, session_id: str) -> None:
        try:
            turn = self._guests.hold(session_id).turn()
        except HomeNotFound:
            return  # its row comes with its first message
        except SessionError as ended:
            self._refused[session_id] = str(ended)
            return
        try:
            turn.__enter__()
        except (BudgetExceeded, SessionError) as refused:
            self._refused[session_id] = str(refused)
        else:
            with self._lock:
                self._turns[session_id] = turn


def _refusal(call: ToolCall) -> str | None:
    try:
        call.__enter__()
    except (BreakerOpen, BudgetExceeded, SessionError) as refused:
        return str(refused)
    return None


def _reserve(turn: Turn, request: Any, model: str) -> Granted:
    sent, most = calls.foreseen(request if isinstance(request, Mapping) else {})
    try:
        grant = turn.reserve(input_tokens=sent, max_output_tokens=most, model=model or None)
    except (BudgetExceeded, SessionError) as refused:
        return None, str(refused)
    return grant, None
