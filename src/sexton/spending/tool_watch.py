"""How do the tools of a session do, and may another one be called?"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from types import TracebackType
from typing import NamedTuple, Protocol

from sexton.core.locks import shared_lock
from sexton.core.machine_ports import Clock
from sexton.core.record import replace
from sexton.core.session import check_name
from sexton.errors import BreakerOpen, SextonError, UsageInvalid
from sexton.spending import breaker, loop_detection
from sexton.spending.digests import digest, digest_of_arguments
from sexton.spending.policy import BreakerPolicy


class Watched(Protocol):
    """Who is asked before a call and told what opened the breaker.

    A turn is; a test of the breaker alone stands in for one.
    """

    def before_tool(self) -> None:
        """Refuse the call if a budget has no room for it."""

    def tell(self, advice: str) -> None:
        """Keep what the model is to be told."""

    def stopped(self, code: str, why: str) -> None:
        """Tools are stopped now."""


class Stop(NamedTuple):
    """Why tools are stopped, which ones failed, until when, and what the last one said if known."""

    why: str
    tools: tuple[str, ...]
    until: datetime
    failure: str


class ToolWatch:
    """The breaker and the trail of one session in this process; exact under any threads."""

    def __init__(self, clock: Clock, policy: Callable[[], BreakerPolicy]) -> None:
        self._clock = clock
        self._policy = policy
        self._lock = shared_lock()
        self._breaker = breaker.CLOSED
        self._trail = loop_detection.Trail()
        self._step = 0
        self._stored = ""
        self._failure = ""

    def admit(self) -> float | None:
        """Let a call through, or BreakerOpen; of many that try again together one gets through.

        That one is told when it did: what it says when it is done decides, and nobody else.
        """
        with self._lock:
            policy, now = self._policy(), self._clock.monotonic()
            admitted = breaker.admit(self._breaker, policy, now)
            if admitted is not None:
                self._breaker = admitted
                return admitted.probed_at
            left = breaker.closed_until(self._breaker, policy) - now
            why = self._breaker.why
        refused = BreakerOpen(f"tools are stopped for {left:.0f} s: {why}")
        refused.until = self._clock.now() + timedelta(seconds=left)
        raise refused

    def stopped(self) -> Stop | None:
        """Why no call gets through now and until when, or None."""
        with self._lock:
            state = self._breaker
            left = breaker.closed_until(state, self._policy()) - self._clock.monotonic()
            if state.opened_at is None or left <= 0:
                return None
            until = self._clock.now() + timedelta(seconds=left)
            return Stop(state.why, state.tools, until, self._failure)

    def remember(self, failure: str) -> None:
        """Keep in memory how the last call failed, for the user; empty if it worked."""
        with self._lock:
            if failure or self._breaker.opened_at is None:  # one that began before opens nothing
                self._failure = failure

    def done(
        self, call: loop_detection.Call, failed: bool, by: Watched, probe: float | None = None
    ) -> None:
        """Take in how a call went, and say what follows from it."""
        with self._lock:
            policy, now = self._policy(), self._clock.monotonic()
            was_open = self._breaker.opened_at is not None
            if was_open and (probe is None or probe != self._breaker.probed_at):
                return  # it began before tools were stopped
            self._breaker = (
                breaker.failed(self._breaker, call.tool, policy, now)
                if failed
                else breaker.succeeded(self._breaker)
            )
            self._trail = loop_detection.after(self._trail, call)
            advice = breaker.warning(self._breaker, policy) if failed else None
            code = "tool_errors"
            repeated = self._repeated(policy, now)
            if repeated is not None:
                advice, code = repeated, "repetition"
            opened = not was_open and self._breaker.opened_at is not None
            why = self._breaker.why
        if advice is not None:
            by.tell(advice)
        if opened:
            by.stopped(code, why)

    def _repeated(self, policy: BreakerPolicy, now: float) -> str | None:
        """What to tell the model when it has gone a step further in going round in circles."""
        found, steps = loop_detection.repetition(self._trail), len(policy.warn_at)
        before = self._step
        self._step = breaker.level(found.weight, policy.warn_at) if found else 0
        if found is None or self._step <= before:
            return None
        step = self._step
        if step == steps and found.stops:
            why = f"{found.what}, {found.times} times"
            self._breaker = breaker.opened(self._breaker, why, now)
            self._trail, self._step = loop_detection.Trail(), 0  # whoever may try again begins anew
        return loop_detection.words(found, step, steps)

    def snapshot(self) -> str | None:
        """How the tools do, as short text; None if that is stored already."""
        with self._lock:
            state, trail = self._breaker, self._trail
            until = None
            if state.opened_at is not None:
                left = breaker.closed_until(state, self._policy()) - self._clock.monotonic()
                until = round(self._clock.now().timestamp() + left)
            seen = [trail.last, trail.cycles, trail.same_tool, trail.same_result]
            text = json.dumps([state.errors, state.tools, until, state.why, seen])
            if text in (self._stored, _NOTHING):
                return None
            self._stored = text
            return text

    def restore(self, stored: str | None) -> None:
        """Go on where another process left off."""
        if not stored:
            return
        try:
            errors, tools, until, why, (last, cycles, *same) = json.loads(stored)
            trail = loop_detection.Trail(
                tuple(loop_detection.Call(*call) for call in last), tuple(map(int, cycles)), *same
            )
            found = loop_detection.repetition(trail)
            known = breaker.Breaker(errors=int(errors), tools=tuple(map(str, tools)), why=str(why))
            until = until if until is None else float(until)
        except (ValueError, TypeError):
            return  # of what is damaged nothing is known
        with self._lock:
            opened = None
            if until is not None:
                rest = self._policy().cool_down.total_seconds()
                left = until - self._clock.now().timestamp()
                # A clock that was put back keeps nobody waiting for longer than the rest.
                opened = self._clock.monotonic() + min(left, rest) - rest
            self._breaker = replace(known, opened_at=opened)
            self._trail = trail
            self._step = breaker.level(found.weight, self._policy().warn_at) if found else 0
            self._stored = stored


_NOTHING = json.dumps([0, (), None, "", [(), (0,) * loop_detection.LONGEST, 0, 0]])


class ToolCall:
    """One call of a tool: leaving it without a word means that it worked, by an error that not."""

    def __init__(self, watch: ToolWatch, by: Watched, name: str, arguments: object) -> None:
        self._watch = watch
        self._by = by
        self._name = check_name("tool", name)
        self._arguments = arguments
        self._over = False
        self._probe: float | None = None

    def __enter__(self) -> ToolCall:
        if self._over:
            raise UsageInvalid("the call of the tool is over", hint="Begin another one for each.")
        self._probe = self._watch.admit()
        self._by.before_tool()
        return self

    def ok(self, result: object = None) -> None:
        """It worked; of the result only a digest is kept."""
        self._finish(digest(result), failed=False)

    def error(self, text: object) -> None:
        """It failed; of the error only a digest is kept."""
        self._finish(f"!{digest(text)}", failed=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._over:
            return
        if error is None:
            self.ok()
        elif isinstance(error, Exception) and not isinstance(error, SextonError):
            self.error(error)  # what Sexton refuses is no fault of the tool

    def _finish(self, result: str, *, failed: bool) -> None:
        if self._over:
            return  # the first word counts
        self._over = True
        call = loop_detection.Call(self._name, digest_of_arguments(self._arguments), result)
        self._watch.done(call, failed, self._by, self._probe)
