"""Do at every step of a call what a signal handler could do there: raise an exception, or work."""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator
from itertools import count
from types import CodeType, FrameType
from typing import Any

MOST_STEPS = 20_000
# The interpreter runs signal handlers after these instructions only. No exception of a handler can
# come between two others, for instance between the last step of a `with` block and its exit.
_CHECKED = {"RESUME", "JUMP_BACKWARD", "CALL", "CALL_KW", "CALL_FUNCTION_EX"}


class Interrupt(BaseException):
    """Raised as by a signal handler; a base exception, as KeyboardInterrupt is."""


def interrupted_at_every_step(act: Callable[[], object]) -> Iterator[Interrupt | None]:
    """Run `act` again and again, interrupted one step later each time, until it runs to its end.

    Yields after each run the exception that came out; None if `act` survived it.
    """
    return at_every_step(act, meanwhile=_raise)


def at_every_step(
    act: Callable[[], object], *, meanwhile: Callable[[], object]
) -> Iterator[Interrupt | None]:
    """The same with something else that the handler does."""
    for step in count(1):
        assert step < MOST_STEPS
        came_out, was_reached = _interrupted(act, step, meanwhile)
        if not was_reached:
            return
        yield came_out


def _raise() -> None:
    raise Interrupt


def _interrupted(
    act: Callable[[], object], step: int, meanwhile: Callable[[], object]
) -> tuple[Interrupt | None, bool]:
    trace, before, came_out = _Trace(step, meanwhile), sys.gettrace(), None
    hook, sys.unraisablehook = sys.unraisablehook, _ignore
    sys.settrace(trace)
    try:
        act()
    except Interrupt as problem:
        came_out = problem
    finally:
        sys.settrace(before)
        sys.unraisablehook = hook
    return came_out, trace.left <= 0


def _ignore(_: Any) -> None:
    """An exception in a destructor comes out nowhere; nobody needs to read of it."""


class _Trace:
    """A trace function that does something once, at the given step."""

    def __init__(self, step: int, meanwhile: Callable[[], object]) -> None:
        self.left = step
        self._meanwhile = meanwhile

    def __call__(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename == __file__:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        names, is_checked = _names(frame.f_code), False

        def local(frame: FrameType, event: str, _argument: Any) -> Any:
            nonlocal is_checked
            if event == "opcode":
                if is_checked:
                    self._step()
                is_checked = names.get(frame.f_lasti) in _CHECKED
            return local

        return local

    def _step(self) -> None:
        self.left -= 1
        if self.left == 0:
            self._meanwhile()


_known: dict[CodeType, dict[int, str]] = {}


def _names(code: CodeType) -> dict[int, str]:
    if code not in _known:
        _known[code] = {each.offset: each.opname for each in dis.get_instructions(code)}
    return _known[code]
