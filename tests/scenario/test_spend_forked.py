"""A fork at the moment when another thread has a lock of the agent does not jam the child."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import pytest

from sexton.settings.settings_values import Settings
from sexton.spending.guard import Guard
from sexton.spending.policy import BreakerPolicy, RunawayPolicy
from sexton.spending.pulse import Pulse
from sexton.spending.slots import Slots
from sexton.spending.tool_watch import ToolWatch
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.children import exit_code

BOUND = 240.0


class Pause:
    """Where a thread stands still while it has the lock of what it uses; in a child it does not."""

    def __init__(self) -> None:
        self._here = os.getpid()
        self._reached, self._gate = threading.Event(), threading.Event()

    def __call__(self) -> None:
        if os.getpid() == self._here and threading.current_thread().name == "inside":
            self._reached.set()
            assert self._gate.wait(BOUND)

    def holds_in_a_fork(self, enter: Callable[[], object]) -> None:
        """Fork while a thread is inside, and have the child enter as well."""
        inside = threading.Thread(target=enter, name="inside", daemon=True)
        inside.start()
        assert self._reached.wait(BOUND)
        child = os.fork()
        if not child:
            code = 1
            try:
                enter()
                code = 0
            finally:
                os._exit(code)
        try:
            assert exit_code(child) == 0
        finally:
            self._gate.set()
            inside.join(BOUND)


def test_a_watch_over_tools(manual_clock: ManualClock) -> None:
    pause = Pause()

    def policy() -> BreakerPolicy:
        pause()
        return BreakerPolicy()

    pause.holds_in_a_fork(ToolWatch(manual_clock, policy).admit)


def test_a_pulse() -> None:
    pause = Pause()

    def monotonic() -> float:
        pause()
        return 0.0

    pulse = Pulse(monotonic)
    pause.holds_in_a_fork(lambda: pulse.excess(RunawayPolicy()))


def test_a_guard(engine_url: str) -> None:
    pause = Pause()

    def make() -> Any:
        pause()
        raise ZeroDivisionError  # so that the next one makes it as well

    with Sexton(open_ledger(engine_url), Settings()) as house, house.worker() as worker:
        guard = Guard(worker._desk)

        def enter() -> None:
            with pytest.raises(ZeroDivisionError):
                guard.watch(make)

        pause.holds_in_a_fork(enter)


def test_the_names_of_grants() -> None:
    """What the child gets is its own, whatever its parent's threads did at that moment."""
    slots, pause = Slots(), Pause()

    def enter() -> None:
        with slots._lock:
            pause()
        slots.give_back(slots.take())

    pause.holds_in_a_fork(enter)


def test_a_lock_that_the_forking_thread_holds_is_still_its_own() -> None:
    """A signal handler may fork anywhere; the frame below it leaves what it has entered."""
    slots = Slots()
    with slots._lock:
        child = os.fork()
    if not child:
        slots.give_back(slots.take())
        os._exit(0)
    assert exit_code(child) == 0
