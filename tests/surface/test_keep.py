"""`sexton keep`: sweeps, tells of them, and stops when it is asked to."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sexton.cli.keep_command import _tell_person
from sexton.errors import LedgerIsDirectory
from tests.contract.ledger_contract_samples import everything
from tests.contract.ledger_contract_spending_samples import budget, granted
from tests.golden import golden
from tests.kit.postgres_server import PostgresServer
from tests.surface.program import PATIENCE, Cli, environment, program


@contextmanager
def keeper(
    *arguments: str, command: list[str] | None = None, **changed: str
) -> Iterator[subprocess.Popen[str]]:
    """A running keeper; whatever happens, it is gone afterwards."""
    process = subprocess.Popen(
        command or program("keep", *arguments),
        env=environment(**changed),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_one_sweep_does_what_is_due_and_is_seen(any_cli: Cli, short: str) -> None:
    session = any_cli.talk("a", "1", "2", "3")
    sweep = any_cli("keep", "--once", "--json", "--config", short).json()
    assert [each["session"] for each in sweep["outcomes"]] == [session]
    assert sweep["finished"] is True
    assert any_cli("journal", "--receipt", sweep["receipt"], "--json").items()
    golden("keep", "nothing to do", any_cli.ok("keep", "--once", "--config", short))
    assert any_cli("keep", "--once", "--json", "--config", short).json()["outcomes"] == []


def test_a_person_reads_what_a_sweep_did(cli: Cli, short: str) -> None:
    session = cli.talk("a", "1", "2", "3")
    held = cli.talk("b", "1", "2", "3")
    cli.ok("sessions", "pin", held)
    out = cli.ok("keep", "--once", "--config", short)
    golden("keep", "one session is ended and one held back", out)
    ended, kept, _ = out.splitlines()
    assert (session in ended, held in kept) == (True, True)


def test_a_reset_that_is_held_back_is_told_when_that_changes_and_not_by_every_sweep(
    cli: Cli, short: str, capsys: pytest.CaptureFixture[str]
) -> None:
    held = cli.talk("b", "1", "2", "3")
    cli.ok("sessions", "pin", held)
    cli.ok("keep", "--once", "--config", short)
    with cli.opened() as opened:
        tell = _tell_person(opened)
        tell(opened.sweep())
        golden("keep", "a session is held back", capsys.readouterr().out)
        for _ in range(2):
            tell(opened.sweep())
            assert capsys.readouterr().out == ""


def test_a_sweep_says_what_the_dead_had_reserved_and_gives_back(any_cli: Cli) -> None:
    any_cli.talk("a", "1")
    with any_cli.opened() as opened:
        [session] = everything(opened.ledger)
        for worker in ("gone-1", "gone-2"):
            granted(opened.ledger, session, budget(), by=worker, input_tokens=30)
            if worker == "gone-1":
                out = any_cli.ok("keep", "--once")
                golden("keep", "what the dead had reserved is given back", out)
                assert session.id in out
    sweep = any_cli("keep", "--once", "--json").json()
    assert sweep["freed"] == [
        {"session": session.id, "worker": "gone-2", "held": {"tokens": 30}},
    ]
    assert any_cli("keep", "--once", "--json").json()["freed"] == []


@pytest.mark.slow
def test_a_sweep_says_which_processes_it_stopped_and_told_of(cli: Cli, tmp_path: Path) -> None:
    config = tmp_path / "stop.yaml"
    for handling in ("stop", "warn"):
        config.write_text(f"processes: {{on_end: {handling}}}\n", encoding="utf-8")
        with cli.opened() as opened, opened.worker() as worker:
            sessions = [worker.session(f"{handling} {number}") for number in range(2)]
            children = [each.spawn(["sleep", "6000"]) for each in sessions]
            sessions[0].end()
            out = cli.ok("keep", "--once", "--config", str(config))
            sessions[1].end()
            sweep = cli("keep", "--once", "--json", "--config", str(config)).json()
            [noted] = sweep["processes"]
            action = "stop_process" if handling == "stop" else "leave_process"
            assert (noted["action"], noted["pid"]) == (action, children[1].pid)
            golden("keep", f"a process outlives its session: {handling}", out)
            assert str(children[0].pid) in out
            for child in children:
                child.popen.kill()
                child.wait()
                child.close()


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.slow
def test_a_keeper_that_is_asked_to_stop_ends_with_0(cli: Cli, which: signal.Signals) -> None:
    cli.talk("a", "hello")
    with keeper("--json", "--ledger", cli.url) as process:
        assert process.stdout
        assert json.loads(process.stdout.readline())["finished"] is True
        process.send_signal(which)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "", "")
    with cli.opened() as opened:
        assert opened.ledger.workers.all() == []


@pytest.mark.slow
def test_a_keeper_stops_in_the_middle_of_a_long_sweep_and_another_goes_on(
    cli: Cli, short: str
) -> None:
    count = 900  # more lines than a pipe holds: the keeper can not finish before it is read from
    with cli.opened() as opened, opened.worker() as worker:
        for number in range(count):
            session = worker.session(f"k{number}", source="telegram")
            session.append_many([{"role": "user", "content": "x"}] * 3)
    with keeper("-v", "--json", "--ledger", cli.url, "--config", short) as process:
        assert process.stderr
        assert "native/" in process.stderr.readline(), "it has begun to end sessions"
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    sweep = json.loads(out)
    done = len(sweep["outcomes"])
    assert sweep["finished"] is False
    assert 0 < done < count
    ended = cli("doctor", "--json").json()["homes"][0]["ended"]
    assert ended == done
    cli.ok("keep", "--once", "--config", short)
    assert cli("doctor", "--json").json()["homes"][0]["open"] == 0


@pytest.mark.slow
def test_a_keeper_ends_when_nobody_reads_what_it_says(cli: Cli) -> None:
    with keeper("--json", "--ledger", cli.url, SEXTON_KEEPER__SWEEP_EVERY="1s") as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(PATIENCE) == 141
        assert process.stderr.read() == ""
        process.stdout = None


IMPATIENT = """
import signal
import sexton.cli
from sexton.store.postgres import PostgresDatabase

