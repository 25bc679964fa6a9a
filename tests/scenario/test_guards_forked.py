"""A forked child watches over what it spends with guards of its own, not with its parent's."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

from sexton.sessions.worker_context import Desk
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton

BOUND = 240


@pytest.fixture
def house(engine_url: str, manual_clock: ManualClock) -> Iterator[Sexton]:
    with closing(Sexton(open_ledger(engine_url), Settings(), clock=manual_clock)) as house:
        yield house


def test_a_forked_child_does_not_wait_for_a_lock_that_a_thread_of_its_parent_held(
    house: Sexton,
) -> None:
    session = house.worker().session("talk")
    with session.turn():
        pass
    desk: Desk = session._desk
    with held_by_another_thread(desk.guards._lock):
        assert forked(lambda: desk.guards.of(desk, session._session) is not None) == b"True"


def test_a_forked_child_does_not_go_by_the_guards_of_its_parent(house: Sexton) -> None:
    session = house.worker().session("talk")
    desk: Desk = session._desk
    parents = desk.guards.of(desk, session._session)
    parents.tell("for the parent's model")
    assert desk.guards.of(desk, session._session) is parents

    def is_its_own() -> bool:
        mine = desk.guards.of(desk, session._session)
        return mine is not parents and desk.guards.of(desk, session._session) is mine

    assert forked(is_its_own) == b"True"
    assert parents.advice() == "for the parent's model"


@contextmanager
def held_by_another_thread(lock: threading.RLock) -> Iterator[None]:
    """The lock is held by a thread that a child does not have."""
    holds, over = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            holds.set()
            over.wait(BOUND)

    thread = threading.Thread(target=hold)
    thread.start()
    assert holds.wait(BOUND)
    try:
        yield
    finally:
        over.set()
        thread.join(BOUND)


def forked(job: Callable[[], object]) -> bytes:
    """What a job comes to in a forked child; nothing if it never ends."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            threading.Thread(target=give_up, daemon=True).start()
            os.write(writing, repr(job()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return said


def give_up() -> None:
    """End a child that hangs, so that its parent hears of it."""
    threading.Event().wait(BOUND)
    os._exit(1)
