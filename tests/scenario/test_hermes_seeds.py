"""Five troubles with Hermes that people reported, each played as a whole on the real Hermes.

`outside` is a keeper alone beside Hermes, `inside` is the same with the plugin in Hermes.
docs/hermes.md says which sentence of a report which test shows.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sexton.core.clock import SystemClock
from sexton.core.plan import Plan
from sexton.keeper.keeper_log import HeldLines
from sexton.keeper.observe import observe_home
from sexton.notifications.policy import ANNOUNCE_STOP
from sexton.processes.model import Doing, Watched
from sexton.processes.watched_processes import hints, of_session
from sexton.resets.policy import OWN_TIME
from sexton.settings.settings_values import HomeSetting, Settings
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.scenario.effects_server import Server, say
from tests.scenario.fake_model import ANSWER, PATIENCE, FakeModel, ToolUse
from tests.scenario.finalizers_scene import (
    Thinking,
    configure,
    memory,
    open_house,
    remembered,
    wait_until,
)
from tests.scenario.hermes_exits import GOAL, rows
from tests.scenario.hermes_gateway import ALICE, BOB, HOME, PLUGIN, Conversations, conversations
from tests.scenario.hermes_home import Hermes, HermesScene
from tests.scenario.hermes_house import DAY, House, ends, make_older, many, reasons
from tests.scenario.hermes_lab import Lab
from tests.scenario.hermes_spender import spender
from tests.scenario.process_programs import lives
from tests.scenario.test_hermes_leaving import granting
from tests.scenario.test_hermes_leaving import listed as shown
from tests.surface.program import Cli, environment, program
from tests.surface.web_site import serving

CAROL = "+15551003"
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
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
    furnished_python: Path,
    tmp_path: Path,
    clock: Ahead,
    caplog: pytest.LogCaptureFixture,
    *,
    plugin: bool,
) -> None:
    caplog.set_level(logging.INFO, "sexton")
    slow, killed = Thinking.held(), Thinking.held()
    with (
        conversations(furnished_python, tmp_path, plugin=plugin, config=IDLE) as home,
        Server([say("- likes the sea")]) as router,
    ):
        notes = memory(router.url, min_messages=2)
        also = {"homes": acting(home), "keeper": {"sweep_every": "1s"}}
        config = configure(tmp_path, notes, **also)

        def sweep() -> int:
            with open_house(home.ledger, config, clock) as house:
                return house.sweep().finalizing + house.sweep().finalizing

        def expired() -> list[str]:
            ended = home.rows("end_reason", "message_count")
            return [id for id, (end, count) in ended.items() if end == "session_reset" and count]

        with home.gateway():
            for user in (ALICE, BOB, CAROL):
                home.say(user, "Good morning")
            assert sweep() == 0
        clock.by = 2 * HOUR
        configure(tmp_path, {**notes, "per_minute": 1}, **also)
        minutes = ManualClock(clock.now())
        with open_house(home.ledger, config, minutes) as house:
            for requests in (1, 2, 3):
                house.sweep()
                house.sweep()
                assert len(router.requests) == requests, "the router gets one in a minute"
                minutes.advance(60)
        assert len(expired()) == len(home.rows()) == len(remembered(tmp_path)) == 3
        configure(tmp_path, notes, **also)
        caplog.clear()
        for _ in range(3):
            with home.gateway():
                assert sweep() == 0
        assert len(router.requests) == 3, "nothing that is done is asked for again"
        assert len(home.model.asked) == 3, "nor does Hermes ask for it"
        assert caplog.messages == [], "and no line is written about it"

        router.replies = [killed, say("- likes the sea"), slow]
        with home.gateway():
            home.say(ALICE, "And another thing")
            home.say(ALICE, "/new")
            with keeper(home.ledger, config) as process:
                router.wait_for(4)
                process.kill()
            assert sweep() == 1, "what a killed keeper began is finished"
            assert (len(router.requests), len(remembered(tmp_path))) == (5, 4)
            killed.gate.set()
            with open_house(home.ledger, config, clock) as house:
                home.say(CAROL, "And another thing")
                house.keep()
                router.wait_for(6)
                home.say(BOB, "Me too")
                wait_until(lambda: len(expired()) == 6)
                assert len(remembered(tmp_path)) == 4, "while the first of them is not answered"
                slow.gate.set()
                wait_until(lambda: len(remembered(tmp_path)) == 6)
        assert len(router.requests) == 7
        assert len(set(remembered(tmp_path))) == 6


@contextmanager
def keeper(ledger: str, config: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A keeper in a process of its own."""
    command = program("keep", "--config", str(config), "--ledger", ledger)
    with subprocess.Popen(command, env=environment(), stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


SNAPSHOTS = "sessions: {write_json_snapshots: true}\n"
WEEK = """
homes: [{path: %s, name: hermes, act: true}]
retention:
  max_age: 7d
  classes: [{sources: [cron], database_only: true}]
"""
FULL = """
homes: [{path: %s, name: hermes, act: true}]
retention: {max_age: 90d}
disk: {max_use: 6MB}
"""
BIG = "word " * 1_500_000
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

        home.model.reply = lambda _: BIG
        home.lab.run("-z", "Tell me everything")
        home.model.reply = lambda _: ANSWER
        (oldest,) = files()
        job = home.lab.job()
        home.lab.run("cron", "run", job)
        home.lab.run("cron", "run", job)
        with home.gateway():
            home.say(ALICE, "Good morning")
            home.say(ALICE, "/new")
            home.say(ALICE, "Good morning again")
            left = files()
            assert len(left.pop(oldest)) > len(BIG)
            runs = {each for each in left if each.startswith("session_cron_")}
            goes_on = f"session_{home.row_of(ALICE)}"
            (over,) = set(left) - runs - {goes_on}
            assert (len(runs), len(left)) == (2, 4), "Hermes leaves every one of them"

            config = tmp_path / "sexton.yaml"
            config.write_text(FULL % home.lab.home)
            for _ in range(2):  # a process that has exited holds its session until it is noticed
                with open_house(home.ledger, config, clock) as house:
                    house.sweep()
            assert files() == left, "the longest unused goes where the disk is full, and no other"
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


SIGNALS = signal.SIGTERM, signal.SIGHUP, signal.SIGKILL


@contextmanager
def heard(*signals: signal.Signals) -> Iterator[None]:
    """What was told to ignore a signal, as by nohup, would have its children ignore it too."""
    before = {each: signal.getsignal(each) for each in signals if each is not signal.SIGKILL}
    for each in before:
        signal.signal(each, signal.SIG_DFL)
    try:
        yield
    finally:
        for each, way in before.items():
            signal.signal(each, way)


@WHERE
def test_beside_four_gateways_what_died_is_told_and_ended_and_what_lives_is_left_alone(
    furnished_python: Path, tmp_path: Path, cli: Cli, *, plugin: bool
) -> None:
    """A question that was answered, three ended by signals, a script, a terminal that lives."""
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
        held = len(model.asked) + len(SIGNALS)
        model.hold_from(len(model.asked) + 1)
        with ExitStack() as waiting, heard(*SIGNALS):
            processes = [
                waiting.enter_context(killed.started("chat", "-q", "Good morning")) for _ in SIGNALS
            ]
            wait_until(lambda: len(model.asked) >= held)
            for process, each in zip(processes, SIGNALS, strict=True):
                process.send_signal(each)
            for process in processes:
                process.wait(PATIENCE)
        model.go_on()
        with Hermes(furnished_python, tmp_path / "scratch") as script:
            script.ask(scripted.home, "create_session", "script", "cli")
            script.kill()
        terminal = running.enter_context(talked.terminal())
        terminal.wait_for("❯")
        terminal.type("Good morning")
        terminal.wait_for(ANSWER)

        by_signal = ["cli_close", "cli_close", "reaped"] if plugin else ["reaped"] * 3
        leaked = by_signal.count("reaped") + 1
        assert told("leaked") == leaked
        cli.ok("keep", "--once", "--config", str(config))
        assert told("leaked") == 0
        found = [sorted(str(end) for _, end in rows(each.home).values()) for each in labs]
        assert found == [["agent_close"], by_signal, ["reaped"], ["None"]]
        reaped = cli("report", "leaks", "--since", "2d", "--json").json()["before"]["days"]
        assert sum(each["reaped"] for each in reaped) == leaked
        with serving(cli.url, tmp_path, settings=Settings(homes=homes)) as site:
            active = site.get("/v1/activity").json()["sessions"]
        assert [each["id"] for each in active] == list(rows(talked.home))
        assert (active[0]["worker"] is not None) == plugin, "from inside its holder is known"
        terminal.type("Are you still there?")
        terminal.wait_for(ANSWER, 2)


def idle_or_daily(clock: Ahead) -> str:
    """Two hours of rest end a conversation, and so does an hour that is half a day away."""
    hour = half_a_day_on(clock).hour
    return f"session_reset: {{mode: both, idle_minutes: 120, at_hour: {hour}}}\n"


def half_a_day_on(clock: Ahead) -> datetime:
    """The begin of an hour by the clock on the wall, at which nobody changes to summer time."""
    later = (clock.now() + 12 * HOUR).astimezone()
    if later.hour < 4:
        later = (later + 4 * HOUR).astimezone()
    return later.replace(minute=0, second=0, microsecond=0)


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
        conversations(
            furnished_python, tmp_path, plugin=plugin, config=idle_or_daily(clock)
        ) as home,
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
            listed = cli("processes", "list", "--session", f"{HOME}/{left}", "--json").items()
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


def test_a_daily_reset_announces_that_it_stops_a_server_and_then_stops_it(
    furnished_python: Path, tmp_path: Path, clock: Ahead
) -> None:
    due = half_a_day_on(clock)
    daily = f"session_reset: {{mode: daily, at_hour: {due.hour}}}\n"
    with (
        conversations(furnished_python, tmp_path, plugin=True, config=daily) as home,
        home.gateway(),
    ):
        stopping = {"window": "2s", "on_daily_reset": "stop"}
        config = configure(tmp_path, homes=acting(home), processes=stopping)
        with open_house(home.ledger, config, clock) as house, ended(house):
            home.model.reply = granting
            home.say(ALICE, "please serve")
            left = home.row_of(ALICE)
            [server] = house.ledger.registry.running()

            def announced(after: timedelta) -> int:
                clock.by += due + after - clock.now()
                house.sweep()
                lines = house.ledger.journal.page(None, None, None, 100)
                return [each.action for each in lines if each.session == left].count(ANNOUNCE_STOP)

            assert announced(-HOUR) == 0
            assert announced(-20 * MINUTE) == announced(-MINUTE) == 1, "once, before its time"
            assert lives(server.identity.pid)
            assert home.rows()[left] == (None,)
            assert announced(OWN_TIME + MINUTE) == 1
            house.sweep()
            assert home.rows()[left] == ("session_reset",)
            wait_until(lambda: not lives(server.identity.pid))


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


GC = ("gc", "--trivial-days", "0", "--yes", "--json")


def delegating(messages: list[Any]) -> str | ToolUse:
    """A model that has somebody else do the work, who does more than a little."""
    tools = sum(each["role"] == "tool" for each in messages)
    said = str([each["content"] for each in messages if each["role"] == "user"])
    if GOAL in said:
        return ANSWER if tools == 3 else ToolUse("terminal", {"command": f"echo {tools}"})
    return ToolUse("delegate_task", {"goal": GOAL}) if "delegate" in said and not tools else ANSWER


@WHERE
def test_garbage_goes_beside_a_hermes_at_work_and_comes_back(
    furnished_python: Path, tmp_path: Path, cli: Cli, clock: Ahead, *, plugin: bool
) -> None:
    with conversations(furnished_python, tmp_path, plugin=plugin) as home:
        home.model.reply = delegating
        home.lab.run("-z", "Please delegate it", "--yolo")
        home.lab.run("cron", "run", home.lab.job())
        config = configure(tmp_path, homes=acting(home))
        with home.gateway():
            for user, times in ((ALICE, 1), (CAROL, 3)):
                for _ in range(times):
                    home.say(user, "Good morning")
                home.say(user, "/new")
                home.say(user, "Good evening")
            asked = len(home.model.asked)
            home.model.hold_from(asked + 1)
            stamp = home.signal.write(BOB, "Good morning")
            wait_until(lambda: len(home.model.asked) > asked)

            facts = home.rows("source", "message_count", "user_id", "ended_at")
            over = {id for id, (*_, ended_at) in facts.items() if ended_at}
            few = {id for id in over if facts[id][1] <= 5}
            assert sorted(facts[id][0] for id in over) == [
                "cli", "cron", "signal", "signal", "subagent",
            ]  # fmt: skip
            assert sorted(facts[id][0] for id in few) == ["cli", "cron", "signal"]

            def everything() -> list[list[tuple[Any, ...]]]:
                those = "IN (SELECT value FROM json_each(?)) ORDER BY id"
                return [
                    home.sql(f"SELECT * FROM {table} WHERE {id} {those}", json.dumps(sorted(over)))
                    for table, id in (("sessions", "id"), ("messages", "session_id"))
                ]

            before = everything()
            (job,) = (id for id in few if facts[id][0] == "cron")
            here = ("--config", str(config), "--home", HOME)
            shown = cli(*GC, "--source", "cron", "--dry-run", *here).json()
            assert [each["session"]["id"] for each in shown["actions"]] == [job]
            assert everything() == before, "a preview changes nothing"
            done = cli(*GC, "--source", "cron", *here).json()
            assert set(facts) - set(home.rows()) == {job}
            cli.ok("undo", done["receipt"], *here[:2])
            assert everything() == before

            with open_house(home.ledger, config, clock) as house:

                def garbage() -> Plan:
                    estate = house.estate()
                    observe_home(estate, estate.homes[HOME], estate.records[HOME])
                    return house.plan(HOME, gc=True)

                house.sweep()  # a process that has exited holds its session until it is noticed
                clock.by = 6 * DAY
                assert reasons(garbage()) == {}
                clock.by = 8 * DAY
                plan = garbage()
                assert set(reasons(plan)) == few, "a child stands for itself"
                house.apply(plan, "cleaning")
                assert set(facts) - set(home.rows()) == few
                home.model.go_on()
                home.signal.wait_for_turn(stamp, 0)
                assert home.signal.to(BOB) == [ANSWER]
                house.undo("cleaning")
            assert everything() == before


NAMES = """
model: {provider: custom, default: fake-model}
session_reset: {mode: both, idle_minutes: 120, at_hour: 6}
fallback_providers: [{provider: openrouter, model: m}]
sessions: {auto_prune: true, retention_days: 90}
custom_providers: []
TELEGRAM_HOME_CHANNEL: "12"
"""
MISTAKES = """
session_reset: {mode: idle, idle_minutes: 0}
fallback_providers: openrouter
"""


def test_settings_that_hermes_takes_in_silence_are_found_on_their_line(
    hermes_python: Path, scene: HermesScene, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{hermes_python.parent}{os.pathsep}{os.environ['PATH']}")
    config, dotenv = scene.path / "config.yaml", scene.path / ".env"

    def found() -> dict[str, str]:
        [told] = cli("doctor", str(scene.path), "--json").json()["homes"]
        known = {each["code"]: each["where"] for each in told["findings"]}
        return {code: where for code, where in known.items() if code.startswith("config.")}

    config.write_text(NAMES)
    assert found() == {}, "Hermes knows these names"
    config.write_text(MISTAKES)
    dotenv.write_text("A=1\nAPI_SERVER_KEY=changeme\n")
    assert scene.ask("reset_policy")[:2] == ["idle", 1440], "Hermes takes another one"
    assert found() == {
        "config.idle_minutes": f"{config}:2",
        "config.fallback_providers": f"{config}:3",
        "config.api_server_key": f"{dotenv}:2",
    }
    dotenv.unlink()
    config.write_text(f"{MISTAKES}a: b: c\n")
    assert scene.ask("reset_policy")[0] == "none", "Hermes reads none of it and goes on"
    assert found() == {"config.unreadable": f"{config}:4"}


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
        warned = [number for number, each in enumerate(said, 1) if "[sexton]" in each]
        assert len(warned) == 2, "the model was warned at the third and at the sixth error"
        assert at_once > 1 or warned == [3, 6]

        asked = len(home.model.asked)
        home.model.reply = lambda _: ToolUse("terminal", {"command": "echo the same"})
        home.run_job()
        assert len(home.model.asked) - asked == 9
        assert str(home.sessions()[0].end_reason).startswith("breaker:")
