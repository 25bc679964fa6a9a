"""Facts for a diagnosis come out of any home, whatever is stored in it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.homes.hermes.condition import Condition, Machine, Small, condition_of
from sexton.liveness.process_identity import SystemProcesses, start_tick
from sexton.processes.process_table import begun_at
from sexton.testing import ManualClock
from tests.contract.examples import examples

SESSIONS = (
    "id", "source", "started_at", "ended_at", "compression_failure_error",
    "compression_fallback_streak",
)  # fmt: skip
MESSAGES = ("id", "session_id", "role", "content", "timestamp")
ANYTHING = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.binary(max_size=8),
    st.sampled_from(['{"session_id": 3}', "{", "[]", '{"session_id": "s", "updated_at": "x"}']),
)


def look(home: Path) -> Condition:
    return condition_of(home, ManualClock(), Machine(SystemProcesses(), begun_at), "UTC")


def make(home: Path, sessions: list[Any], messages: list[Any], routes: list[Any]) -> None:
    """A home whose columns take any value."""
    db = apsw.Connection(str(home / "state.db"))
    db.pragma("synchronous", "off")
    db.execute("CREATE TABLE schema_version (version); INSERT INTO schema_version VALUES (22)")
    db.execute(f"CREATE TABLE sessions ({', '.join(SESSIONS)})")
    db.execute(f"CREATE TABLE messages ({', '.join(MESSAGES)})")
    db.execute("CREATE TABLE gateway_routing (scope, session_key, entry_json, updated_at)")
    for table, width, rows in (("sessions", 6, sessions), ("messages", 5, messages),
                               ("gateway_routing", 4, routes)):  # fmt: skip
        for row in rows:
            db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * width)})", row)
    db.close()


@examples(40)
@given(
    sessions=st.lists(st.tuples(*[ANYTHING] * 6), max_size=3),
    messages=st.lists(st.tuples(*[ANYTHING] * 5), max_size=3),
    routes=st.lists(st.tuples(*[ANYTHING] * 4), max_size=3),
)
def test_no_value_in_any_column_breaks_an_examination(
    tmp_path_factory: pytest.TempPathFactory, sessions: list[Any], messages: list[Any],
    routes: list[Any],
) -> None:  # fmt: skip
    home = tmp_path_factory.mktemp("home")
    make(home, sessions, messages, routes)
    seen = look(home)
    assert seen.small.trivial == len(sessions)
    assert seen.storage.schema == 22


def test_small_sessions_are_counted_by_their_messages_and_no_further_than_need_be(
    tmp_path: Path,
) -> None:
    counts = {"none": 0, "one": 1, "five": 5, "six": 6, "open": 3}
    make(
        tmp_path,
        [(id, "cli", 1.0, None if id == "open" else 2.0, None, 0) for id in counts],
        [(None, id, "user", "x", 1.0) for id, count in counts.items() for _ in range(count)],
        [],
    )
    assert look(tmp_path).small == Small(empty=1, trivial=4, ended=3)


def test_processes_are_those_that_run_and_are_the_ones_that_were_meant(tmp_path: Path) -> None:
    make(tmp_path, [], [], [])
    mine: dict[str, Any] = {
        "pid": os.getpid(),
        "host_start_time": start_tick(os.getpid()),
        "session_key": "k",
    }
    mine |= {"command": "run\nme", "started_at": 1_700_000_000.0}
    others = (
        {"host_start_time": 1}, {"pid": True}, {"pid": -1}, {"pid": "1"}, {"pid": 2**40},
        {"pid_scope": "sandbox"}, {"host_start_time": None}, {"started_at": None},
    )  # fmt: skip
    entries = [mine, *(mine | other for other in others), None, 7]
    (tmp_path / "processes.json").write_text(json.dumps(entries))
    pid = {"pid": os.getpid(), "start_time": start_tick(os.getpid())}
    (tmp_path / "gateway.pid").write_text(json.dumps(pid))
    seen = look(tmp_path)
    assert [(each.pid, each.session) for each in seen.processes] == [(os.getpid(), "k")]
    assert "\n" not in seen.processes[0].command
    assert seen.gateway == os.getpid()


def test_a_process_of_an_older_release_is_told_by_the_moment_it_started(tmp_path: Path) -> None:
    make(tmp_path, [], [], [])
    mine = {"pid": os.getpid(), "session_key": "k", "command": "x"}
    started = begun_at(os.getpid())
    assert started is not None
    moments = (10**400, started + 0.5, started - 60, started + 60)
    entries = [mine | {"started_at": moment} for moment in moments]
    (tmp_path / "processes.json").write_text(json.dumps(entries))
    (only,) = look(tmp_path).processes
    assert only.started_at == started + 0.5


def test_without_a_table_the_conversations_are_those_of_the_file(tmp_path: Path) -> None:
    make(tmp_path, [("s", "telegram", 1.0, None, None, 0)], [], [])
    db = apsw.Connection(str(tmp_path / "state.db"))
    db.execute("DROP TABLE gateway_routing")
    db.close()
    (tmp_path / "sessions").mkdir()
    entry = {"session_key": "k", "session_id": "s", "updated_at": "2026-01-01T10:00:00"}
    mirror = {"_README": "this is a copy", "k": entry}
    (tmp_path / "sessions" / "sessions.json").write_text(json.dumps(mirror))
    (route,) = look(tmp_path).routes
    assert (route.key, route.session, route.platform) == ("k", "s", "unknown")
