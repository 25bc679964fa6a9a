"""Five troubles with Hermes that people reported, each played as a whole on the real Hermes.

`outside` is a keeper alone beside Hermes, `inside` is the same with the plugin in Hermes.
docs/hermes.md says which sentence of a report which test shows.
"""

from __future__ import annotations

import json
import logging
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sexton.bootstrap import Sexton
from sexton.engine.keeper_log import HeldLines
from sexton.engine.process_view import hints, of_session
from sexton.model.process import Doing, Watched
from sexton.settings.values import HomeSetting, Settings
from sexton.system.clock import SystemClock
from tests.scenario.effects_server import Server, say
from tests.scenario.fake_model import ANSWER, FakeModel, ToolUse
from tests.scenario.finalizers_scene import (
    Thinking,
    configure,
    memory,
    open_house,
    remembered,
    wait_until,
)
from tests.scenario.hermes_exits import rows
from tests.scenario.hermes_gateway import ALICE, BOB, HOME, PLUGIN, Conversations, conversations
from tests.scenario.hermes_home import Hermes, HermesScene
from tests.scenario.hermes_house import DAY, House, ends, make_older, many, reasons
from tests.scenario.hermes_lab import Lab
from tests.scenario.hermes_spender import spender
from tests.scenario.process_programs import lives
from tests.scenario.test_hermes_leaving import granting
from tests.scenario.test_hermes_leaving import listed as shown
from tests.surface.program import Cli
from tests.surface.web_site import serving

CAROL = "+15551003"
HOUR = timedelta(hours=1)
IDLE = "session_reset: {mode: idle, idle_minutes: 60}\n"
WHERE = pytest.mark.parametrize("plugin", [False, True], ids=["outside", "inside"])


class Ahead(SystemClock):
    """The clock of somebody who comes later, by as much as a test says."""

    def __init__(self) -> None:
        super().__init__()
        self.by = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self.by


@pytest.fixture
def clock() -> Ahead:
    return Ahead()


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Cli:
    return Cli(capsys, f"sqlite:///{tmp_path / 'ledger.db'}")


def acting(home: Conversations) -> list[dict[str, Any]]:
    """The home in settings that allow a keeper to change it."""
    return [{"path": str(home.lab.home), "name": HOME, "act": True}]


@WHERE
def test_what_expired_is_remembered_once_through_every_restart_and_holds_nobody_up(
    furnished_python: Path, tmp_path: Path, clock: Ahead, *, plugin: bool
) -> None:
    slow = Thinking.held()
    with (
        conversations(furnished_python, tmp_path, plugin=plugin, config=IDLE) as home,
        Server([say("- likes the sea")]) as router,
    ):
        notes = memory(router.url, min_messages=2)
        config = configure(tmp_path, notes, homes=acting(home), keeper={"sweep_every": "1s"})

        def sweep() -> int:
            with open_house(home.ledger, config, clock) as house:
                return house.sweep().finalizing + house.sweep().finalizing

        with home.gateway():
            for user in (ALICE, BOB, CAROL):
                home.say(user, "Good morning")
            expired = set(home.rows())
            assert sweep() == 0
        clock.by = 2 * HOUR
        assert sweep() == len(router.requests) == len(remembered(tmp_path)) == 3
        assert home.rows() == dict.fromkeys(expired, ("session_reset",))
        for _ in range(3):
            with home.gateway():
                assert sweep() == 0
        assert len(router.requests) == 3, "nothing that is done is asked for again"
        assert len(home.model.asked) == 3, "nor does Hermes ask for it"

        router.replies = [slow]
        with home.gateway(), open_house(home.ledger, config, clock) as house:
            home.say(ALICE, "And another thing")
            house.keep()
            router.wait_for(4)
            home.say(BOB, "Me too")
            wait_until(lambda: list(home.rows().values()).count(("session_reset",)) == 5)
            assert len(remembered(tmp_path)) == 3, "while the first of them is not answered"
            slow.gate.set()
            wait_until(lambda: len(remembered(tmp_path)) == 5)
        assert len(router.requests) == 5


