"""Keepers that share work, die or freeze in the middle of it, or lose their ledger."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sexton.finalizers.model import Finalization
from tests.between_writes import stop_between_writes
from tests.crash.holding import HOST
from tests.crash.impatience import impatient
from tests.kit.nursery import Child, Nursery
from tests.kit.postgres_server import PostgresServer
from tests.scenario.effects_server import Server, reply, say
from tests.scenario.finalizers_keepers import KEEP, MODULE, STEP
from tests.scenario.finalizers_scene import (
    Thinking,
    configure,
    memory,
    open_house,
    owed,
    remembered,
    states,
    talk,
    wait_until,
    webhook,
)

STEPS = [
    *(
        f"{event} {function}"
        for function in (
            "LedgerFinalizing.claim",
            "LedgerFinalizing.memo",
            "LedgerFinalizing.spend",
            "Chat.ask",
            "LedgerFinalizing.memoise",
            "MemoryFile.append",
            "LedgerFinalizing.finish",
        )
        for event in ("call", "return")
    ),
    "c_call replace",
    "c_return replace",
]
ASKED_AGAIN = {"return Chat.ask", "call LedgerFinalizing.memoise"}


LOADED = (
    "sexton.settings.loader",
    "sexton.settings.sections",
    "sexton.wiring.keeper_wiring",
)
"""Modules that take long to load, which else each keeper does by itself."""


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    """Starts keepers in processes of their own."""
    with Nursery(MODULE, *LOADED) as started:
        yield started


def has_swept(keeper: Child) -> None:
    keeper.wait_for(lambda lines: "swept" in lines)
    assert keeper.is_alive, keeper.lines()


@pytest.mark.parametrize("step", STEPS)
def test_wherever_a_keeper_is_killed_the_next_one_finishes_its_work_once(
    step: str, engine_url: str, tmp_path: Path, nursery: Nursery
) -> None:
    with Server([say("- likes the sea")]) as model:
        config = configure(tmp_path, memory(model.url))
        with open_house(engine_url, config) as house:
            talk(house, "a")
            keeper = nursery.start(KEEP, engine_url, str(config), environ={STEP: step})
            assert keeper.wait() == -signal.SIGKILL, keeper.lines()
            house.sweep()
            [done] = owed(house)
            assert done.state == "done"
            assert remembered(tmp_path) == [done.key]
    assert len(model.requests) == (2 if step in ASKED_AGAIN else 1)


@pytest.mark.parametrize("kind", ["command", "webhook"])
def test_what_a_keeper_had_done_and_not_reported_is_done_again_with_the_same_key(
    kind: str, engine_url: str, tmp_path: Path, nursery: Nursery
) -> None:
    keys = tmp_path / "keys"
    script = f'echo "$SEXTON_IDEMPOTENCY_KEY" >> {keys}'
    command = {"name": "log", "kind": "command", "command": ["sh", "-c", script]}
    with Server([reply()]) as server:
        config = configure(tmp_path, webhook(server.url) if kind == "webhook" else command)
        with open_house(engine_url, config) as house:
            talk(house, "a")
            step = {STEP: "call LedgerFinalizing.finish"}
            keeper = nursery.start(KEEP, engine_url, str(config), environ=step)
            assert keeper.wait() == -signal.SIGKILL, keeper.lines()
            house.sweep()
            [done] = owed(house)
        heard = [request.headers["idempotency-key"] for request in server.requests]
    told = heard if kind == "webhook" else keys.read_text().split()
    assert (done.state, told) == ("done", [done.key] * 2)


def test_two_keepers_share_the_work_and_do_each_piece_once(
    engine_url: str, tmp_path: Path, nursery: Nursery
) -> None:
    thinking = Thinking.held()
    with Server([thinking]) as model:
        config = configure(tmp_path, memory(model.url, concurrency=4))
        with open_house(engine_url, config) as house:
            keepers = [nursery.start(KEEP, engine_url, str(config)) for _ in range(2)]
            for each in keepers:
                has_swept(each)
            talk(house, *map(str, range(40)))
            wait_until(lambda: thinking.most == 8)
            thinking.gate.set()
            wait_until(lambda: states(house) == {"done": 40})
            for each in keepers:
                each.kill()
            assert {each.claim for each in owed(house)} == {1}
    assert len(model.requests) == len(set(remembered(tmp_path))) == len(remembered(tmp_path)) == 40
    assert thinking.most == 8


def test_the_work_of_a_keeper_that_is_killed_during_a_call_goes_on_at_once_elsewhere(
    engine_url: str, tmp_path: Path, nursery: Nursery
) -> None:
    slow = Thinking.held()
    with Server([slow, say("- likes the sea")]) as model:
        config = configure(tmp_path, memory(model.url))
        with open_house(engine_url, config) as house:
            talk(house, "a")
            first = nursery.start(KEEP, engine_url, str(config))
            model.wait_for(1)
            second = nursery.start(KEEP, engine_url, str(config))
            has_swept(second)
            assert states(house) == {"running": 1}
            first.kill()
            wait_until(lambda: states(house) == {"done": 1})
            second.kill()
        slow.gate.set()
    assert (len(model.requests), len(remembered(tmp_path))) == (2, 1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["memory", "webhook"])
def test_a_keeper_that_froze_and_was_taken_for_dead_can_not_finish_when_it_wakes_up(
    kind: str, engine_url: str, tmp_path: Path, nursery: Nursery
) -> None:
    answer = say("- likes the sea") if kind == "memory" else reply()
    slow = Thinking.held(answer)
    with Server([slow, answer]) as model:
        named = memory if kind == "memory" else webhook
        config = configure(tmp_path, named(model.url))
        with open_house(engine_url, config) as house:
            talk(house, "a")
            frozen = nursery.start(KEEP, engine_url, str(config), environ={HOST: "here"})
            model.wait_for(1)
            awake = nursery.start(KEEP, engine_url, str(config), environ={HOST: "there"})
            awake.wait_for(lambda lines: lines.count("swept") > 3)  # and has heard it beat
            stop_between_writes(frozen.pid, engine_url)
            wait_until(lambda: states(house) == {"done": 1})
            done = owed(house)
            slow.gate.set()
            frozen.signal(signal.SIGCONT)
            swept = frozen.lines().count("swept")
            frozen.wait_for(lambda lines: lines.count("swept") > swept + 3)
            assert owed(house) == done
            # It goes on as somebody else, and is trusted with new work.
            awake.kill()
            talk(house, "b")
            wait_until(lambda: states(house) == {"done": 2})
            assert frozen.is_alive
            frozen.kill()
            first, last = (each.claim for each in owed(house))
    # On a busy machine one that is awake may be silent for as long, and be taken for dead too.
    assert (first >= 2, last >= 1) == (True, True)
    assert len(model.requests) >= 3
    if kind == "memory":
        assert len(set(remembered(tmp_path))) == len(remembered(tmp_path)) == 2
    else:
        keys = [request.headers["idempotency-key"] for request in model.requests]
        assert len(set(keys)) == 2


RUNS = """
import pathlib, sys, time
place = pathlib.Path(sys.argv[1])
with (place / "runs").open("a") as file:
    file.write("x")
