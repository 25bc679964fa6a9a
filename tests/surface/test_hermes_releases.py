"""Homes of every published Hermes are observed and examined; of an unknown one it is said why not.

`make hermes-all` sets HERMES_RELEASES to all releases; otherwise it is the newest one.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any

import apsw
import psutil
import pytest

from sexton.cli.examination import STILL_OPEN
from sexton.homes.hermes.installed import Installed
from sexton.rules.rulebook import decode
from tests import layers
from tests.golden import golden
from tests.scenario.hermes_home import Hermes, HermesScene, in_local_words
from tests.surface.program import ROOT, Cli

USUAL = "0.19.0"
RELEASES = os.environ.get("HERMES_RELEASES", USUAL).split()
WRITE_CONFIG = """
import sys, yaml
from pathlib import Path
from hermes_cli import config
config.save_config(config.load_config())
(Path(sys.argv[1]) / "whole.yaml").write_text(yaml.safe_dump(config.DEFAULT_CONFIG))
"""
WRITE_PROCESS = """
import json, os, dataclasses
from tools import process_registry as registry
given = json.loads(os.environ["GIVEN"])
mine = registry.ProcessSession(id="proc_1", command="serve", task_id="default",
    session_key=given["key"], pid=given["pid"], started_at=given["started_at"])
if "host_start_time" in {each.name for each in dataclasses.fields(mine)}:
    with open(f"/proc/{given['pid']}/stat") as stat:
        mine.host_start_time = int(stat.read().rpartition(")")[2].split()[19])
