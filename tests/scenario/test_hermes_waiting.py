"""A keeper's reset beside background processes of a real gateway, with and without the plugin."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sexton.homes.hermes.findings.finding import Finding, Level
from sexton.keeper.explain import explain
from sexton.keeper.keeper_log import HeldLines
from sexton.processes.handling import ProcessPolicy
from sexton.processes.model import Doing, Watched
from sexton.processes.watched_processes import hints, view
from sexton.resets.policy import OWN_TIME, span
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import Settings
from sexton.wiring import Sexton
from sexton.wiring.diagnosing import diagnose
from tests.scenario.fake_model import ANSWER, ToolUse
from tests.scenario.finalizers_scene import wait_until
from tests.scenario.hermes_gateway import ALICE, BOB, HOME, Conversations, conversations
from tests.scenario.hermes_home import HermesScene, in_local_words
from tests.scenario.hermes_house import House, ends, make_older
from tests.scenario.test_hermes_background import entry

HOUR = timedelta(hours=1)
IDLE = "session_reset: {mode: idle, idle_minutes: 60}\n"
SERVE = ToolUse(
    "terminal", {"command": "python3 -m http.server 0 --bind 127.0.0.1", "background": True}
)
BUILD = ToolUse("terminal", {"command": "yes without end > /dev/null", "background": True})
TALK = "agent:main:telegram:dm:7"
WHERE = pytest.mark.parametrize("plugin", [False, True], ids=["outside", "inside"])


def granting(messages: list[Any]) -> str | ToolUse:
    """A model that starts what somebody asks for, and answers when it is started."""
    said = str(messages[-1]["content"])
    if messages[-1]["role"] == "tool":
        return ANSWER
    return SERVE if "please serve" in said else BUILD if "please build" in said else ANSWER


def watch_closely(house: House) -> None:
    """Judge by the last two seconds: what a process did when it started is soon forgotten."""
    rules = Rulebook(processes=ProcessPolicy(window=timedelta(seconds=2)))
    Sexton(house.ledger, Settings(rulebook=rules), clock=house.clock).publish()


@contextmanager
def beside(home: Conversations) -> Iterator[House]:
    """A keeper beside the gateway; what that has started ends with the test."""
    house = House(home.ledger, home.lab.home, name=HOME)
    watch_closely(house)
    try:
        yield house
    finally:
        for each in started(house):
            with suppress(ProcessLookupError):
                os.killpg(each.process.identity.pid, signal.SIGKILL)
        house.sexton.close()


def started(house: House) -> list[Watched]:
    """What runs, whether the home alone names it or the plugin too."""
    estate = house.sexton.estate()
    registered = estate.ledger.registry.running()
    return [*view(estate, registered), *hints(estate, registered)]


def seen(house: House, doing: Doing) -> Watched:
    """The only process that runs, once it does that."""

    found: list[Watched] = []

    def looked() -> bool:
        house.observe()
        found[:] = [each for each in started(house) if each.doing is doing]
        return bool(found)

    wait_until(looked)
    [only] = found
    return only


@WHERE
def test_a_forgotten_server_holds_nothing_back_and_the_keeper_resets_where_hermes_waits(
    furnished_python: Path, tmp_path: Path, *, plugin: bool
) -> None:
    """Hermes would wait a day for it; the user of the seed waited 36 hours."""
    with (
        conversations(furnished_python, tmp_path, plugin=plugin, config=IDLE) as home,
        home.gateway(),
        beside(home) as house,
    ):
        home.model.reply = granting
        home.say(ALICE, "please serve")
        left = home.row_of(ALICE)
        server = seen(house, Doing.LISTENING)
        assert (server.process.session, server.holds) == (left, False)
        house.clock.advance(HOUR + timedelta(minutes=1))
        assert house.swept() == {}
        (held,) = house.plan().held
        assert (held.wanted.code, held.holding.code) == ("idle", "own_reset")
        (line,) = HeldLines().news([held])
        for told in (server.process.name, "http.server", left):
            assert told in line
        house.clock.advance(OWN_TIME)
        assert house.swept() == {left: "done idle"}
        assert home.rows()[left] == ("session_reset",)
        assert home.say(ALICE, "Good evening") == ANSWER
        assert home.row_of(ALICE) != left, "the gateway begins anew"


@WHERE
def test_a_build_at_work_holds_it_back_by_name_until_its_time_is_over(
    furnished_python: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, *, plugin: bool
) -> None:
    caplog.set_level(logging.INFO, "sexton.keeper")
    with (
        conversations(furnished_python, tmp_path, plugin=plugin, config=IDLE) as home,
        home.gateway(),
        beside(home) as house,
    ):
        home.model.reply = granting
        home.say(BOB, "please build")
        left = home.row_of(BOB)
        build = seen(house, Doing.WORKING)
        house.clock.advance(HOUR + OWN_TIME + timedelta(minutes=1))
        assert house.swept() == {}
        (held,) = house.plan().held
        pid = build.process.identity.pid
        assert held.holding.code == f"process:{pid}"
        lines = [each.getMessage() for each in caplog.records if each.levelno == logging.INFO]
        (line,) = [each for each in lines if str(pid) in each]
        assert "yes without end" in line
        assert span(house.clock.now() - build.process.started_at) in line
        session = house.session(left)
        said = {each.question: each for each in explain(house.sexton.estate(), session).answers}
        assert said["reset"].answer == "held"
        assert str(pid) in said["reset"].detail
        assert said["process"].answer == Doing.WORKING
        house.clock.advance(HOUR)
        assert house.swept() == {left: "done idle"}


@WHERE
def test_no_turn_is_cut_in_two(furnished_python: Path, tmp_path: Path, *, plugin: bool) -> None:
    with (
        conversations(furnished_python, tmp_path, plugin=plugin, config=IDLE) as home,
        home.gateway(),
        beside(home) as house,
    ):
        home.say(ALICE, "Good morning")
        left = home.row_of(ALICE)
        asked = len(home.model.asked)
        home.model.hold_from(asked + 1)
        told = len(home.signal.to(ALICE))
        stamp = home.signal.write(ALICE, "And now think for hours")
        wait_until(lambda: len(home.model.asked) > asked)
        house.clock.advance(3 * HOUR)
        assert house.swept() == {}
        (held,) = house.plan().held
        assert held.holding.code == "busy"
        home.model.go_on()
        home.signal.wait_for_turn(stamp, told)
        wait_until(lambda: house.swept() == {left: "done idle"})


@pytest.fixture
def house(tmp_path: Path, scene: HermesScene) -> Iterator[House]:
    opened = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path)
    watch_closely(opened)
    yield opened
    opened.sexton.close()


@pytest.fixture
def start() -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    started = []

    def begin(program: str) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE))
        return started[-1]

    yield begin
    for each in started:
        each.kill()
        each.communicate()


PROGRAMS = pytest.mark.parametrize(
    ("program", "code"),
    [("while True: pass", "process"), ("import sys; sys.stdin.read()", None)],
    ids=["working", "idle"],
)


@PROGRAMS
def test_without_a_gateway_the_same_processes_count(
    house: House,
    scene: HermesScene,
    start: Callable[[str], subprocess.Popen[bytes]],
    program: str,
    code: str | None,
) -> None:
    (scene.path / "config.yaml").write_text(IDLE)
    scene.start("talk", "telegram", session_key=TALK)
    scene.say("talk", "Good morning")
    make_older(scene, 1.5 * HOUR, "talk")
    scene.close()
    process = start(program)
    began = house.clock.now().timestamp()
    (scene.path / "processes.json").write_text(json.dumps([entry(process, started_at=began)]))
    if code is None:
        seen(house, Doing.IDLE)
        assert house.swept() == {"talk": "done idle"}
        assert ends(scene) == {"talk": "session_reset"}
    else:
        seen(house, Doing.WORKING)
        assert house.swept() == {}
        (held,) = house.plan().held
        assert held.holding.code == f"{code}:{process.pid}"


@PROGRAMS
def test_without_a_gateway_doctor_judges_them_as_the_keeper_does(
    house: House,
    scene: HermesScene,
    start: Callable[[str], subprocess.Popen[bytes]],
    program: str,
    code: str | None,
) -> None:
    """A build at full speed is not called forgotten, and nothing advises its end in its time."""
    (scene.path / "config.yaml").write_text(IDLE)
    scene.start("talk", "telegram", session_key=TALK)
    scene.say("talk", "Good morning")
    make_older(scene, 1.5 * HOUR, "talk")
    used = in_local_words(house.clock.now() - 1.5 * HOUR)
    route = {"session_key": TALK, "session_id": "talk", "platform": "telegram", "updated_at": used}
    scene.sql("INSERT INTO gateway_routing VALUES ('', ?, ?, 1)", TALK, json.dumps(route))
    scene.close()
    process = start(program)
    began = house.clock.now().timestamp()
    (scene.path / "processes.json").write_text(json.dumps([entry(process, started_at=began)]))
    seen(house, Doing.IDLE if code is None else Doing.WORKING)
    stop = f"sexton processes stop {process.pid}"
    if code is not None:
        told = examined(house)
        assert told.keys() == {"waiting"}
        assert (told["waiting"].level, stop in told["waiting"].repair) == (Level.HINT, False)
        assert str(process.pid) in told["waiting"].details[0]
        house.clock.advance(HOUR)
    told = examined(house)
    assert told.keys() == {"held"}
    assert stop in told["held"].repair
    assert house.swept() == {"talk": "done idle"}
    assert examined(house) == {}


def examined(house: House) -> dict[str, Finding]:
    """What doctor says of conversations and of what runs, by code."""
    house.observe()
    record = house.sexton.estate().records["work"]
    cohorts = house.ledger.homes.census.cohorts(record, house.clock.now())
    every = diagnose(house.sexton, record, cohorts, {})
    codes = {"waiting", "held", "expired", "processes"}
    return {each.code: each for each in every if each.code in codes}
