"""Which turns run in this process, and may they go on?"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sexton.integrations.hermes_plugin import calls
from sexton.integrations.hermes_plugin.foresight import FIRST, Foreseen, Foresight
from sexton.integrations.hermes_plugin.guests import Guests
from sexton.integrations.hermes_plugin.plugin_beside import Beside, Spent, by_unit
from sexton.integrations.hermes_plugin.runs import Refused, Run
from sexton.integrations.hermes_plugin.trying import Trying, tell
from sexton.integrations.hermes_plugin.weighing import Length
from sexton.spending.grant import Grant
from sexton.spending.model import Unit
from sexton.spending.policy import SpendRules
from sexton.spending.tool_watch import ToolCall

Answer = Callable[[Any], Any]
REVIEW = "bg-review"
"""The thread in which Hermes looks back at a turn, under the id of its session."""
UNGUARDED = Refused(
    "Sexton cannot tell what this turn has spent, so it makes no call. The log of Hermes says why."
)


class Asked(NamedTuple):
    """A call of the model that is under way."""

    run: Run
    grant: Grant | None
    foreseen: Foreseen


class Place(NamedTuple):
    """Where something happens, as Hermes says with every hook."""

    session_id: str
    task_id: str
    turn_id: str
    platform: str

    @property
    def name(self) -> str:
        """What the turn is called here."""
        return self.turn_id or self.session_id


def _is_review() -> bool:
    return threading.current_thread().name == REVIEW


def _place(told: Mapping[str, Any]) -> Place:
    return Place(*(str(told.get(name) or "") for name in Place._fields))


class Turns:
    """The turns of this process, with what is under way in them."""

    def __init__(self, guests: Guests, trying: Trying, usual: Callable[[], SpendRules]) -> None:
        self._guests = guests
        self._trying = trying
        self._usual = usual
        self._lock = threading.RLock()
        self._foresight = Foresight()
        self._beside = Beside()
        self._runs: dict[str, Run] = {}
        self._tasks: dict[str, str] = {}
        self._tools: dict[tuple[str, str], ToolCall] = {}
        self._asked: dict[str, Asked] = {}
        self._unpriced: frozenset[str] = frozenset()

    def begin(self, **told: Any) -> None:
        """A turn begins."""
        place = _place(told)
        if place.session_id:
            run = self._begun(place)
            self._count_beside(run)
            if not (_is_review() or self._is_asking(run.session_id)):
                self._beside.hooked(run.session_id, is_hooked=False)
            self._hear(run)

    def progress(self, **told: Any) -> None:
        """A turn gets on."""
        place = _place(told)
        run = self._find(place)
        if run is None and place.session_id:
            run = self._begun(place)
        if run is not None:
            run.progress()

    def end(
        self, session_id: str = "", turn_id: str = "", completed: bool = True, **_: Any
    ) -> None:
        """A turn is over, or all those of its session."""
        with self._lock:
            over = [
                name
                for name, run in self._runs.items()
                if (name == turn_id if turn_id else run.session_id == session_id)
            ]
            runs = [self._runs.pop(name) for name in over]
            self._tasks = {task: name for task, name in self._tasks.items() if name not in over}
        # In place: others add to them without the lock.
        for id in [id for id, asked in list(self._asked.items()) if asked.run in runs]:
            self._asked.pop(id, None)
        for run in runs:
            self._count_beside(run)
            run.leave(completed=completed)
        if not turn_id:
            self._beside.forget(session_id)
            self._foresight.forget(session_id)
            self._guests.uncounted.close(session_id)
            self._trying(self._guests.catch_up, None)
            for at in [at for at in list(self._tools) if at[0] == session_id]:
                self._tools.pop(at, None)
        if session_id:
            self._trying(lambda: self._guests.tell(session_id), None)

    def before_tool(
        self,
        tool_name: str = "",
        args: Any = None,
        tool_call_id: str = "",
        **told: Any,
    ) -> Mapping[str, str] | None:
        """Let a tool be called, or say why not."""
        place = _place(told)
        refused = self._trying.surely(
            lambda: self._admit_tool(place, tool_name, args, tool_call_id),
            lambda: self._run(place).alone({Unit.TOOL_CALLS: 1}),
            last=UNGUARDED,
        )
        return refused and {"action": "block", "message": f"[sexton] {refused.words}"}

    def _admit_tool(
        self, place: Place, name: str, arguments: object, tool_call_id: str
    ) -> Refused | None:
        run = self._find(place)
        if run is None:
            return None
        call = run.before_tool(name, arguments)
        if isinstance(call, Refused):
            return call
        if call is not None:
            self._tools[run.session_id, tool_call_id or name] = call
        return None

    def after_tool(
        self,
        tool_name: str = "",
        tool_call_id: str = "",
        result: Any = None,
        status: str | None = None,
        **told: Any,
    ) -> None:
        """Take in how a tool did."""
        run = self._find(_place(told))
        if run is None:
            return
        if told.get("session_id"):  # what a program of the model calls is no message
            self._hear(run)
        call = self._tools.pop((run.session_id, tool_call_id or tool_name), None)
        if call is not None:
            failure = calls.excerpt(result) if calls.has_failed(status, result) else None
            run.after_tool(call, tool_name, failure, result)

    def advised(self, result: Any = None, **told: Any) -> Any:
        """The result of a tool with what the model is to be told, if there is anything."""
        run = self._find(_place(told))
        turn = None if run is None else run.turn
        advice = None if turn is None else turn.advice()
        return f"{result}\n\n[sexton] {advice}" if advice and isinstance(result, str) else None

    def around_model(
        self,
        request: Any = None,
        next_call: Answer = lambda _: None,
        api_request_id: str = "",
        model: str = "",
        api_mode: str = "",
        **told: Any,
    ) -> Any:
        """Ask the model, if every budget has room for that; else answer in its place."""
        place = _place(told)
        refused = self._trying.surely(
            lambda: self._admit(place, request, api_request_id, model),
            lambda: self._admit_alone(place, api_request_id, model),
            last=UNGUARDED,
        )
        if refused is not None:
            return calls.answer(f"[sexton] {refused.words}", model, api_mode)
        try:
            return next_call(request)
        except BaseException:
            self._release(api_request_id)
            raise

    def _admit(
        self, place: Place, request: object, api_request_id: str, model: str
    ) -> Refused | None:
        self._release(api_request_id)  # a request that is made again got no answer before
        run = self._find(place) or self._begun(place)
        self._count_beside(run)
        if _is_review() and (stopped := run.stopped()) is not None:
            return stopped
        asked = request if isinstance(request, Mapping) else {}
        foreseen = self._foresight.of(asked, model, run.session_id)
        granted = run.reserve(foreseen, model)
        if isinstance(granted, Refused):
            return granted
        self._asked[api_request_id] = Asked(run, granted, foreseen)
        self._tell_unpriced(run)
        if not _is_review():  # Hermes counts its calls in no row
            self._beside.hooked(run.session_id, is_hooked=True)
        return None

    def _admit_alone(self, place: Place, api_request_id: str, model: str) -> Refused | None:
        if api_request_id in self._asked:  # it was granted before something went wrong
            return None
        run = self._run(place)
        wanted = {Unit.ITERATIONS: 1, Unit.INPUT: 1, Unit.OUTPUT: FIRST}
        refused = run.alone(wanted, model)
        if refused is None:
            self._asked[api_request_id] = Asked(run, None, Foreseen(1, FIRST, Length(0, 0)))
        return refused

    def after_model(
        self, api_request_id: str = "", model: str = "", usage: Any = None, **_: Any
    ) -> None:
        """Count what a call has used; where nobody says, what was foreseen."""
        asked = self._asked.pop(api_request_id, None)
        if asked is None:
            return
        run, grant, foreseen = asked
        used = calls.used(usage)
        is_said = any(used.values())
        if not is_said:
            used |= {"input_tokens": foreseen.sent, "output_tokens": foreseen.answered}
        run.used(by_unit(used), model, is_granted=grant is not None)
        if grant is not None:
            # A grant that never learns what was used gives all of it back when its turn ends.
            self._trying(lambda: grant.commit(**used), None, rests=False)
        if is_said:
            sent = used["input_tokens"] + used["cached_tokens"]
            answered = used["output_tokens"] + used["reasoning_tokens"]
            self._foresight.learn(model, run.session_id, foreseen.length, sent, answered)
        self._hear(run)

    def session_of(self, task_id: str) -> str:
        """The session whose turn is under way as that task: a program of it names no session."""
        with self._lock:
            run = self._runs.get(self._tasks.get(task_id, ""))
        return "" if run is None else run.session_id

    def _find(self, place: Place) -> Run | None:
        """The turn that is meant: by its own id, its task, or its session alone."""
        with self._lock:
            task = self._tasks.get(place.task_id, "")
            found = self._runs.get(place.name) or self._runs.get(task)
            found = found or self._newest(place.session_id)
        if found is not None and place.session_id not in ("", found.session_id):
            found.move(place.session_id)  # its conversation was compressed into another row
        return found

    def _newest(self, session_id: str) -> Run | None:
        same = [run for run in self._runs.values() if session_id and run.session_id == session_id]
        return same[-1] if same else None

    def _begun(self, place: Place) -> Run:
        """A turn that has just begun; what the same thread left of another one is over."""
        run = self._new(place)
        with self._lock:
            known = self._runs.get(place.name)
            if known is not None:
                return known
            left = [
                other
                for other, each in self._runs.items()
                if (each.session_id, each.thread) == (place.session_id, run.thread)
            ]
            over = [self._runs.pop(other) for other in left]
            self._runs[place.name] = run
            if place.task_id:
                self._tasks[place.task_id] = place.name
        for each in over:
            each.leave(completed=False)
        run.begin()
        return run

    def _run(self, place: Place) -> Run:
        """The turn of a place, begun in this process alone if nobody knows it."""
        with self._lock:
            known = self._runs.get(place.name)
            if known is None:
                known = self._runs[place.name] = self._new(place)
            return known

    def _new(self, place: Place) -> Run:
        return Run(place.session_id, place.platform, self._guests, self._trying, self._rules)

    def _rules(self) -> SpendRules:
        """What bounds turns, as far as this process knows."""
        with self._lock:
            turns = [run.turn for run in self._runs.values()]
        known = [turn.rules() for turn in turns if turn is not None]
        return known[-1] if known else self._usual()

    def _release(self, api_request_id: str) -> None:
        asked = self._asked.pop(api_request_id, None)
        grant = None if asked is None else asked.grant
        if grant is not None:
            self._trying(grant.release, None)

    def _hear(self, run: Run) -> None:
        if not _is_review():  # what it says is stored nowhere
            run.heard()

    def _is_asking(self, session_id: str) -> bool:
        """Whether a call of the model that a hook told of is under way in a session."""
        return any(each.run.session_id == session_id for each in list(self._asked.values()))

    def _count_beside(self, run: Run) -> None:
        nothing: Spent = []
        run.beside(self._trying(lambda: self._beside.fresh(run.session_id), nothing))

    def _tell_unpriced(self, run: Run) -> None:
        """Say once for each model that its money is not bounded."""
        found = run.unpriced()
        for model in sorted(found - self._unpriced):
            tell(f"sexton does not bound money: the price of the model {model} is unknown")
        self._unpriced |= found