SNAPSHOTS = "sessions: {write_json_snapshots: true}\n"
WEEK = """
homes: [{path: %s, name: hermes, act: true}]
retention:
  max_age: 7d
  classes: [{sources: [cron], database_only: true}]
"""
PUT_AWAY = """
homes: [{path: %s, name: hermes, act: true}]
retention: {max_age: 90d, on_reset: archive}
archive: {directory: kept, format: gzip}
"""


@WHERE
def test_the_files_of_sessions_go_and_their_rows_stay(
    furnished_python: Path, tmp_path: Path, cli: Cli, clock: Ahead, *, plugin: bool
) -> None:
    with conversations(furnished_python, tmp_path, plugin=plugin, config=SNAPSHOTS) as home:
        kept = home.lab.home / "sessions"

        def files() -> dict[str, bytes]:
            return {each.stem: each.read_bytes() for each in kept.glob("session_*.json")}

        home.lab.run("cron", "create", "every 12h", "Good morning")
        jobs: Any = json.loads((home.lab.home / "cron" / "jobs.json").read_text())
        job = (jobs["jobs"] if isinstance(jobs, dict) else jobs)[-1]["id"]
        home.lab.run("cron", "run", job)
        home.lab.run("cron", "run", job)
        with home.gateway():
            home.say(ALICE, "Good morning")
            home.say(ALICE, "/new")
            home.say(ALICE, "Good morning again")
            left = files()
            runs = {each for each in left if each.startswith("session_cron_")}
            goes_on = f"session_{home.row_of(ALICE)}"
            (over,) = set(left) - runs - {goes_on}
            assert (len(runs), len(left)) == (2, 4), "Hermes leaves every one of them"

        config = tmp_path / "sexton.yaml"
        config.write_text(WEEK % home.lab.home)
        told = cli("doctor", "--json", "--config", str(config)).json()["homes"]
        [disk] = [each["disk"] for each in told if each["name"] == HOME]
        assert disk["files"]["snapshots"]["files"] == 4
        rows = set(home.rows())
        with open_house(home.ledger, config, clock) as house:
            house.sweep()
            assert set(files()) == {over, goes_on}, "a job's file goes with its end"
        clock.by = 8 * DAY
        with open_house(home.ledger, config, clock) as house:
            house.sweep()
            assert set(files()) == {goes_on}, "after a week that of a chat that is over"
            done = house.ledger.journal.page(None, None, None, 100)
            (receipt,) = {each.receipt for each in done if each.session == over[8:]} - {None}
            house.undo(str(receipt))
        assert files() == {name: left[name] for name in (over, goes_on)}, "and it comes back"
        config.write_text(PUT_AWAY % home.lab.home)
        clock.by = 20 * DAY  # what came back is left alone for a while
        with open_house(home.ledger, config, clock) as house:
            house.sweep()
        assert set(files()) == {goes_on}
        assert list((tmp_path / "kept").glob("*.gz"))
        assert set(home.rows()) == rows