for _ in range(12_000):
    if (place / "gate").exists():
        break
    time.sleep(0.02)
"""


def _at_work() -> bool:
    """Whether an effect is carried out, or its outcome is being told."""
    return any(each.name in ("sexton-log", "sexton-memories") for each in threading.enumerate())


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A server that is stopped."""
    with PostgresServer() as own:
        yield own


def interrupt(
    server: PostgresServer, config: Path, began: Callable[[], object], end: Callable[[], object]
) -> Finalization:
    """Stop the server while work is done, let that end, and start it again; what came of it."""
    url = server.create_database()
    with open_house(url, config) as keeping:
        talk(keeping, "a")
        keeping.keep()
        began()
        server.stop()
        with impatient(keeping.ledger, 1.0):
            end()
            wait_until(lambda: not _at_work())
        server.start()
        with open_house(url, config) as house:
            wait_until(lambda: "running" not in states(house))
            [found] = owed(house)
            return found


@pytest.mark.postgres
def test_what_was_done_while_the_ledger_was_out_of_reach_is_told_later_and_not_done_again(
    tmp_path: Path, server: PostgresServer
) -> None:
    log: dict[str, Any] = {"name": "log", "kind": "command"}
    log["command"] = [sys.executable, "-c", RUNS, str(tmp_path)]
    config = configure(tmp_path, log)
    began = partial(wait_until, (tmp_path / "runs").exists)
    found = interrupt(server, config, began, (tmp_path / "gate").touch)
    assert (found.state, found.attempts, found.claim) == ("done", 1, 1)
    assert (tmp_path / "runs").read_text() == "x"


@pytest.mark.postgres
def test_an_answer_that_finds_no_ledger_is_no_failed_try(
    tmp_path: Path, server: PostgresServer
) -> None:
    slow = Thinking.held()
    with Server([slow]) as model:
        config = configure(tmp_path, memory(model.url, attempts=1))
        found = interrupt(server, config, partial(model.wait_for, 1), slow.gate.set)
    assert (found.state, found.attempts) == ("pending", 0)
    assert found.last_error
