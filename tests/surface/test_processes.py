"""`sexton processes`: is what is shown what there is, and what is stopped what was meant?"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sexton.core.record import replace
from sexton.processes.agent_processes import SpawnedProcess
from sexton.processes.model import Doing, Ending, Figures
from sexton.processes.process_table import read_command, tags_of
from sexton.sessions.agent_session import OpenSession
from sexton.wiring import Sexton
from tests.golden import golden
from tests.scenario.process_programs import PATIENCE, STUBBORN, WAIT, eventually, lives
from tests.surface.program import Cli, environment, program
from tests.surface.test_terminal import Terminal

FORKS_ONE_THAT_ENDS = """
import os, signal, sys
child = os.fork()
if child == 0:
    signal.pause()
print(child, flush=True)
"""


class Desk:
    """A session with a process, opened through the library."""

    def __init__(self, opened: Sexton) -> None:
        self.opened = opened
        self.session: OpenSession = opened.worker().session("chat", source="telegram")
        self.spawned: list[SpawnedProcess] = []

    def spawn(self, *more: str, **options: str) -> SpawnedProcess:
        made = self.session.spawn([sys.executable, "-c", WAIT, *more], **options)
        self.spawned.append(made)
        assert eventually(lambda: tags_of(made.pid) == (made.tag,))
        return made


@pytest.fixture
def desk(any_cli: Cli) -> Iterator[Desk]:
    with any_cli.opened() as opened:
        made = Desk(opened)
        yield made
        for each in made.spawned:
            each.popen.kill()
            each.popen.wait()
            each.close()


@pytest.mark.usefixtures("still")
def test_the_list_says_what_the_agent_sees(any_cli: Cli, desk: Desk) -> None:
    child = desk.spawn("--token=secret", kind="mcp", task="t1")
    [process] = desk.opened.ledger.registry.running()
    figures = Figures(seconds=60, cpu=30, io=5, memory=10**6, processes=2, ports=(8080,))
    desk.opened.ledger.registry.judge(
        [(process.ref, Doing.WORKING, figures)], desk.opened.clock.now()
    )
    [found] = any_cli("processes", "list", "--json").items()
    [seen] = desk.session.processes()
    assert (found["pid"], found["session"], found["task"]) == (child.pid, desk.session.id, "t1")
    assert (found["doing"], found["because"]) == (seen.doing, seen.because)
    assert found["holds_reset"] is seen.holds is True
    assert (found["ports"], found["memory_bytes"], found["kind"]) == ([8080], 10**6, "mcp")
    assert found["command"].endswith("--token=***")
    text = any_cli.ok("processes", "list")
    for word in (str(child.pid), Doing.WORKING, "50.0 %", "1.0 MB", "8080"):
        assert word in text
    golden("processes", "bearing of one that works", found["bearing"])


@pytest.mark.slow
def test_the_list_is_of_a_session_of_a_task_or_of_all(any_cli: Cli, desk: Desk) -> None:
    first, second = desk.spawn(task="a"), desk.spawn(task="b")
    other = desk.opened.worker().session("other")
    third = other.spawn(["sleep", "6000"])

    def pids(*options: str) -> list[int]:
        return [each["pid"] for each in any_cli("processes", "list", "--json", *options).items()]

    assert pids() == [first.pid, second.pid, third.pid]
    assert pids("--task", "b") == [second.pid]
    assert pids("--session", other.id) == [third.pid]
    first.stop(timedelta(seconds=240))
    assert pids() == [second.pid, third.pid]
    assert pids("--all", "--session", desk.session.id) == [second.pid, first.pid]
    third.stop(timedelta(seconds=240))
    ended = any_cli("processes", "list", "--all", "--json").items()[-1]
    assert ended["doing"] == Doing.DEAD
    golden("processes", "how one ended that its agent stopped", ended["ended_how"])
    assert any_cli.ok("processes", "list", "--all").count(ended["ended_how"]) == 2


def test_an_empty_list_says_so(cli: Cli) -> None:
    cli.talk("chat", "hello")
    assert cli("processes", "list", "--json").items() == []
    golden("processes", "none is registered", cli("processes", "list").err)


def test_a_dry_run_shows_the_tree_and_stops_nobody(any_cli: Cli, desk: Desk) -> None:
    child = desk.spawn()
    found = any_cli("processes", "stop", str(child.pid), "--dry-run", "--json").json()
    [step] = found["actions"][0]["steps"]
    assert (step["verb"], step["spares"]) == ("stop", False)
    assert f"pid {child.pid}:" in step["what"]
    out = any_cli.ok("processes", "stop", str(child.pid), "--dry-run")
    assert f"pid {child.pid}:" in out
    assert child.poll() is None


def test_a_process_is_stopped_and_the_journal_says_how(any_cli: Cli, desk: Desk) -> None:
    child = desk.spawn()
    found = any_cli("processes", "stop", str(child.pid), "--yes", "--json").json()
    assert [each["result"] for each in found["processes"]] == [Ending.TERM]
    assert eventually(lambda: child.poll() is not None)
    assert any_cli("processes", "list", "--json").items() == []
    lines = any_cli("journal", "--receipt", found["receipt"], "--json").items()
    assert {each["session"] for each in lines} == {desk.session.id}
    said = {each["action"]: each["reason"]["text"] for each in lines}
    assert list(sorted(said)) == ["signal_process", "stop_process"]
    assert Ending.TERM in said["stop_process"]


def test_all_processes_of_a_session_are_stopped_together(any_cli: Cli, desk: Desk) -> None:
    first, second = desk.spawn(), desk.spawn()
    text = any_cli.ok("processes", "stop", "--session", desk.session.id, "--yes")
    assert text.count(Ending.TERM) >= 2
    assert not lives(first.pid)
    assert not lives(second.pid)
    of_session = ("processes", "stop", "--session", desk.session.id, "--yes")
    assert any_cli(*of_session, "--json").json()["processes"] == []
    golden("processes", "nothing to stop", any_cli.ok(*of_session))


def test_what_a_person_keeps_outlives_the_others_unless_it_is_named(cli: Cli) -> None:
    with cli.opened() as opened:
        desk = Desk(opened)
        kept, other = desk.spawn(), desk.spawn()
        cli.ok("processes", "keep", str(kept.pid))
        of_session = ("processes", "stop", "--session", desk.session.id, "--yes")
        [would] = cli(*of_session, "--dry-run", "--json").json()["actions"]
        assert {each["what"].split(":")[0]: each["spares"] for each in would["steps"]} == {
            f"pid {kept.pid}": True,
            f"pid {other.pid}": False,
        }
        done = cli(*of_session, "--json").json()["processes"]
        assert {each["pid"]: each["result"] for each in done} == {
            kept.pid: Ending.SPARED,
            other.pid: Ending.TERM,
        }
        assert kept.poll() is None
        assert not lives(other.pid)
        assert Ending.TERM in cli.ok("processes", "stop", str(kept.pid), "--yes")
        for each in desk.spawned:
            each.popen.wait()
            each.close()


@pytest.mark.slow
def test_who_is_interrupted_says_what_ended_and_what_may_run_on(any_cli: Cli, desk: Desk) -> None:
    script = f"{FORKS_ONE_THAT_ENDS}{STUBBORN}"
    stubborn = desk.session.spawn([sys.executable, "-c", script], stdout=subprocess.PIPE)
    desk.spawned.append(stubborn)
    assert stubborn.popen.stdout
    docile = int(stubborn.popen.stdout.readline())
    assert stubborn.popen.stdout.readline() == b"ready\n"
    command = program("processes", "stop", str(stubborn.pid), "--yes", "--ledger", any_cli.url)
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(command, env=environment(), stdout=pipe, stderr=pipe, text=True) as asked,
        stubborn.popen.stdout,
    ):
        assert eventually(lambda: not lives(docile))  # from then on it waits for the other one
        asked.send_signal(signal.SIGINT)
        said, noted = asked.communicate(timeout=PATIENCE)
    assert asked.returncode == 130
    assert stubborn.poll() is None
    assert f"1 {Ending.TERM}" in said
    assert f"1 {Ending.STAYS}: " in said
    golden("processes", "a stop was interrupted", noted)
    [row] = desk.opened.ledger.registry.running()
    assert row.identity.pid == stubborn.pid
    journal = any_cli("journal", "--json").items()
    assert ("stop_process", "failed") in {(each["action"], each["result"]) for each in journal}


def test_nobody_is_stopped_without_a_yes(cli: Cli) -> None:
    with cli.opened() as opened:
        desk = Desk(opened)
        child = desk.spawn()
        for options in ((), ("--json",)):
            answer = cli("processes", "stop", str(child.pid), *options)
            assert answer.code == 2
            assert "--yes" in answer.err
        assert child.poll() is None
        child.stop()
        child.close()


def test_what_is_not_registered_is_not_stopped(any_cli: Cli, desk: Desk) -> None:
    del desk
    with subprocess.Popen(["sleep", "6000"]) as stranger:
        answer = any_cli("processes", "stop", str(stranger.pid), "--yes")
        assert answer.code == 63
        assert stranger.poll() is None
        stranger.kill()


def test_without_proof_only_who_was_asked_may_stop(any_cli: Cli, desk: Desk) -> None:
    with subprocess.Popen(["sleep", "6000"]) as child:
        process = desk.session.register_process(child.pid)
        weak = replace(process, identity=replace(process.identity, inode=None))
        desk.opened.ledger.registry.register(weak, desk.opened.find(desk.session.id))
        dry = ("processes", "stop", str(child.pid), "--dry-run", "--json")
        shown = [any_cli(*dry, *more).json()["actions"][0]["steps"] for more in ((), ("--yes",))]
        assert [each["verb"] for [each] in shown] == ["stop", Ending.REFUSED]
        answer = any_cli("processes", "stop", str(child.pid), "--yes")
        assert answer.code == 64
        assert Ending.REFUSED in answer.out
        assert child.poll() is None
        lines = any_cli("journal", "--json").items()
        assert ("stop_process", "failed") in [(each["action"], each["result"]) for each in lines]
        child.kill()


@pytest.mark.usefixtures("still")
def test_a_process_is_kept_and_let_go_again(any_cli: Cli, desk: Desk) -> None:
    child = desk.spawn()
    [process] = desk.opened.ledger.registry.running()
    idle = (process.ref, Doing.IDLE, Figures(seconds=60, cpu=0, processes=1))
    desk.opened.ledger.registry.judge([idle], desk.opened.clock.now())
    assert any_cli("processes", "keep", str(child.pid), "--json").json()["done"] == 1
    [found] = any_cli("processes", "list", "--json").items()
    assert found["kept"] is True
    golden("processes", "bearing of one that is kept", found["bearing"])
    any_cli.ok("processes", "release", str(child.pid))
    [found] = any_cli("processes", "list", "--json").items()
    assert found["kept"] is False
    assert any_cli("processes", "keep", str(2**22 + 1)).code == 63


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (62, ("stop",)),
        (62, ("stop", "12", "--session", "x")),
        (2, ("stop", "0")),
        (2, ("keep", "-1")),
    ],
)
def test_a_process_is_named_by_its_pid_or_its_session(
    code: int, arguments: tuple[str, ...], cli: Cli
) -> None:
    cli.talk("chat", "hello")
    assert cli("processes", *arguments).code == code


def test_why_shows_the_processes_and_what_they_block(any_cli: Cli, desk: Desk) -> None:
    child = desk.spawn()
    answers = any_cli("why", desk.session.id, "--json").json()["answers"]
    [found] = [each for each in answers if each["question"] == "process"]
    assert found["answer"] in (Doing.IDLE, Doing.WORKING)
    assert f"pid {child.pid}" in found["detail"]


def test_a_reset_with_running_processes_needs_force(any_cli: Cli, desk: Desk) -> None:
    child = desk.spawn()
    answer = any_cli("sessions", "reset", desk.session.id)
    assert answer.code == 24
    assert f"pid {child.pid}" in answer.err
    any_cli.ok("sessions", "reset", desk.session.id, "--force")
    [left] = any_cli("processes", "list", "--json").items()
    assert left["session_state"] == "ended"


def test_a_command_that_only_asks_judges_nobody(any_cli: Cli, desk: Desk, tmp_path: Path) -> None:
    del tmp_path
    desk.spawn()
    before = desk.opened.ledger.registry.page(None, 10)
    any_cli.ok("processes", "list")
    any_cli.ok("why", desk.session.id)
    assert desk.opened.ledger.registry.page(None, 10) == before


@pytest.mark.parametrize(("said", "stopped"), [("y", True), ("n", False)])
def test_who_is_shown_the_command_and_says_yes_may_stop_what_nothing_else_proves(
    said: str, stopped: bool, cli: Cli
) -> None:
    with cli.opened() as opened, subprocess.Popen(["sleep", "6543"]) as child:
        session = opened.worker().session("chat")
        process = session.register_process(child.pid)
        weak = replace(process, identity=replace(process.identity, inode=None))
        opened.ledger.registry.register(weak, opened.find(session.id))
        terminal = Terminal("processes", "stop", str(child.pid), "--ledger", cli.url)
        terminal.wait_for("[y/N]")
        assert f"{child.pid}: sleep 6543" in terminal.shown
        terminal.type(f"{said}\n")
        assert (terminal.finish() == 0) == stopped
        assert (Ending.TERM in terminal.shown) == stopped
        assert lives(child.pid) != stopped
        child.kill()


CHANGES = "import os, sys; sys.stdin.read(1); os.execvp('sleep', ['sleep', sys.argv[1]])"


def test_a_person_is_shown_what_runs_now_and_stops_nothing_else(cli: Cli) -> None:
    program = [sys.executable, "-c", CHANGES]
    with (
        cli.opened() as opened,
        subprocess.Popen([*program, "6541"], stdin=subprocess.PIPE) as early,
        subprocess.Popen([*program, "6542"], stdin=subprocess.PIPE) as late,
    ):
        session = opened.worker().session("chat")
        for each in (early, late):
            assert eventually(lambda each=each: "execvp" in command(each.pid))  # type: ignore[misc]
            session.register_process(each.pid)
        go_on(early, "sleep 6541")
        terminal = Terminal("processes", "stop", "--session", session.id, "--ledger", cli.url)
        terminal.wait_for("[y/N]")
        assert f"{early.pid}: sleep 6541" in terminal.shown
        assert terminal.shown.count("execvp") == 2, "one as it was registered, and one as it is"
        go_on(late, "sleep 6542")
        terminal.type("y\n")
        assert terminal.finish() == 64
        assert (lives(early.pid), lives(late.pid)) == (False, True)
        late.kill()


def command(pid: int) -> str:
    return " ".join(read_command(pid))


def go_on(child: subprocess.Popen[bytes], expected: str) -> None:
    assert child.stdin
    child.stdin.write(b"x")
    child.stdin.close()
    assert eventually(lambda: command(child.pid) == expected)