@WHERE
def test_beside_four_gateways_what_died_is_told_and_ended_and_what_lives_is_left_alone(
    furnished_python: Path, tmp_path: Path, cli: Cli, *, plugin: bool
) -> None:
    """A question that was answered, one that was killed, a script, and a terminal that lives."""
    with FakeModel() as model, ExitStack() as running:
        labs = []
        for number in range(4):
            locks = str(tmp_path / f"locks{number}")
            also = {"SEXTON_LEDGER": cli.url, "HERMES_GATEWAY_LOCK_DIR": locks}
            labs.append(Lab(furnished_python, tmp_path / f"gateway{number}", model.url, also))
            if plugin:
                with (labs[-1].home / "config.yaml").open("a") as file:
                    file.write(PLUGIN)
            running.enter_context(labs[-1].gateway())
        homes = tuple(HomeSetting(path=each.home, name=each.home.name, act=True) for each in labs)
        config = tmp_path / "sexton.yaml"
        config.write_text(
            json.dumps({"homes": [{"path": str(each.path), "act": True} for each in homes]})
        )

        def told(state: str) -> int:
            found = cli("doctor", "--json", "--config", str(config)).json()["homes"]
            return sum(int(each["open_by"][state]) for each in found)

        asked, killed, scripted, talked = labs
        assert ANSWER in asked.run("-z", "Good morning").stdout
        model.hold_from(len(model.asked) + 1)
        with killed.started("-z", "Good morning") as process:
            held = len(model.asked) + 1
            wait_until(lambda: len(model.asked) >= held)
            process.kill()
            process.wait()
        model.go_on()
        with Hermes(furnished_python, tmp_path / "scratch") as script:
            script.ask(scripted.home, "create_session", "script", "cli")
            script.kill()
        terminal = running.enter_context(talked.terminal())
        terminal.wait_for("❯")
        terminal.type("Good morning")
        terminal.wait_for(ANSWER)

        assert told("leaked") == 2
        cli.ok("keep", "--once", "--config", str(config))
        assert told("leaked") == 0
        found = [list(rows(each.home).values()) for each in labs]
        assert found == [
            [("cli", "agent_close")], [("cli", "reaped")], [("cli", "reaped")], [("cli", None)],
        ]  # fmt: skip
        with serving(cli.url, tmp_path, settings=Settings(homes=homes)) as site:
            active = site.get("/v1/activity").json()["sessions"]
        assert [each["id"] for each in active] == list(rows(talked.home))
        assert (active[0]["worker"] is not None) == plugin, "from inside its holder is known"
        terminal.type("Are you still there?")
        terminal.wait_for(ANSWER, 2)


BOTH = "session_reset: {mode: both, idle_minutes: 120, at_hour: 6}\n"
SERVERS = {"window": "2s", "on_idle_reset": "stop"}


@WHERE
def test_two_forgotten_servers_are_shown_named_and_hold_no_reset_back(
    furnished_python: Path,
    tmp_path: Path,
    cli: Cli,
    clock: Ahead,
    caplog: pytest.LogCaptureFixture,
    *,
    plugin: bool,
) -> None:
    caplog.set_level(logging.INFO, "sexton.keeper")
    with (
        conversations(furnished_python, tmp_path, plugin=plugin, config=BOTH) as home,
        home.gateway(),
    ):
        config = configure(tmp_path, homes=acting(home), processes=SERVERS)
        with open_house(home.ledger, config, clock) as house, ended(house):
            home.model.reply = granting
            home.say(ALICE, "please serve")
            home.say(ALICE, "please serve")
            left = home.row_of(ALICE)
            house.sweep()

            def servers() -> dict[int, Watched]:
                found = of_session(house.estate(), house.find(f"{HOME}/{left}"))
                return {each.process.identity.pid: each for each in found}

            wait_until(lambda: {each.doing for each in servers().values()} == {Doing.LISTENING})
            pids = set(servers())
            assert len(pids) == 2
            assert not any(each.holds for each in servers().values())
            listed = cli("processes", "list", "--session", f"{HOME}/{left}", "--json").json()
            assert {each["pid"] for each in listed} == pids
            why = cli("why", f"{HOME}/{left}", "--json").json()["answers"]
            said = str([each for each in why if each["question"] == "process"])
            assert all(str(pid) in said for pid in pids)
            if plugin:
                home.say(ALICE, "please list")
                assert {each["pid"] for each in shown(home)["processes"]} == pids

            clock.by = timedelta(hours=2, minutes=1)
            house.sweep()
            assert home.rows()[left] == (None,), "Hermes has its time first"
            (held,) = [each for each in house.plan().held if each.seen.id == left]
            assert (held.wanted.code, held.holding.code) == ("idle", "own_reset")
            (line,) = HeldLines().news([held])
            assert all(servers()[pid].process.name in line for pid in pids)
            clock.by = timedelta(hours=2, minutes=20)
            house.sweep()
            assert home.rows()[left] == ("session_reset",)
            assert home.say(ALICE, "Good evening") == ANSWER
            assert home.row_of(ALICE) != left
            assert "please serve" not in str(home.model.asked[-1])
            house.sweep()
            if plugin:
                wait_until(lambda: not any(map(lives, pids)))
            else:
                assert all(map(lives, pids)), "no policy stops what only the home names"
                for pid in pids:
                    cli.ok("processes", "stop", str(pid), "--yes")
            assert not any(map(lives, pids))


