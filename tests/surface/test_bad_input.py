"""What goes wrong is said clearly, has an exit code of its own, and changes nothing."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden import golden
from tests.surface.program import Answer, Cli, environment

NOBODY = 65534
READING = (["sessions", "list"], ["sessions", "show", "x"], ["why", "x"], ["journal"], ["doctor"])
NAMING = (
    ["sessions", "show", "nothing"],
    ["sessions", "end", "nothing", "--yes"],
    ["sessions", "reset", "nothing"],
    ["sessions", "pin", "nothing"],
    ["sessions", "export", "nothing"],
    ["why", "nothing"],
    ["journal", "--session", "nothing"],
)


def spoken(words: list[str]) -> str:
    return " ".join(words)


@pytest.mark.parametrize("command", NAMING, ids=spoken)
def test_an_unknown_session_exits_20(cli: Cli, command: list[str]) -> None:
    cli.talk("a", "hello")
    answer = cli(*command)
    assert answer.code == 20
    golden("errors", "there is no such session", answer.err)
    error = cli(*command, "--json").error()
    assert error.keys() == {"error", "message", "hint", "exit_code"}
    assert (error["error"], error["exit_code"]) == ("SessionNotFound", 20)
    assert answer.err == f"sexton: {error['message']}\nhint: {error['hint']}\n"


@pytest.mark.parametrize("command", [*NAMING, ["journal"]], ids=spoken)
def test_without_a_ledger_none_is_made_to_say_that_it_is_empty(
    cli: Cli, command: list[str]
) -> None:
    answer = cli(*command)
    assert answer.code == 10
    golden("errors", "there is no ledger", answer.err)
    assert not Path(cli.url).exists()


@pytest.mark.parametrize(
    "name", ["", "x" * 2000, "\udcff", "a\udcffb"], ids=["empty", "long", "bytes", "mixed"]
)
def test_a_name_that_can_not_be_stored_exits_25(cli: Cli, name: str) -> None:
    cli.talk("a", "hello")
    for command in (
        ["why", name],
        ["sessions", "list", "--key", name],
        ["journal", "--receipt", name],
    ):
        assert cli(*command).code == 25


@pytest.mark.parametrize("command", READING, ids=spoken)
def test_a_ledger_that_is_a_directory_exits_9(cli: Cli, tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "ledger.db").mkdir()
    answer = cli(*command)
    assert answer.code == 9
    golden("errors", "the ledger is a directory", answer.err)


@pytest.mark.parametrize("command", READING, ids=spoken)
def test_a_ledger_that_is_no_database_exits_12_and_stays_as_it_is(
    cli: Cli, tmp_path: Path, command: list[str]
) -> None:
    file = tmp_path / "ledger.db"
    file.write_bytes(b"dear diary, " * 1000)
    assert cli(*command).code == 12
    assert file.read_bytes() == b"dear diary, " * 1000
    assert os.listdir(tmp_path) == ["ledger.db"]


@pytest.mark.parametrize(
    "url", ["", "mysql://host/db", "sqlite://", "sqlite:///", "ledger\udcff.db"], ids=ascii
)
def test_an_address_that_names_no_ledger_exits_10(cli: Cli, url: str) -> None:
    cli.url = url
    assert cli("sessions", "list").code == 10
    assert cli("keep", "--once").code == 10


def test_the_directory_of_a_user_who_does_not_exist_is_not_found(cli: Cli) -> None:
    nowhere = "~nobody-has-this-name/x"
    assert cli("doctor", nowhere).code == 50
    assert cli("plan", "--home", nowhere).code == 50
    for command in (["sessions", "list"], ["config", "check"], ["config", "show"]):
        assert cli(*command, "--config", nowhere).code == 31
    cli.url = f"{nowhere}.db"
    assert cli("sessions", "list").code == 10
    assert cli("doctor").code == 10


def test_a_server_that_is_down_exits_15(cli: Cli) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can answer there
        cli.url = f"postgresql://nobody@127.0.0.1:{taken.getsockname()[1]}/none"
        error = cli("sessions", "list", "--json").error()
    assert (error["exit_code"], error["error"]) == (15, "LedgerUnreachable")
    golden("errors", "hint where a server is down", error["hint"])


@pytest.fixture
def others() -> Iterator[Path]:
    """A directory everybody may read and only this user may write."""
    folder = Path(tempfile.mkdtemp(prefix="sexton-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


AS_NOBODY = """
import os, sys
import sexton.cli.sessions.session_list, sexton.cli.keep_command
import sexton.cli.trouble, sexton.cli.cli_logs
import sexton.cli.root, sexton.cli.sessions
if os.getuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
sys.exit(sexton.cli.run(sys.argv[1:]))
"""


def call_as_nobody(*arguments: str) -> Answer:
    """Run a command as a user who owns nothing, or as this one if that can not be changed."""
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, *arguments],
        env=environment(XDG_CONFIG_HOME="/nowhere"),
        cwd="/",
        capture_output=True,
        timeout=240,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("command", [["sessions", "list"], ["keep", "--once"]], ids=spoken)
def test_a_ledger_that_can_not_be_written_exits_13(
    cli: Cli, others: Path, command: list[str]
) -> None:
    cli.url = str(others / "ledger.db")
    session = cli.talk("a", "hello")
    (others / "ledger.db").chmod(0o444)
    others.chmod(0o555)
    answer = call_as_nobody(*command, "--json", "--ledger", cli.url)
    error = answer.error()
    assert (answer.code, error["error"]) == (13, "LedgerReadOnly")
    assert cli.url in error["message"]
    golden("errors", "hint where a ledger can not be written", error["hint"])
    others.chmod(0o755)
    (others / "ledger.db").chmod(0o600)
    assert [each["id"] for each in cli("sessions", "list", "--json").items()] == [session]


def test_an_ambiguous_home_name_lists_what_is_known(cli: Cli) -> None:
    cli.talk("a", "hello")
    answer = cli("sessions", "list", "--home", "hermse")
    assert answer.code == 50
    assert "native" in answer.err
