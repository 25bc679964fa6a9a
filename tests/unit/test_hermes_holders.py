"""Who has a Hermes database open, asked of the kernel about real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

from sexton.homes.hermes.holders import Kind, Use, kind_of, take_census, use_of
from tests.golden import golden
from tests.kit.apart import may_live_apart
from tests.layers import unavailable
from tests.unit.hermes_holding import holding, is_locked, make_database, ticks

APART = """
import json, sys
from pathlib import Path
from sexton.homes.hermes.holders import take_census

def census(report, place):
    found = take_census(Path(place), Path(place, "state.db"))
    report.tell(json.dumps([found.gap, found.unsafe, len(found.holders)]))
"""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return make_database(tmp_path / "home")


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (["python", "/venv/bin/hermes", "gateway", "run"], Kind.GATEWAY),
        (["/venv/bin/python", "-m", "hermes_cli.main", "gateway"], Kind.GATEWAY),
        (["/venv/bin/python", "-I", "-m", "hermes_cli.main", "gateway"], Kind.GATEWAY),
        (["/venv/bin/hermes"], Kind.CLI),
        (["hermes", "chat", "-q", "gateway run"], Kind.CLI),
        (["hermes", "-z", "gateway"], Kind.CLI),
        (["hermes", "--profile", "x", "gateway", "run"], Kind.CLI),
        (["python", "-m", "hermes_cli.main", "chat"], Kind.CLI),
        (["/usr/bin/sexton", "keep"], Kind.SEXTON),
        (["python", "-m", "sexton", "keep"], Kind.SEXTON),
        (["python", "-I", "-S", "/v/sexton/homes/hermes/probe.py", "state.db"], Kind.SEXTON),
        (["python", "/v/hermes/probe.py", "state.db"], Kind.OTHER),
        (["sqlite3", "/home/ada/.hermes/state.db"], Kind.OTHER),
        (["vim", "notes", "about", "the", "hermes", "gateway"], Kind.OTHER),
        ([""], Kind.OTHER),
    ],
)
def test_a_process_is_what_its_command_line_says_unless_that_is_a_prompt(
    command: Sequence[str], kind: Kind
) -> None:
    assert kind_of(command) is kind


@pytest.mark.parametrize(
    ("command", "use"),
    [
        (["hermes"], Use.TERMINAL),
        (["/venv/bin/python", "-m", "hermes_cli.main", "chat"], Use.TERMINAL),
        (["python", "-m", "tui_gateway.entry"], Use.TERMINAL),
        (["hermes", "--tui"], Use.TERMINAL),
        (["hermes", "-m", "a-model", "--resume", "one"], Use.TERMINAL),
        (["hermes", "chat", "-q", "Good morning"], Use.APART),
        (["hermes", "-z", "dashboard"], Use.APART),
        (["hermes", "chat", "--query=Good morning", "-Q"], Use.APART),
        (["hermes", "chat", "-q", "Good morning", "--resume", "one"], Use.TERMINAL),
        (["hermes", "chat", "-q", "Good morning", "--continue"], Use.TERMINAL),
        (["hermes", "-c", "-z", "Good morning"], Use.TERMINAL),
        (["hermes", "-p", "coder", "cron", "tick"], Use.APART),
        (["python", "-m", "hermes_cli.main", "mcp", "serve"], Use.APART),
        (["hermes", "--profile", "coder", "dashboard", "--no-open"], Use.SERVER),
        (["hermes", "acp"], Use.SERVER),
        (["hermes", "something", "new"], Use.TERMINAL),
        (["hermes", "--new", "dashboard"], Use.SERVER),
        (["node", "ui.js"], Use.TERMINAL),
        ([""], Use.TERMINAL),
    ],
)
def test_what_is_not_known_to_be_anything_else_is_a_terminal(
    command: Sequence[str], use: Use
) -> None:
    assert use_of(command) is use


@pytest.mark.parametrize("log", [True, False])
def test_nobody_has_a_database_open_that_nobody_has_open(tmp_path: Path, log: bool) -> None:
    database = make_database(tmp_path / "home", log=log)
    before = sorted(os.listdir(database.parent))
    census = take_census(database.parent, database)
    assert (census.holders, census.unsafe, census.gateway) == ((), None, None)
    assert census.gap is None or os.geteuid() != 0
    assert sorted(os.listdir(database.parent)) == before


def test_every_holder_is_found_whatever_the_first_one_is(database: Path) -> None:
    with (
        holding(database, "hermes", ["gateway", "run"]) as gateway,
        holding(database, "hermes") as cli,
        holding(database, "sexton") as sexton,
        holding(database) as other,
    ):
        census = take_census(database.parent, database)
        found = {each.pid: each.kind for each in census.holders}
        assert found == {
            gateway.pid: Kind.GATEWAY,
            cli.pid: Kind.CLI,
            sexton.pid: Kind.SEXTON,
            other.pid: Kind.OTHER,
        }
        assert {each.pid for each in census.strangers} == {cli.pid, other.pid}
        assert take_census(database.parent, database, quick=True).holders == census.holders
    assert take_census(database.parent, database).holders == ()


def test_a_process_that_comes_after_a_census_is_noticed(database: Path) -> None:
    with holding(database, "hermes", ["gateway", "run"]):
        first = take_census(database.parent, database)
        assert not take_census(database.parent, database, quick=True).has_grown(first)
        with holding(database, "hermes"):
            assert take_census(database.parent, database, quick=True).has_grown(first)
        with holding(database, "sexton"):  # a keeper, or another terminal
            assert not take_census(database.parent, database, quick=True).has_grown(first)


def test_the_home_names_its_gateway_by_pid_and_start(database: Path) -> None:
    home = database.parent
    with holding(database) as process:
        record = {"pid": process.pid, "kind": "hermes-gateway", "start_time": ticks(process.pid)}
        for written, kind, gateway in (
            (record, Kind.GATEWAY, process.pid),
            (record | {"start_time": 1}, Kind.OTHER, None),
            (record | {"start_time": None}, Kind.OTHER, None),
            (record | {"pid": str(process.pid)}, Kind.OTHER, None),
            (record | {"pid": -1}, Kind.OTHER, None),
            ([record], Kind.OTHER, None),
        ):
            (home / "gateway.pid").write_text(json.dumps(written))
            census = take_census(home, database)
            assert ([each.kind for each in census.holders], census.gateway) == ([kind], gateway)
        (home / "gateway.pid").write_text("{broken")
        assert take_census(home, database).gateway is None
    (home / "gateway.pid").write_text(json.dumps(record))
    assert take_census(home, database).gateway is None, "it is gone"


def test_our_own_connection_is_not_counted_and_keeps_its_locks(database: Path) -> None:
    ours = apsw.Connection(str(database))
    ours.execute("BEGIN IMMEDIATE; INSERT INTO notes VALUES ('ours')")
    assert is_locked(database)
    assert take_census(database.parent, database).holders == ()
    assert is_locked(database), "asking has not let go of anything"
    ours.close()


def test_a_database_without_a_log_is_found_by_its_descriptors(tmp_path: Path) -> None:
    database = make_database(tmp_path / "home", log=False)
    with holding(database, "hermes") as cli:
        census = take_census(database.parent, database)
        assert [each.pid for each in census.holders] == [cli.pid]


def test_whoever_can_not_be_seen_makes_the_census_incomplete(
    database: Path, tmp_path: Path
) -> None:
    """Asked from a pid namespace in which the holder does not exist."""
    if not may_live_apart():
        unavailable("no pid namespace can be had on this machine")
    (tmp_path / "asking.py").write_text(APART)
    with holding(database, "hermes"):
        gap, _, _ = census_from_apart(tmp_path, database)
    golden("homes", "a holder that can not be seen", str(gap))
    gap, unsafe, holders = census_from_apart(tmp_path, database)
    assert (gap, unsafe, holders) == (None, None, 0), "locks are felt from everywhere"


def census_from_apart(scratch: Path, database: Path) -> tuple[str | None, str | None, int]:
    code = (
        "import sys; from tests.kit.apart import apart; "
        "from tests.kit.nursery_process import Report; "
        "apart(Report(1), 'asking:census', sys.argv[1])"
    )
    places = os.pathsep.join((str(scratch), *sys.path))
    environment = os.environ | {"PYTHONPATH": places}
    asked = subprocess.run(
        [sys.executable, "-c", code, str(database.parent)],
        capture_output=True, check=True, timeout=240, env=environment,
    )  # fmt: skip
    gap, unsafe, holders = json.loads(asked.stdout.splitlines()[-1])
    return gap, unsafe, holders