known = registry.ProcessRegistry()
known._running[mine.id] = mine
known._write_checkpoint()
"""
SINCE_22 = {
    "sessions": (
        "created_source TEXT", "system_prompt_hash TEXT REFERENCES system_prompts (hash)",
        "git_metadata_generation INTEGER NOT NULL DEFAULT 0", "title_source TEXT",
        "last_activity_at REAL", "last_activity_description TEXT", "last_activity_provenance TEXT",
        "compression_ineffective_count INTEGER NOT NULL DEFAULT 0",
        "compression_recovery_deadline REAL",
        "compression_overload_streak INTEGER NOT NULL DEFAULT 0", "transport_profile TEXT",
        "pinned INTEGER NOT NULL DEFAULT 0", "hidden INTEGER NOT NULL DEFAULT 0",
        "last_read_at REAL", "tool_names TEXT",
    ),
    "messages": (
        "_compressed_summary INTEGER NOT NULL DEFAULT 0", "display_kind TEXT",
        "display_metadata TEXT", "display_identity BLOB", "display_order INTEGER",
    ),
}  # fmt: skip
"""The columns of the unpublished schema 30 that schema 22 does not have."""


@pytest.fixture(scope="module", params=RELEASES)
def release(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Hermes, Path]]:
    """A running Hermes of a release and its interpreter, installed if need be."""
    version: str = request.param
    layers.provide("install_hermes.sh", seconds=900, HERMES_VERSION=version)
    name = "hermes" if version == USUAL else f"hermes-{version}"
    python = ROOT / ".venvs" / name / "bin" / "python"
    with Hermes(python, tmp_path_factory.mktemp("scratch")) as running:
        yield running, python


@pytest.fixture
def newest(tmp_path: Path) -> Path:
    """A home of schema 30, which no release has yet, with a pinned session that is active."""
    home = tmp_path / "newest"
    home.mkdir()
    db = apsw.Connection(str(home / "state.db"))
    db.pragma("journal_mode", "wal")
    schema = resources.files("sexton.homes.hermes.demo").joinpath("schema.sql").read_text()
    db.execute(schema)
    db.execute("CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, prompt TEXT NOT NULL)")
    for table, columns in SINCE_22.items():
        for column in columns:
            db.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    db.execute("UPDATE schema_version SET version = 30")
    db.execute(
        "INSERT INTO sessions (id, source, started_at, pinned, last_activity_at) "
        "VALUES ('a', 'cli', 1780000000.0, 1, 1780000600.0), ('b', 'tui', 1780000000.0, 0, NULL)"
    )
    db.execute(
        "UPDATE sessions SET ended_at = 1780000001.0, end_reason = 'startup_orphan_reap' "
        "WHERE id = 'b'"
    )
    db.execute(
        "INSERT INTO messages (session_id, role, content, timestamp) "
        "VALUES ('a', 'user', 'hi', 1780000000.0)"
    )
    db.close()
    return home


def examined(cli: Cli, home: Path) -> dict[str, Any]:
    """What doctor tells of a home."""
    (told,) = cli("doctor", str(home), "--json").json()["homes"]
    assert isinstance(told, dict)
    return told


def test_a_home_of_the_release_is_observed_and_examined_and_left_as_it_was(
    cli: Cli, release: tuple[Hermes, Path], tmp_path: Path
) -> None:
    scene = HermesScene(release[0], tmp_path / "work")
    for id, source in (("one", "cli"), ("two", "cli"), ("run", "cron")):
        scene.start(id, source)
        scene.say(id, "Good morning")
    scene.end("two")
    scene.ask("end_session", "run", "cron_complete")
    scene.start("child", "subagent", parent_session_id="one")
    (scene.path / "sessions").mkdir(exist_ok=True)
    (scene.path / "sessions" / "session_two.json").write_text("{}")
    told = examined(cli, scene.path)
    assert (told["sessions"], told["open"], told["messages"]) == (4, 2, 3)
    reasons = {each["reason"]: each["sessions"] for each in told["end_reasons"]}
    assert reasons == {STILL_OPEN: 2, "cli_close": 1, "cron_complete": 1}
    assert "stale_files" in {each["code"] for each in told["findings"]}
    scene.say("one", "and good night")
    assert examined(cli, scene.path)["messages"] == 4
    scene.close()
    before = scene.stamps()
    again = examined(cli, scene.path)
    assert again["messages"] == 4
    assert again["disk"]["schema_version"] in range(1, 31)
    assert scene.stamps() == before
    why = cli("why", "work/child", "--json").json()
    assert why["session"]["parent"] == "one"
    answers = {each["question"]: each["answer"] for each in why["answers"]}
    assert answers["owner"] == "dead", "the home is asked although no settings list it"


def test_the_configuration_that_the_release_writes_is_left_in_peace(
    cli: Cli, release: tuple[Hermes, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hermes, python = release
    scene = HermesScene(hermes, tmp_path / "work")
    environment = {**os.environ, "HERMES_HOME": str(scene.path)}
    environment["HERMES_DISABLE_LAZY_INSTALLS"] = "1"
    subprocess.run(
        [python, "-c", WRITE_CONFIG, scene.path], env=environment, check=True, timeout=240
    )
    monkeypatch.setenv("PATH", str(python.parent), prepend=os.pathsep)
    (site,) = python.parent.parent.glob("lib/python3*/site-packages")
    assert "compression" in Installed(site).sections
    for file in ("config.yaml", "whole.yaml"):
        (scene.path / "config.yaml").write_bytes((scene.path / file).read_bytes())
        told = examined(cli, scene.path)["findings"]
        assert [each for each in told if each["code"].startswith("config.")] == []


@pytest.mark.parametrize(
    "config",
    ["", "session_reset: {idle_minutes: 90}", "session_reset: {mode: idle, idle_minutes: 45}"],
)
def test_its_resets_are_understood_as_the_release_understands_them(
    release: tuple[Hermes, Path], tmp_path: Path, config: str
) -> None:
    scene = HermesScene(release[0], tmp_path / "work")
    (scene.path / "config.yaml").write_text(config)
    policy = decode(scene.home.rules()).reset_rules[0].policy
    assert [policy.mode, policy.idle_minutes, policy.at_hour] == scene.ask("reset_policy")


def test_a_reset_that_a_process_holds_back_is_told_as_the_release_writes_it_down(
    cli: Cli, release: tuple[Hermes, Path], tmp_path: Path
) -> None:
    scene = HermesScene(release[0], tmp_path / "work")
    scene.start("talk", "telegram")
    (scene.path / "config.yaml").write_text("session_reset: {mode: idle, idle_minutes: 60}\n")
    key, used = "agent:main:telegram:dm:7", in_local_words(datetime.now(UTC) - timedelta(hours=5))
    route = {
        "session_key": key, "session_id": "talk", "platform": "telegram", "chat_type": "dm",
        "updated_at": used,
    }  # fmt: skip
    if scene.sql("SELECT 1 FROM sqlite_master WHERE name = 'gateway_routing'"):
        scene.sql(
            "INSERT INTO gateway_routing (session_key, entry_json, updated_at) VALUES (?, ?, 1)",
            key, json.dumps(route),
        )  # fmt: skip
    else:
        (scene.path / "sessions").mkdir(exist_ok=True)
        (scene.path / "sessions" / "sessions.json").write_text(json.dumps({key: route}))
    with subprocess.Popen(["sleep", "600"]) as idle:
        try:  # `processes.json` is written by the release's own registry
            began = psutil.Process(idle.pid).create_time()
            given = {"pid": idle.pid, "started_at": began, "key": key}
            environment = {**os.environ, "HERMES_HOME": str(scene.path), "GIVEN": json.dumps(given)}
            environment["HERMES_DISABLE_LAZY_INSTALLS"] = "1"
            python = release[1]
            subprocess.run([python, "-c", WRITE_PROCESS], env=environment, check=True, timeout=240)
            told = {each["code"]: each for each in examined(cli, scene.path)["findings"]}
        finally:
            idle.kill()
    assert told["held"]["repair"].split()[-2:] == ["stop", str(idle.pid)]


def test_a_home_of_the_schema_to_come_is_observed_and_examined(cli: Cli, newest: Path) -> None:
    (newest / "config.yaml").write_text("session_reset: {mode: idle}\n")
    told = examined(cli, newest)
    assert (told["sessions"], told["open"], told["disk"]["schema_version"]) == (2, 1, 30)
    assert "config.resets_removed" in {each["code"] for each in told["findings"]}
    pinned = cli("why", "newest/a", "--json").json()["session"]
    assert pinned["pinned"]
    assert pinned["active_at"] == "2026-05-28T20:36:40.000000Z"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE schema_version SET version = 31",
        "DELETE FROM schema_version",
        "ALTER TABLE messages RENAME TO said",
        "ALTER TABLE sessions RENAME COLUMN ended_at TO over",
    ],
)
def test_what_is_not_known_is_refused_with_what_was_found(
    cli: Cli, newest: Path, change: str
) -> None:
    db = apsw.Connection(str(newest / "state.db"))
    db.execute(f"PRAGMA legacy_alter_table = ON; {change}")
    db.close()
    answer = cli("doctor", str(newest))
    assert answer.code == 51
    golden("homes", f"unknown: {change}", answer.err)
