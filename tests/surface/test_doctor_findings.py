"""`sexton doctor` on damaged homes: every finding with its number, its cost and its repair."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sexton.core.session import NATIVE
from sexton.homes.hermes.session_files import HermesFileNames
from sexton.liveness.process_identity import start_tick
from sexton.retention.files.own_directories import OwnFiles
from tests.golden import golden
from tests.scenario.hermes_home import HermesScene, in_local_words
from tests.surface.program import Cli

KEY = "agent:main:telegram:dm:7"
TIMED_OUT = "Codex auxiliary Responses stream exceeded 240.0s total timeout"


@pytest.fixture
def server() -> Iterator[int]:
    """A process that somebody forgot."""
    sleeper = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield sleeper.pid
    sleeper.kill()
    sleeper.communicate()


@pytest.fixture
def damaged(scene: HermesScene, server: int) -> HermesScene:
    """A home in which everything is wrong that doctor looks for, while Hermes has it open."""
    scene.start("talk", "telegram")
    scene.say("talk", "hello")
    for number in range(30):
        scene.start(f"run{number}", "cron")
        scene.ask("end_session", f"run{number}", "cron_complete")
    scene.start("failing", "cli")
    scene.ask("record_compression_failure_cooldown", "failing", time.time() + 60, TIMED_OUT)
    scene.ask("set_compression_fallback_streak", "failing", 2)
    used = in_local_words(datetime.now(UTC) - timedelta(hours=5))
    route = {
        "session_key": KEY, "session_id": "talk", "platform": "telegram", "chat_type": "dm",
        "updated_at": used,
    }  # fmt: skip
    scene.sql(
        "INSERT INTO gateway_routing (session_key, entry_json, updated_at) VALUES (?, ?, ?)",
        KEY, json.dumps(route), 1.0,
    )  # fmt: skip
    (scene.path / "processes.json").write_text(
        json.dumps([
            {"pid": server, "host_start_time": start_tick(server), "session_key": KEY,
             "command": "python3 -m http.server 8765", "started_at": time.time() - 7200},
            {"pid": server, "host_start_time": 1, "session_key": KEY, "command": "a stranger",
             "started_at": 0},
        ])
    )  # fmt: skip
    folder = scene.path / "sessions"
    folder.mkdir()
    for number in range(3):
        (folder / f"session_run{number}.json").write_text("x" * (1000 + number))
    orphan = folder / "session_20250101_000000_abcdef.json"
    orphan.write_text("x" * 10)
    os.utime(orphan, (time.time() - 8 * 86400,) * 2)
    (folder / "request_dump_talk_20250101_000000_000000.json").write_text("x" * 100)
    (scene.path / "config.yaml").write_text(
        "model: x\nsession_reset:\n  mode: idle\n  idle_minutes: 60\n  at_hour: '4'\n"
    )
    (scene.path / ".env").write_text("API_SERVER_ENABLED=true\nAPI_SERVER_KEY=hunter2\n")
    return scene


def findings(cli: Cli, home: Path) -> dict[str, dict[str, Any]]:
    """What is wrong with a home, by code."""
    (told,) = cli("doctor", str(home), "--json").json()["homes"]
    return {each["code"]: each for each in told["findings"]}


def test_everything_that_is_wrong_is_told_with_number_cost_and_repair(
    cli: Cli, damaged: HermesScene, server: int
) -> None:
    told = findings(cli, damaged.path)
    assert {code: each["count"] for code, each in told.items() if code != "old_sqlite"} == {
        "trivial": 32, "compression": 1, "held": 1, "stale_files": 3, "orphan_files": 1,
        "request_dumps": 1, "config.at_hour": 1, "config.api_server_key": 1,
    }  # fmt: skip
    assert all(each["cost"] and each["repair"] for each in told.values())
    assert told["held"]["repair"].split()[-2:] == ["stop", str(server)]
    assert told["orphan_files"]["bytes"] == 10
    (failing,) = told["compression"]["details"]
    assert failing.startswith("failing: ")
    assert TIMED_OUT in failing
    assert told["config.at_hour"]["where"] == f"{damaged.path}/config.yaml:5"
    assert told["config.api_server_key"]["where"] == f"{damaged.path}/.env:2"
    (home,) = cli("doctor", "hermes", "--json").json()["homes"]
    assert home["reclaimable_bytes"] == 10
    assert "hunter2" not in str(home)


def test_a_person_reads_what_it_costs_and_what_to_type(
    cli: Cli, damaged: HermesScene, server: int
) -> None:
    paragraphs = cli.ok("doctor", str(damaged.path)).split("\n\n")
    told = findings(cli, damaged.path)
    depends = told.pop("old_sqlite", {"words": None})["words"]  # on the SQLite of Hermes
    shown = [
        each
        for each in paragraphs
        if each.split()[0] in ("grave", "costly", "hint") and (not depends or depends not in each)
    ]
    text = re.sub(r"\b(\d+ h)(?: \d+ (?:min|s))+", r"\1", "\n\n".join(shown))  # the test runs on
    golden("doctor", "findings in a Hermes home", text)
    assert len(shown) == len(told)
    assert all(each["repair"] in "".join(shown) for each in told.values())
    levels = [each.split()[0] for each in shown]
    assert levels == sorted(levels, key=("grave", "costly", "hint").index)


def test_asking_changes_nothing_in_the_home(cli: Cli, damaged: HermesScene) -> None:
    damaged.close()
    before = damaged.stamps()
    assert len(findings(cli, damaged.path)) > 5
    assert damaged.stamps() == before


@pytest.mark.parametrize("file", ["processes.json", "sessions/sessions.json", "config.yaml"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe{", b"[" * 100_000, b'{"a": [1, {"pid": []}]}'])
def test_broken_files_break_nothing(
    cli: Cli, scene: HermesScene, file: str, content: bytes
) -> None:
    scene.start("a")
    place = scene.path / file
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(content)
    (scene.path / "gateway.pid").write_bytes(content)
    assert set(findings(cli, scene.path)) <= {"old_sqlite", "config.unreadable"}


def test_a_linked_sessions_folder_is_not_followed(
    cli: Cli, scene: HermesScene, tmp_path: Path
) -> None:
    scene.start("a")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "session_gone.json").write_text("x")
    (scene.path / "sessions").symlink_to(elsewhere)
    told = findings(cli, scene.path)
    assert "orphan_files" not in told
    assert told["linked_folder"]["where"] == str(scene.path / "sessions")
    assert str(elsewhere) in told["linked_folder"]["words"]
    scene.close()
    done = cli("apply", "--home", scene.path.name, "--yes")
    assert done.code == 0, "the rest is done all the same"
    assert (elsewhere / "session_gone.json").exists()


@pytest.mark.parametrize("file", ["processes.json", "gateway.pid", "config.yaml", "gateway.json"])
def test_what_is_no_file_keeps_nobody_waiting(cli: Cli, scene: HermesScene, file: str) -> None:
    scene.start("a")
    os.mkfifo(scene.path / file)
    assert set(findings(cli, scene.path)) <= {"old_sqlite"}


def test_names_made_from_strange_ids_are_found_again(cli: Cli, scene: HermesScene) -> None:
    for id in ("a/b*c", "plain"):
        scene.start(id)
        scene.end(id)
    folder = scene.path / "sessions"
    folder.mkdir()
    for id in ("a/b*c", "plain"):
        (folder / f"session_{HermesFileNames().owner(id)}.json").write_text("x")
    told = findings(cli, scene.path)
    assert told["stale_files"]["count"] == 2
    assert "orphan_files" not in told


@pytest.mark.parametrize("written", [2**62, -(2**62)])
def test_a_file_that_was_written_at_no_time_there_is_breaks_nothing(
    cli: Cli, scene: HermesScene, tmp_path: Path, written: int
) -> None:
    memory = Path("/dev/shm")  # not every disk can keep such a time
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as place:
        scene.close()
        shutil.copy(scene.path / "state.db", place)
        own = OwnFiles(tmp_path / "ledger.db.files", NATIVE).directory("none") / "file"
        their = Path(place, "sessions", "session_20250101_000000_abcdef.json")
        their.parent.mkdir()
        for file in (their, own):
            file.write_text("x")
            os.utime(file, (written, written))
        assert "orphan_files" in findings(cli, Path(place))
        home = ("--home", place, "--allow-remove-all")
        planned = cli("plan", *home[:2], "--json").json()["actions"]
        is_old = their.stat().st_mtime < time.time()
        assert [each["kind"] for each in planned] == ["remove_files"] * is_old
        kept = their.stat().st_mtime_ns
        if is_old:
            cli.ok(
                "undo", cli("apply", *home, "--yes", "--allow-observed", "--json").json()["receipt"]
            )
        assert their.stat().st_mtime_ns == kept
        assert "failed" not in cli("keep", "--once").err


def test_what_was_brought_back_lately_is_not_said_to_go_now(
    cli: Cli, scene: HermesScene, tmp_path: Path
) -> None:
    scene.start("a/b*c")
    scene.end("a/b*c")
    folder = scene.path / "sessions"
    folder.mkdir()
    for owner in (HermesFileNames().owner("a/b*c"), "20250101_000000_abcdef"):
        file = folder / f"session_{owner}.json"
        file.write_text("x")
        os.utime(file, (time.time() - 8 * 86400,) * 2)
    settings = tmp_path / "sexton.yaml"
    settings.write_text("retention: {database_only: true}\n")
    acting = ("--home", str(scene.path), "--config", str(settings), "--json", "--yes")
    done = cli("apply", *acting, "--allow-remove-all", "--allow-observed").json()
    assert os.listdir(folder) == []
    cli.ok("undo", done["receipt"])
    told = findings(cli, scene.path)
    assert (told["stale_files"]["bytes"], told["orphan_files"]["bytes"]) == (0, 0)
    details = told["orphan_files"]["details"]
    golden("doctor", "details of a file that was brought back lately", "\n".join(details))
    assert cli("plan", *acting[:-1]).json()["actions"] == []


def test_a_home_with_nothing_wrong_says_so(cli: Cli, scene: HermesScene) -> None:
    scene.start("a")
    told = findings(cli, scene.path)
    assert set(told) <= {"old_sqlite"}


def test_a_home_that_is_being_written_is_examined_again_and_again(
    cli: Cli, scene: HermesScene
) -> None:
    scene.start("talk")
    scene.hermes.send(scene.path, "write_many", "w", 150, 4)
    looks = 0
    while not scene.hermes.has_answered() or not looks:
        assert set(findings(cli, scene.path)) <= {"old_sqlite", "trivial"}
        looks += 1
    assert scene.hermes.answer() == 600
    (told,) = cli("doctor", str(scene.path), "--json").json()["homes"]
    assert (told["sessions"], told["messages"]) == (151, 600)
    assert scene.sql("PRAGMA integrity_check") == [["ok"]]


@pytest.mark.parametrize(
    ("damage", "code"), [("garbage", 52), ("torn", 52), ("empty", 51), ("another", 51)]
)
def test_a_damaged_or_foreign_database_is_told_in_words(
    cli: Cli, scene: HermesScene, damage: str, code: int
) -> None:
    for number in range(40):
        scene.start(f"s{number}")
        scene.say(f"s{number}", "x" * 2000)
    scene.close()
    whole = scene.database.read_bytes()
    middle = len(whole) // 2
    scene.database.write_bytes(
        {
            "garbage": b"\x00\x01nothing of any kind" * 400,
            "torn": whole[:8192] + bytes(middle) + whole[8192 + middle :],
            "empty": b"",
            "another": whole.replace(b"schema_version", b"schema_verzion"),
        }[damage]
    )
    answer = cli("doctor", str(scene.path), "--json")
    assert answer.code == code
    assert str(scene.database) in answer.err
    assert "Traceback" not in answer.err