@contextmanager
def ended(house: Sexton) -> Iterator[None]:
    """What was started in the background ends with the test."""
    try:
        yield
    finally:
        running = house.ledger.registry.running()
        hinted = [each.process for each in hints(house.estate(), [])]
        for each in (*running, *hinted):
            with suppress(ProcessLookupError):
                os.killpg(each.identity.pid, signal.SIGKILL)


def test_garbage_is_what_was_said_to_be_and_a_child_stands_for_itself(
    tmp_path: Path, scene: HermesScene
) -> None:
    house = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path)
    said = {
        "empty": (0, 25), "young and empty": (0, 23), "trivial": (5, 8 * 24),
        "young and trivial": (5, 6 * 24), "long": (6, 30 * 24), "parent": (0, 30 * 24),
        "child": (50, 30 * 24), "open": (0, 30 * 24), "job": (1, 30 * 24),
    }  # fmt: skip
    for id, (messages, _) in said.items():
        parent = {"parent_session_id": "parent"} if id == "child" else {}
        scene.start(id, "cron" if id == "job" else "telegram", **parent)
        for number in range(messages):
            scene.say(id, f"word {number}")
        if id != "open":
            scene.end(id)
    many(scene, "batch", 300, 2)
    for id, (_, hours) in said.items():
        make_older(scene, timedelta(hours=hours), id)
    make_older(scene, 30 * DAY, *(f"batch{number}" for number in range(300)))
    before = [scene.sql(f"SELECT * FROM {table} ORDER BY id") for table in ("sessions", "messages")]
    scene.close()

    assert set(reasons(house.garbage(source="cron"))) == {"job"}
    plan = house.garbage()
    going = reasons(plan)
    batch = {f"batch{number}" for number in range(300)}
    assert set(going) - batch == {"empty", "trivial", "parent", "job"}
    assert batch <= set(going)
    assert (going["empty"], going["trivial"]) == ("empty", "trivial")
    assert len(ends(scene)) == len(said) + 300, "a plan changes nothing"
    scene.close()
    assert set(house.apply(plan, "cleaning").values()) == {"done"}
    assert set(ends(scene)) == set(said) - {"empty", "trivial", "parent", "job"}
    kept = scene.sql("SELECT COUNT(*) FROM messages WHERE session_id = 'child'")
    scene.close()
    assert kept == [[50]]
    house.sexton.undo("cleaning")
    assert before == [
        scene.sql(f"SELECT * FROM {table} ORDER BY id") for table in ("sessions", "messages")
    ]
    house.sexton.close()


@pytest.mark.parametrize("at_once", [1, 4])
def test_tools_that_fail_or_repeat_are_warned_of_and_stopped_also_side_by_side(
    furnished_python: Path, tmp_path: Path, at_once: int
) -> None:
    with spender(furnished_python, tmp_path) as home:

        def failing(messages: list[Any]) -> list[ToolUse]:
            number = sum(each["role"] == "tool" for each in messages)
            calls = range(number, number + at_once)
            return [ToolUse("terminal", {"command": f"echo {each}; false"}) for each in calls]

        home.model.reply = failing
        home.run_job()
        assert len(home.model.asked) == -(-9 // at_once)
        assert home.sessions()[0].end_reason == "breaker:tool_errors"
        said = [each["content"] for each in home.model.asked[-1] if each["role"] == "tool"]
        assert any("[sexton]" in each for each in said), "the model was warned before"

        asked = len(home.model.asked)
        home.model.reply = lambda _: ToolUse("terminal", {"command": "echo the same"})
        home.run_job()
        assert len(home.model.asked) - asked == 9
        assert str(home.sessions()[0].end_reason).startswith("breaker:")
