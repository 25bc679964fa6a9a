"""Room is given to a log while others write to it and are killed: nothing of theirs is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from sexton.store import log_room
from sexton.store.log_room import LogRoom
from sexton.store.sqlite import LOG_BYTES
from tests.crash.campaign import APPEND
from tests.crash.checking import Promises, check
from tests.kit.nursery import Nursery

WRITERS = ("singles", "batches", "threads")
ROUNDS = 2
ENOUGH = 1000
LONG = 8 * LOG_BYTES  # longer than the writers themselves would make it
MOST = 20_000


@pytest.mark.parametrize("step", [1, 24, 4096, 100_000])  # less than a frame's head, as much, more
def test_room_given_at_any_moment_lies_on_nothing_that_was_written(
    step: int, nursery: Nursery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_room, "STEP", step)
    path = tmp_path / "ledger.db"
    room, promises, given = LogRoom(str(path), LONG), Promises(), 0
    for number in range(ROUNDS):
        children = [
            nursery.start(APPEND, f"sqlite:///{path}", mode, f"{mode}{number}") for mode in WRITERS
        ]
        for child in children:
            child.wait_for(lambda lines: any(line.startswith("done") for line in lines))
        until = {child: len(child.lines()) + ENOUGH for child in children}
        for _ in range(MOST):
            if room._look() < LONG:
                room._extend()
                given += 1
            is_enough = all(len(child.lines()) > enough for child, enough in until.items())
            if given > ROUNDS and is_enough:
                break
        for child in random.Random(step).sample(children, len(children)):
            child.kill()
            child.wait()
            assert not [line for line in child.lines() if line.startswith("gave-up")]
            promises.hear(child.lines())
        check(f"sqlite:///{path}", promises)
    assert given > ROUNDS
