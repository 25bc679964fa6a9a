"""What the home channel hears of a process that a session of Hermes has left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, timedelta
from pathlib import Path

import pytest

from sexton.notifications.policy import ANNOUNCE_STOP, LEAVE_PROCESS
from sexton.processes.model import Doing, Watched
from sexton.processes.watched_processes import of_session
from sexton.wiring import Sexton
from tests.scenario.finalizers_scene import configure, open_house, wait_until
from tests.scenario.hermes_gateway import ALICE, HOME, OWNER, Conversations, conversations
from tests.scenario.process_programs import lives
from tests.scenario.test_hermes_leaving import granting
from tests.scenario.test_hermes_seeds import IDLE, WHERE, Ahead, acting, ended, half_a_day_on


@contextmanager
def beside(home: Conversations, place: Path, clock: Ahead, **handling: str) -> Iterator[Sexton]:
    """A keeper beside the gateway; it sends to the home channel as Hermes does."""
    config = configure(place, homes=acting(home), processes={"window": "2s", **handling})
    with open_house(home.ledger, config, clock) as house, ended(house):
        yield house


@pytest.fixture
def told_by_hermes(furnished_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An interpreter of Hermes, whose `hermes send` the keeper finds."""
    program = tmp_path / "bin" / "hermes"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{furnished_python}" -m hermes_cli.main "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return furnished_python


def serve(home: Conversations, house: Sexton) -> Watched:
    """Alice's server, once it listens; its shell is what Hermes has started."""
    home.model.reply = granting
    home.say(ALICE, "please serve")
    house.sweep()
    session = house.find(f"{HOME}/{home.row_of(ALICE)}")
    seen: list[Watched] = []

    def listens() -> bool:
        seen[:] = of_session(house.estate(), session)
        return [each.doing for each in seen] == [Doing.LISTENING]

    wait_until(listens)
    return seen[0]


def heard(home: Conversations, house: Sexton, action: str) -> list[str]:
    """What the owner has read of the process, once a keeper has swept."""
    house.sweep()
    lines = house.ledger.journal.page(None, None, None, 100)
    told = [each.reason.text for each in lines if each.action == action]
    wait_until(lambda: all(any(text in said for said in home.signal.to(OWNER)) for text in told))
    return [said for said in home.signal.to(OWNER) if any(text in said for text in told)]


@WHERE
@pytest.mark.parametrize("handling", ["warn", "keep"])
def test_the_home_channel_hears_once_of_a_server_that_a_reset_leaves_by_its_own_name(
    told_by_hermes: Path, tmp_path: Path, *, plugin: bool, handling: str
) -> None:
    clock = Ahead()
    with (
        conversations(told_by_hermes, tmp_path, plugin=plugin, config=IDLE) as home,
        home.gateway(),
        beside(home, tmp_path, clock, on_idle_reset=handling) as house,
    ):
        server = serve(home, house)
        left, pid = home.row_of(ALICE), server.process.identity.pid
        clock.by = timedelta(hours=1, minutes=20)
        house.sweep()
        assert home.rows()[left] == ("session_reset",)
        said = [heard(home, house, LEAVE_PROCESS) for _ in range(2)][-1]
        assert len(said) == (handling == "warn"), "once, however often a keeper looks"
        for words in said:
            assert str(pid) in words
            assert "http.server" in words
            assert "bash" not in words
            assert left in words
        assert lives(pid)


def test_a_stop_that_was_announced_in_the_home_channel_does_not_come_once_somebody_keeps_it(
    told_by_hermes: Path, tmp_path: Path
) -> None:
    clock = Ahead()
    boundary = half_a_day_on(clock)
    daily = f"session_reset: {{mode: daily, at_hour: {boundary.hour}}}\n"
    with (
        conversations(told_by_hermes, tmp_path, plugin=True, config=daily) as home,
        home.gateway(),
        beside(home, tmp_path, clock, on_daily_reset="stop") as house,
    ):
        server = serve(home, house)
        left, pid = home.row_of(ALICE), server.process.identity.pid
        clock.by += boundary - clock.now() - timedelta(minutes=10)
        (said,) = heard(home, house, ANNOUNCE_STOP)
        assert home.rows()[left] == (None,), "the session is open still"
        assert "http.server" in said
        assert "bash" not in said
        assert f"pid {pid}" in said
        assert f"{boundary.astimezone(UTC):%Y-%m-%d %H:%M} UTC" in said
        assert lives(pid)
        session = house.find(f"{HOME}/{left}")
        (process,) = house.ledger.registry.of_session(session.ref)
        assert house.ledger.registry.keep(process.ref, True, clock.now())
        clock.by += timedelta(minutes=10) + timedelta(minutes=20)
        house.sweep()
        assert home.rows()[left] == ("session_reset",)
        clock.by += timedelta(hours=1)
        house.sweep()
        assert lives(pid), "a person has kept it"
        assert len(heard(home, house, ANNOUNCE_STOP)) == 1