opened = []
open_one = PostgresDatabase.__init__

def noted(database, *given, **named):
    open_one(database, *given, **named)
    opened.append(database)

def lose_patience(*_):
    for database in opened:
        database._deadline = 1.0

PostgresDatabase.__init__ = noted
signal.signal(signal.SIGUSR1, lose_patience)
sexton.cli.main()
"""
"""Gives a server that is gone one second instead of fifteen, from SIGUSR1 on."""


@pytest.mark.postgres
def test_a_keeper_whose_server_has_gone_still_ends_with_0_when_it_is_asked_to_stop() -> None:
    with PostgresServer() as server:
        url = server.create_database()
        command = [sys.executable, "-c", IMPATIENT, "keep", "--json", "--ledger", url]
        with keeper(command=command, SEXTON_KEEPER__SWEEP_EVERY="1s") as process:
            assert process.stdout
            assert process.stderr
            assert json.loads(process.stdout.readline())["finished"] is True
            process.send_signal(signal.SIGUSR1)
            server.stop()
            while " ERROR " not in (line := process.stderr.readline()):
                assert " WARNING " in line  # of the heartbeat
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    *again, told = err.splitlines()
    # It may have swept or beaten once more.
    assert all(" ERROR " in line or " WARNING " in line for line in again)
    assert " WARNING " in told


def test_a_sweep_that_fails_once_is_an_error(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ledger.db").mkdir()
    assert cli("keep", "--once").code == LedgerIsDirectory.exit_code


def test_a_home_that_is_not_there_does_not_stop_a_keeper(cli: Cli, tmp_path: Path) -> None:
    settings = tmp_path / "homes.yaml"
    settings.write_text(f"homes: [{{path: {tmp_path / 'nowhere'}}}]\nreset: {{max_messages: 3}}\n")
    session = cli.talk("a", "1", "2", "3")
    answer = cli("keep", "--once", "--json", "--config", str(settings))
    assert [each["session"] for each in answer.json()["outcomes"]] == [session]
    assert answer.json()["troubles"]
    assert "nowhere" in answer.err
