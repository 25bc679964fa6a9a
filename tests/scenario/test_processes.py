"""The background processes of sessions from their start to their end, with real programs."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sexton.core.clock import SystemClock
from sexton.core.record import replace
from sexton.core.session import State
from sexton.errors import (
    BudgetExceeded,
    InputInvalid,
    ProcessesRunning,
    ProcessNotFound,
    SessionEnded,
    WorkerLeft,
)
from sexton.processes.after_session import handle_processes, settle_processes
from sexton.processes.agent_processes import KEPT, SpawnedProcess
from sexton.processes.handling import Handling, Occasion, ProcessPolicy
from sexton.processes.hunting import NO_PIDFD, UNPROVEN
from sexton.processes.model import TAG_VARIABLE, Doing, Ending, Process, Stopped
from sexton.processes.overseer import BLINKS
from sexton.processes.policy import LEAST_CPU
from sexton.processes.process_table import ZOMBIES, read_command, read_row, tags_of
from sexton.processes.sampling import Sampler
from sexton.processes.stopping import Stopper
from sexton.processes.stops import UNBORN, stop_processes
from sexton.processes.watching import watch_processes
from sexton.resets.policy import Mode, ResetPolicy
from sexton.rules.rulebook import Rulebook
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.agent_worker import AgentWorker
from sexton.settings.settings_values import NotifySetting, Settings
from sexton.spending.model import Act, Budget, Scope, Unit
from sexton.spending.policy import SpendRules
from sexton.store.ledger import Ledger
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.golden import golden
from tests.scenario.process_programs import (
    BURN,
    PATIENCE,
    STEP,
    STUBBORN,
    WAIT,
    Nest,
    eventually,
    lives,
    nesting,
    rests,
)

IDLE = ResetPolicy(mode=Mode.IDLE, idle_minutes=120)
DAILY = ResetPolicy(mode=Mode.DAILY, at_hour=20)
TWO_HOURS = timedelta(hours=2)
LONG = timedelta(seconds=PATIENCE)
QUIET: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
NOWHERE = "http://127.0.0.1:9/notices"


class House:
    """A ledger, a clock, and whatever a test starts in it; all of that ends with the test."""

    def __init__(self, url: str, clock: ManualClock, stack: ExitStack) -> None:
        self.url = url
        self.clock = clock
        self._stack = stack
        self._spawned: list[SpawnedProcess] = []
        self._builds: list[int] = []

    def open(self, reset: ResetPolicy = IDLE, *budgets: Budget, **handling: Any) -> Sexton:
        spend = SpendRules(budgets=budgets)
        handling = {"grace": LONG} | handling
        rules = Rulebook(reset=reset, processes=ProcessPolicy(**handling), spend=spend)
        settings = Settings(rulebook=rules, notify=NotifySetting(webhook=NOWHERE))
        opened = Sexton(open_ledger(self.url), settings, clock=self.clock)
        opened.publish()
        return self._stack.enter_context(closing(opened))

    def spawn(self, session: OpenSession, arguments: list[str], **options: Any) -> SpawnedProcess:
        made = session.spawn(arguments, **(QUIET | options))
        self._spawned.append(made)
        return made

    def python(self, session: OpenSession, script: str, **options: Any) -> SpawnedProcess:
        return self.spawn(session, [sys.executable, "-c", script], **options)

    def build(self, session: OpenSession, **options: Any) -> SpawnedProcess:
        """One that works without a pause, and is seen to whenever somebody looks twice."""
        made = self.python(session, BURN, **options)
        self._builds.append(made.pid)
        return made

    def wait(self, seconds: float) -> None:
        """Let the time between two looks pass; on a busy machine, until every build has worked."""
        before = {row.pid: row.cpu for row in map(read_row, self._builds) if row}
        SystemClock().sleep(seconds)
        assert eventually(lambda: all(self._has_worked(*each) for each in before.items()))

    def _has_worked(self, pid: int, before: float) -> bool:
        row = read_row(pid)
        return row is None or row.state in ZOMBIES or row.cpu > before + 2 * LEAST_CPU

    def end(self) -> None:
        for each in self._spawned:
            each.popen.kill()
            each.popen.wait()
            each.close()


@pytest.fixture
def house(
    engine_url: str, manual_clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[House]:
    with ExitStack() as stack:
        made = House(engine_url, manual_clock, stack)
        monkeypatch.setattr(Sampler, "wait", lambda _, seconds: made.wait(seconds))
        stack.callback(made.end)
        yield made


@pytest.fixture
def nest() -> Iterator[Nest]:
    with nesting() as made:
        yield made


def begun(sexton: Sexton, source: str = "telegram") -> tuple[AgentWorker, OpenSession]:
    worker = sexton.worker()
    session = worker.session("chat", source=source)
    session.append(role="user", content="hello")
    return worker, session


def serve(house: House, session: OpenSession) -> SpawnedProcess:
    """The forgotten preview server, once it listens."""
    program = [sys.executable, "-m", "http.server", "0", "--bind", "127.0.0.1"]
    server = house.spawn(session, program, kind="server")
    sampler = Sampler(SystemClock())
    assert eventually(lambda: sampler.look([server.process])[server.process.ref].ports)
    assert eventually(lambda: rests(server.pid))  # its start is over
    return server


def state(sexton: Sexton, session: OpenSession) -> tuple[State, str | None]:
    found = sexton.find(session.id)
    return found.state, found.end_reason


def rows(ledger: Ledger) -> list[Process]:
    return ledger.registry.page(None, 100)[::-1]


def told(sexton: Sexton) -> list[str]:
    letters = sexton.ledger.outbox.page(None, None, 100)[::-1]
    return [each.notice.text for each in letters if each.notice.event == "process"]


def plain(words: str, server: SpawnedProcess) -> str:
    """What a notice says of a server, without what differs from run to run."""
    process = server.process
    words = words.replace(process.program, "<program>").replace(process.identity.host, "<host>")
    words = re.sub(rf"it is ({'|'.join(Doing)})", "it is <doing>", words)
    return re.sub(rf"\b{server.pid}\b", "<pid>", words)


def test_a_started_process_is_known_with_its_tag_before_and_after_a_restart(house: House) -> None:
    sexton = house.open()
    worker, session = begun(sexton)
    child = worker.spawn(
        [sys.executable, "-c", WAIT, "--token=x"], session=session, task="t", kind="mcp", **QUIET
    )
    house._spawned.append(child)
    assert eventually(lambda: tags_of(child.pid) == (child.tag,))
    assert len(bytes.fromhex(child.tag)) == 16
    assert child.pidfd is not None
    [process] = rows(sexton.ledger)
    assert (process.identity.pid, process.task, process.kind) == (child.pid, "t", "mcp")
    assert process.command.endswith("--token=***")
    assert (process.registered_by, process.session) == (worker.id, session.id)
    assert eventually(lambda: rests(child.pid))
    sexton.close()
    again = house.open()
    [seen] = again.worker().session("chat").processes()
    assert (seen.process.identity, seen.doing) == (process.identity, Doing.IDLE)


def test_a_process_that_can_not_be_started_is_no_process(house: House) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    with pytest.raises(FileNotFoundError):
        session.spawn(["/no/such/program"])
    [process] = rows(sexton.ledger)
    golden("processes", "ended: could not be started", process.ended_how or "")
    assert session.processes() == []


def test_what_an_agent_started_and_did_not_live_to_say_is_found_by_its_tag(
    house: House, nest: Nest
) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    row = _awaited(sexton, session, nest.tag)
    child = nest.python(WAIT)
    assert eventually(lambda: tags_of(child.pid) == (nest.tag,))
    sexton.sweep()
    [process] = sexton.ledger.registry.running()
    assert (process.ref, process.identity.pid) == (row.ref, child.pid)


def test_what_was_never_started_is_given_up_after_a_minute(house: House, nest: Nest) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    _awaited(sexton, session, nest.tag)
    house.clock.advance(60)
    sexton.sweep()
    assert len(sexton.ledger.registry.running()) == 1
    house.clock.advance(1)
    sexton.sweep()
    golden("processes", "ended: never started", rows(sexton.ledger)[-1].ended_how or "")
    assert sexton.ledger.registry.running() == []


def _awaited(sexton: Sexton, session: OpenSession, tag: str) -> Process:
    """What a spawn leaves that breaks off between its two entries in the ledger."""
    with subprocess.Popen(["sleep", "600"]) as running:
        child = session.register_process(running.pid)
        running.kill()
    sexton.ledger.registry.end(child.ref, "a sample", sexton.clock.now())
    unborn = replace(child.identity, pid=0, started=0, inode=None)
    wanted = replace(child, identity=unborn, tag=tag, started_at=sexton.clock.now())
    found = sexton.ledger.registry.register(wanted, sexton.find(session.id))
    assert found is not None
    return found


def test_a_running_process_is_adopted_with_its_command_and_its_age(
    house: House, nest: Nest
) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    child = nest.run(["sleep", "600"], cwd="/")
    assert eventually(lambda: tags_of(child.pid) == (nest.tag,))
    process = session.register_process(child.pid, kind="browser", ttl=timedelta(hours=3))
    assert (process.command, process.cwd, process.kind) == ("sleep 600", "/", "browser")
    assert process.expires_at == process.started_at + timedelta(hours=3)
    assert timedelta(0) <= house.clock.now() - process.started_at < timedelta(seconds=PATIENCE)
    assert [each.process for each in session.processes()] == [process]


def _make_a_worker(sexton: Sexton, pid: int) -> None:
    """Let a process be one that holds sessions, as far as the ledger knows."""
    found = sexton.overseer.describe(pid)
    assert found is not None
    [mine, *_] = sexton.ledger.workers.all()
    sexton.ledger.workers.register(replace(mine, id="another", identity=found.identity))


def test_what_can_only_be_a_mistake_is_not_adopted(house: House, nest: Nest) -> None:
    sexton = house.open()
    worker, session = begun(sexton)
    child = nest.run(["sleep", "600"])
    with pytest.raises(ProcessNotFound):
        session.register_process(2**22 + 1)
    agent = nest.run(["sleep", "600"]).pid
    _make_a_worker(sexton, agent)
    mistakes: list[tuple[int, dict[str, Any]]] = [
        (os.getpid(), {}),
        (1, {}),
        (os.getppid(), {}),
        (agent, {}),
        (child.pid, {"kind": "thing"}),
        (child.pid, {"ttl": timedelta(0)}),
    ]
    refusals = []
    for pid, options in mistakes:
        with pytest.raises(InputInvalid) as refused:
            session.register_process(pid, **options)
        refusals.append(re.sub(rf"\b{pid}\b", "<pid>", str(refused.value)))
    golden("processes", "refused: not adopted", "\n".join(refusals))
    session.end()
    with pytest.raises(SessionEnded):
        session.register_process(child.pid)
    with pytest.raises(SessionEnded):
        session.spawn(["sleep", "600"])
    worker.leave()
    with pytest.raises(WorkerLeft):
        worker.spawn(["sleep", "600"], session=session)
    assert rows(sexton.ledger) == []


def test_whatever_names_a_program_is_started_and_shown(house: House, tmp_path: Path) -> None:
    sexton = house.open()
    worker, session = begun(sexton)
    odd = tmp_path / os.fsdecode(b"d\xff")
    odd.mkdir()
    sleep = Path("/bin/sleep")
    given: list[tuple[Any, dict[str, Any], str]] = [
        ([sleep, "60"], {}, "/bin/sleep 60"),
        ((word for word in (b"sleep", "60")), {"cwd": os.fsencode(odd)}, "sleep 60"),
        ("sleep 60 # \udcff", {"shell": True, "cwd": odd}, "sleep 60 # \ufffd"),
        ([b"sleep", b"60", b"--", b"\xff"], {"shell": False}, "sleep 60 -- \ufffd"),
        (Path("/bin/true"), {"env": {b"SEXTON_TAG": b"x", "A": b"b"}}, "/bin/true"),
    ]
    for arguments, options, shown in given:
        child = worker.spawn(arguments, session=session, **(QUIET | options))
        house._spawned.append(child)
        assert child.process.command == shown
    assert {each.cwd for each in rows(sexton.ledger)} == {os.getcwd(), f"{tmp_path}/d\ufffd"}
    with subprocess.Popen(["sleep", "600"], cwd=odd) as other:
        assert eventually(lambda: "sleep" in read_command(other.pid)[0])
        assert session.register_process(other.pid).cwd == f"{tmp_path}/d\ufffd"
        other.kill()


def test_a_directory_that_is_gone_keeps_nobody_from_starting_something_elsewhere(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = begun(house.open())[1]
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert house.spawn(session, ["/bin/sleep", "60"]).process.cwd == ""


MISTAKES: list[tuple[Any, dict[str, Any]]] = [
    ([], {}),
    ("", {}),
    (None, {}),
    (["sleep", 60], {}),
    (["sleep", "6\0 0"], {}),
    (["sleep", "\ud800"], {}),
    (["sleep"], {"cwd": "/\0"}),
    (["sleep"], {"cwd": 7}),
    (["sleep"], {"env": 7}),
    (["sleep"], {"env": {"A": 7}}),
    (["sleep"], {"bufsize": "x"}),
    (["sleep"], {"nothing": 1}),
    (["sleep"], {"ttl": 60}),
    (["sleep"], {"ttl": timedelta.max}),
    (["sleep"], {"kind": ["job"]}),
]


def test_what_can_only_be_a_mistake_is_not_started(house: House) -> None:
    sexton = house.open()
    worker, session = begun(sexton)
    refusals = []
    for arguments, options in MISTAKES:
        with pytest.raises(InputInvalid) as told:
            worker.spawn(arguments, session=session, **options)
        assert told.value.hint
        refusals.append(str(told.value).partition(": ")[0])  # the rest is in Python's words
    golden("processes", "refused: not started", "\n".join(refusals))
    assert sexton.ledger.registry.running() == []


def test_what_names_no_process_or_no_session_is_a_mistake(house: House, nest: Nest) -> None:
    worker, session = begun(house.open())
    pids: tuple[Any, ...] = (0, -1, 2**31, 2**70, True, "12", None, 1.0)
    refusals = []
    for pid in pids:
        with pytest.raises(InputInvalid) as refused:
            session.register_process(pid)
        refusals.append(str(refused.value))
    child: Any = nest.run(["sleep", "600"])
    unknown: dict[str, Any] = {"tll": timedelta(hours=1)}
    with pytest.raises(InputInvalid) as refused:
        session.register_process(child.pid, **unknown)
    refusals.append(str(refused.value))
    name: Any = session.id
    with pytest.raises(InputInvalid) as refused:
        worker.spawn(["sleep", "600"], session=name)
    refusals.append(str(refused.value))
    wait: Any = 5
    with pytest.raises(InputInvalid) as refused:
        house.python(session, WAIT).stop(wait)
    refusals.append(str(refused.value))
    golden("processes", "refused: no process or no session", "\n".join(refusals))


def test_a_forgotten_server_does_not_delay_an_idle_reset_at_all(house: House) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    server = serve(house, session)
    house.clock.advance(TWO_HOURS - timedelta(seconds=1))
    assert sexton.sweep().outcomes == ()
    house.clock.advance(1)
    sweep = sexton.sweep()
    assert sweep.held == ()
    assert state(sexton, session) == (State.ENDED, "idle")
    assert server.poll() is None  # only told of, by default


def test_without_a_keeper_a_running_build_delays_it_and_the_log_says_so_once(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    worker, session = begun(house.open())
    build = house.build(session)
    house.clock.advance(TWO_HOURS)
    with caplog.at_level(logging.INFO, "sexton.agent"):
        for _ in range(3):  # as for every message that comes in meanwhile
            assert worker.session("chat").id == session.id
    holder = f"process:{build.pid}"
    assert len([each for each in caplog.records if holder in each.getMessage()]) == 1


def test_without_a_keeper_only_processes_that_are_there_are_remembered(house: House) -> None:
    sexton = house.open()
    worker, session = begun(sexton)
    stays = house.python(session, WAIT)
    for number in range(4):
        other = worker.session(f"other {number}")
        goes = house.python(other, WAIT)
        assert len(session.processes()) == len(other.processes()) == 1
        goes.popen.kill()  # nobody tells the ledger that it ended
        goes.popen.wait()
    remembered = vars(sexton.overseer)["_looks"]
    assert stays.process.ref in remembered
    assert len(remembered) == 2  # it, and the last of those that went
    session.processes()
    other.processes()
    assert list(vars(sexton.overseer)["_looks"]) == [stays.process.ref]


def test_without_a_keeper_only_resets_of_open_sessions_are_remembered(house: House) -> None:
    sexton = house.open()
    worker, kept = begun(sexton)
    kept.pin()
    for number in range(20):
        other = worker.session(f"other {number}")
        other.pin()
        house.clock.advance(TWO_HOURS)
        assert worker.session("chat").id == kept.id
        assert worker.session(f"other {number}").id == other.id
        found = sexton.find(other.id)
        assert sexton.ledger.book.end_now(found, "elsewhere", house.clock.now())
    held = vars(worker)["_desk"].held
    assert kept.id in held
    assert len(held) <= 4


def test_without_a_keeper_it_does_not_delay_it_either(house: House) -> None:
    sexton = house.open()
    worker, session = begun(sexton)
    serve(house, session)
    house.clock.advance(TWO_HOURS)
    assert worker.session("chat").id != session.id
    assert state(sexton, session) == (State.ENDED, "idle")


def test_a_running_build_delays_it_until_it_stops_working(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    sexton = house.open()
    worker, session = begun(sexton)
    build = house.build(session)
    house.clock.advance(TWO_HOURS)
    with caplog.at_level(logging.INFO, "sexton.keeper"):
        for _ in range(2):
            [held] = sexton.sweep().held
    assert held.holding.code == f"process:{build.pid}"
    code = held.holding.code
    [line] = [each.getMessage() for each in caplog.records if code in each.getMessage()]
    assert f"pid {build.pid}" in line
    assert BURN in line
    answers = [(each.question, each.answer) for each in sexton.why(session.id).answers]
    assert ("process", "working") in answers
    assert ("reset", "held") in answers
    assert worker.session("chat").id == session.id
    build.popen.kill()
    build.wait()
    sexton.sweep()
    assert state(sexton, session) == (State.ENDED, "idle")
    [ended] = rows(sexton.ledger)
    assert ended.ended_at == house.clock.now()


def test_a_running_build_delays_it_until_its_time_is_over(house: House) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    build = house.build(session)
    house.clock.advance(2 * TWO_HOURS - timedelta(seconds=1))
    assert len(sexton.sweep().held) == 1
    house.clock.advance(1)
    assert sexton.sweep().held == ()
    assert state(sexton, session) == (State.ENDED, "idle")
    assert build.poll() is None


def test_a_running_build_delays_a_full_count_no_longer_however_much_is_said_meanwhile(
    house: House,
) -> None:
    sexton = house.open(replace(IDLE, max_messages=2))
    worker, session = begun(sexton)
    house.build(session)
    for _ in range(2):
        session.append(role="user", content="go on")
        house.clock.advance(timedelta(minutes=59))
        sexton.sweep()
        assert worker.session("chat", source="telegram").id == session.id
    house.clock.advance(timedelta(minutes=2))
    session.append(role="user", content="go on")
    sexton.sweep()
    assert state(sexton, session) == (State.ENDED, "max_messages")


def test_a_ttl_of_its_own_is_counted_from_its_start(house: House) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    house.build(session, ttl=timedelta(hours=3))
    house.clock.advance(timedelta(hours=3) - timedelta(seconds=1))
    assert len(sexton.sweep().held) == 1
    house.clock.advance(1)
    sexton.sweep()
    assert state(sexton, session) == (State.ENDED, "idle")


def test_keeping_a_process_protects_it_and_holds_no_reset(house: House) -> None:
    sexton = house.open(on_idle_reset=Handling.STOP)
    _, session = begun(sexton)
    server = serve(house, session)
    [process] = sexton.ledger.registry.running()
    sexton.ledger.registry.keep(process.ref, True, house.clock.now())
    house.clock.advance(TWO_HOURS)
    sexton.sweep()
    sexton.sweep()
    assert state(sexton, session) == (State.ENDED, "idle")
    assert server.poll() is None
    assert told(sexton) == []


def test_a_wanted_reset_needs_force_while_processes_run(house: House) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    server = serve(house, session)
    with pytest.raises(ProcessesRunning) as refused:
        session.reset()
    assert f"pid {server.pid}" in str(refused.value)
    assert Doing.LISTENING in str(refused.value)
    assert session.reset(force=True).id != session.id
    _, other = begun(sexton)
    server.popen.kill()
    server.wait(PATIENCE)
    assert other.reset().id != other.id


def test_processes_go_on_with_a_compressed_conversation(house: House) -> None:
    sexton = house.open(on_end=Handling.STOP)
    _, session = begun(sexton)
    for number in range(20):
        session.append(role="user", content=f"{number}")
    server = serve(house, session)
    session.compress(lambda _: "in short")
    sexton.sweep()
    assert server.poll() is None
    assert [each.process.identity.pid for each in session.processes()] == [server.pid]


ENDS: dict[Occasion, Callable[[House, Sexton, OpenSession], object]] = {
    Occasion.IDLE: lambda house, *_: house.clock.advance(TWO_HOURS),
    Occasion.END: lambda _, __, session: session.end(),
    Occasion.REAP: lambda _, sexton, session: _reap(sexton, session),
}


def _reap(sexton: Sexton, session: OpenSession) -> None:
    """Its owner is declared dead, as by another keeper."""
    found = sexton.find(session.id)
    dead = [(holder.worker, "process_gone: a sample") for holder in found.holders]
    sexton.ledger.reaping.declare(dead, sexton.clock.now())


@pytest.mark.parametrize("occasion", list(ENDS))
def test_by_default_a_process_that_is_left_is_told_of_once_and_runs_on(
    occasion: Occasion, house: House
) -> None:
    sexton = house.open()
    _, session = begun(sexton, "cli" if occasion is Occasion.REAP else "telegram")
    server = serve(house, session)
    ENDS[occasion](house, sexton, session)
    for _ in range(3):
        sexton.sweep()
    assert server.poll() is None
    [words] = told(sexton)
    assert f"pid {server.pid}" in words
    assert f"processes stop {server.pid}" in words
    golden("notifications", f"process: left to run, {occasion}", plain(words, server))
    actions = [each.action for each in sexton.why(session.id).journal]
    assert actions.count("leave_process") == 1


@pytest.mark.parametrize("occasion", list(ENDS))
@pytest.mark.parametrize("handling", [Handling.STOP, Handling.KEEP])
def test_a_process_that_is_left_is_stopped_or_kept_as_the_policy_says(
    occasion: Occasion, handling: Handling, house: House
) -> None:
    others = Handling.KEEP if handling is Handling.STOP else Handling.STOP
    policies: dict[str, Any] = dict.fromkeys(map(str, Occasion), others)
    policies[str(occasion)] = handling
    sexton = house.open(IDLE, **policies)
    _, session = begun(sexton, "cli" if occasion is Occasion.REAP else "telegram")
    server = serve(house, session)
    ENDS[occasion](house, sexton, session)
    for _ in range(2):
        sexton.sweep()
    stopped = handling is Handling.STOP
    [process] = rows(sexton.ledger)
    assert process.ended_how == (Ending.TERM if stopped else None)
    if stopped:
        server.wait(PATIENCE)
    assert server.poll() == (-signal.SIGTERM if stopped else None)
    actions = [each.action for each in sexton.why(session.id).journal]
    assert actions.count("stop_process") == stopped


def test_an_orphan_is_found_although_its_parent_lives_and_its_starter_is_gone(
    house: House, tmp_path: Path
) -> None:
    """The most common leak: what an MCP server started outlives it and the session."""
    sexton = house.open(on_end=Handling.STOP)
    _, session = begun(sexton)
    script = (
        "import os, signal\n"
        "if os.fork() == 0:\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "    os.setsid()\n"
        "    signal.pause()\n"
    )
    starter = house.python(session, script, kind="mcp")
    starter.wait(PATIENCE)
    assert eventually(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    left = int((tmp_path / "pid").read_text())
    sexton.sweep()
    assert len(sexton.ledger.registry.running()) == 1
    session.end()
    sexton.sweep()
    assert starter.tag not in tags_of(left)  # its pid may be a stranger's by now
    assert sexton.ledger.registry.running() == []


def test_before_a_daily_reset_stops_something_people_hear_what_and_how_to_keep_it(
    house: House,
) -> None:
    sexton = house.open(DAILY, on_daily_reset=Handling.STOP)  # it is noon, the reset at eight
    _, session = begun(sexton)
    server = serve(house, session)
    house.clock.advance(timedelta(hours=7, minutes=29))
    sexton.sweep()
    assert told(sexton) == []
    house.clock.advance(timedelta(minutes=1))
    for _ in range(2):
        sexton.sweep()
    [words] = told(sexton)
    assert "2026-01-01 20:00 UTC" in words
    assert f"processes keep {server.pid}" in words
    golden("notifications", "process: is stopped at a daily reset", plain(words, server))
    assert server.poll() is None
    house.clock.advance(timedelta(minutes=30))
    sexton.sweep()
    assert state(sexton, session) == (State.ENDED, "daily")
    assert server.wait(PATIENCE) == -signal.SIGTERM


def test_a_daily_reset_that_nobody_announced_gives_people_time_first(house: House) -> None:
    sexton = house.open(DAILY, on_daily_reset=Handling.STOP)
    _, session = begun(sexton)
    server = serve(house, session)
    house.clock.advance(timedelta(hours=9))
    sexton.sweep()
    assert state(sexton, session) == (State.ENDED, "daily")
    [words] = told(sexton)
    assert "2026-01-01 21:30 UTC" in words
    house.clock.advance(timedelta(minutes=29))
    sexton.sweep()
    assert server.poll() is None
    house.clock.advance(timedelta(minutes=1))
    sexton.sweep()
    assert server.wait(PATIENCE) == -signal.SIGTERM


def test_every_daily_reset_is_announced_anew_also_if_an_earlier_one_came_to_nothing(
    house: House,
) -> None:
    sexton = house.open(DAILY, on_daily_reset=Handling.STOP)
    _, session = begun(sexton)
    server = serve(house, session)
    house.clock.advance(timedelta(hours=7, minutes=30))
    sexton.sweep()
    house.clock.advance(timedelta(minutes=20))
    session.append(role="user", content="wait")
    house.clock.advance(timedelta(minutes=20))
    session.append(role="user", content="go on")  # after eight: the next reset is tomorrow's
    house.clock.advance(timedelta(hours=24))
    sexton.sweep()
    assert state(sexton, session) == (State.ENDED, "daily")
    assert server.poll() is None  # what was said yesterday was about another reset
    today, tomorrow = told(sexton)
    assert "2026-01-01 20:00 UTC" in today
    assert "2026-01-02 20:40 UTC" in tomorrow
    house.clock.advance(timedelta(minutes=30))
    sexton.sweep()
    assert server.wait(PATIENCE) == -signal.SIGTERM


def test_what_was_announced_hides_nothing_that_happens_instead(house: House) -> None:
    sexton = house.open(DAILY, on_daily_reset=Handling.STOP)
    _, session = begun(sexton)
    server = serve(house, session)
    house.clock.advance(timedelta(hours=7, minutes=30))
    sexton.sweep()
    session.end()
    for _ in range(2):
        sexton.sweep()
    assert server.poll() is None
    announced, left = told(sexton)
    assert "2026-01-01 20:00 UTC" in announced
    assert [f"processes {verb} {server.pid}" in text
            for verb, text in (("keep", announced), ("stop", left))] == [True, True]  # fmt: skip


class Immortals:
    """A stand-in for a kernel in which nobody dies: they sleep in it and hear no signal."""

    def __init__(self) -> None:
        self.why = "it sleeps in the kernel and hears no signal"
        self.attempts = 0

    def find(self, processes: Sequence[Process], **_: Any) -> list[Stopped]:
        return [self._told(each, Ending.FOUND) for each in processes]

    def stop(self, processes: Sequence[Process], *_: Any, **__: Any) -> list[Stopped]:
        self.attempts += 1
        return [self._told(each, Ending.STAYS, self.why) for each in processes]

    def _told(self, process: Process, ending: Ending, why: str = "") -> Stopped:
        pid = process.identity.pid
        return Stopped(pid=pid, command="", ending=ending, why=why, row=process.ref)


def test_one_that_can_not_be_killed_is_told_of_once_and_whenever_that_changes(
    house: House,
) -> None:
    sexton = house.open(on_end=Handling.STOP)
    _, session = begun(sexton)
    house.python(session, WAIT)
    sexton.overseer.stopper = immortals = Immortals()
    session.end()
    for _ in range(3):
        sexton.sweep()
    assert immortals.attempts == 1  # each takes its time
    for why in (immortals.why, "it did not end in time"):
        house.clock.advance(timedelta(minutes=5))
        immortals.why = why
        sexton.sweep()
    assert immortals.attempts == 3
    actions = [each.action for each in sexton.why(session.id).journal]
    assert actions.count("signal_process") == 1
    assert actions.count("leave_process") == 2
    assert len(told(sexton)) == 2


def test_a_daily_reset_by_default_only_tells(house: House) -> None:
    sexton = house.open(DAILY)
    _, session = begun(sexton)
    server = serve(house, session)
    house.clock.advance(timedelta(hours=8))
    sexton.sweep()
    assert state(sexton, session) == (State.ENDED, "daily")
    assert len(told(sexton)) == 1
    assert server.poll() is None


def test_a_process_that_is_deaf_is_killed_after_the_grace(house: House) -> None:
    sexton = house.open(on_end=Handling.STOP, grace=timedelta(seconds=0.3))
    _, session = begun(sexton)
    deaf = house.python(session, STUBBORN, stdout=subprocess.PIPE)
    assert deaf.popen.stdout
    deaf.popen.stdout.readline()
    session.end()
    sexton.sweep()
    assert deaf.wait(PATIENCE) == -signal.SIGKILL
    deaf.popen.stdout.close()
    assert [each.ended_how for each in rows(sexton.ledger)] == [Ending.KILL]


def test_what_nothing_proves_is_not_signalled_unattended_and_told_of_once(
    house: House, nest: Nest
) -> None:
    sexton = house.open(on_end=Handling.STOP)
    _, session = begun(sexton)
    child = nest.python(WAIT)
    process = session.register_process(child.pid)
    weak = replace(process, identity=replace(process.identity, inode=None))
    sexton.ledger.registry.register(weak, sexton.find(session.id))
    session.end()
    for _ in range(2):
        sexton.sweep()
    assert child.poll() is None
    [words] = told(sexton)
    assert f"{Ending.REFUSED}: {UNPROVEN}" in words


def test_without_pidfds_a_keeper_signals_nobody_and_tells_of_it_once(
    house: House, nest: Nest
) -> None:
    sexton = house.open(on_end=Handling.STOP)
    sexton.overseer.stopper = Stopper(house.clock, pidfds=False)
    _, session = begun(sexton)
    child = nest.python(WAIT)
    session.register_process(child.pid)
    session.end()
    for _ in range(2):
        sexton.sweep()
    assert child.poll() is None
    [words] = told(sexton)
    assert f"{Ending.REFUSED}: {NO_PIDFD}" in words


@pytest.mark.parametrize("other", [{"host": "far"}, {"pid_namespace": 1}])
def test_what_can_not_be_seen_from_here_is_left_to_its_own_keeper(
    other: dict[str, Any], house: House, nest: Nest
) -> None:
    sexton = house.open(on_end=Handling.STOP)
    _, session = begun(sexton)
    child = nest.python(WAIT)
    process = session.register_process(child.pid)
    sexton.ledger.registry.end(process.ref, "a sample", house.clock.now())
    away = replace(process, identity=replace(process.identity, **other))
    sexton.ledger.registry.register(away, sexton.find(session.id))
    session.end()
    sexton.sweep()
    assert child.poll() is None
    assert told(sexton) == []
    [left] = sexton.ledger.registry.running()
    assert (left.judged_at, left.doing) == (None, Doing.UNKNOWN)


def test_what_the_keeper_of_another_host_saw_working_holds_a_reset_here(
    house: House, nest: Nest
) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    process = session.register_process(nest.python(WAIT).pid)
    sexton.ledger.registry.end(process.ref, "a sample", house.clock.now())
    away = replace(process, identity=replace(process.identity, host="far"))
    row = sexton.ledger.registry.register(away, sexton.find(session.id))
    assert row is not None
    house.clock.advance(TWO_HOURS)
    sexton.ledger.registry.judge([(row.ref, Doing.WORKING, row.figures)], house.clock.now())
    assert len(sexton.sweep().held) == 1
    house.clock.advance(121)
    assert sexton.sweep().held == ()


def test_rows_from_before_a_reboot_and_reused_pids_are_over(house: House, nest: Nest) -> None:
    sexton = house.open(on_end=Handling.STOP)
    _, session = begun(sexton)
    child = nest.python(WAIT)
    process = session.register_process(child.pid)
    for other in ({"boot_id": "before"}, {"started": 1}):
        former = replace(process, identity=replace(process.identity, **other))
        sexton.ledger.registry.register(former, sexton.find(session.id))
    sexton.sweep()
    ended = [each.ended_how or "it runs" for each in rows(sexton.ledger)]
    golden("processes", "ended: rebooted, pid used again", "\n".join(sorted(ended)))
    assert child.poll() is None


def test_processes_of_one_session_are_seen_to_at_once(house: House) -> None:
    sexton = house.open(on_end=Handling.STOP)
    _, session = begun(sexton)
    other = sexton.worker().session("other")
    server, spared = serve(house, session), serve(house, other)
    handle_processes(sexton.estate(), sexton.find(session.id), Occasion.END)
    assert server.wait(PATIENCE) == -signal.SIGTERM
    assert spared.poll() is None


def test_a_session_that_a_budget_kills_leaves_nothing_running(house: House) -> None:
    limit = Budget(name="few", scope=Scope.SESSION, unit=Unit.TOKENS, limit=10, action=Act.KILL)
    sexton = house.open(IDLE, limit, on_end=Handling.STOP)
    _, session = begun(sexton)
    server = serve(house, session)
    with session.turn() as turn:
        turn.reserve(input_tokens=10).commit(input_tokens=10)
        with pytest.raises(BudgetExceeded):
            turn.reserve(input_tokens=1)
    assert state(sexton, session) == (State.ENDED, "budget:few")
    assert server.wait(PATIENCE) == -signal.SIGTERM


def test_what_an_agent_leaves_to_run_is_told_of_by_a_keeper(house: House) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    server = serve(house, session)
    session.end()
    handle_processes(sexton.estate(), sexton.find(session.id), Occasion.END)
    assert told(sexton) == []
    sexton.sweep()
    assert len(told(sexton)) == 1
    assert server.poll() is None


def test_what_a_keeper_without_channels_or_life_noted_is_told_by_the_next(house: House) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    server = serve(house, session)
    session.end()
    settings = Settings(rulebook=sexton.settings.rulebook)
    with closing(Sexton(open_ledger(house.url), settings, clock=house.clock)) as silent:
        assert len(silent.sweep().processes) == 1
    assert told(sexton) == []
    for _ in range(2):
        assert sexton.sweep().processes == ()
    [words] = told(sexton)
    assert f"pid {server.pid}" in words


def test_an_agent_stops_what_it_started(house: House) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    child = house.python(session, WAIT)
    assert [each.ending for each in child.stop(LONG)] == [Ending.TERM]
    assert child.poll() == -signal.SIGTERM
    [process] = rows(sexton.ledger)
    golden("processes", "ended: stopped by its agent", process.ended_how or "")
    assert [each.ending for each in child.stop(LONG)] == [Ending.GONE]


def test_an_agent_does_not_stop_what_a_person_keeps(house: House) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    child = house.python(session, WAIT)
    registry = sexton.ledger.registry
    registry.keep(child.process.ref, True, house.clock.now())
    assert [(each.ending, each.why) for each in child.stop(LONG)] == [(Ending.SPARED, KEPT)]
    assert child.poll() is None
    assert [each.identity.pid for each in registry.running()] == [child.pid]
    registry.keep(child.process.ref, False, house.clock.now())
    registry.keep(child.process.ref, True, house.clock.now(), by_agent=True)
    assert [each.ending for each in child.stop(LONG)] == [Ending.TERM]


def test_what_came_of_a_stop_is_told_also_when_the_ledger_is_closed(house: House) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    child = house.python(session, WAIT)
    sexton.close()
    assert [each.ending for each in child.stop(LONG)] == [Ending.TERM]


def test_an_agent_s_own_pidfd_is_proof_enough(house: House) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    child = house.spawn(session, ["env", "-i", "sleep", "6000"])
    assert eventually(lambda: tags_of(child.pid) == ())
    bare = replace(child.process, identity=replace(child.process.identity, inode=None))
    child.process = bare
    assert [each.ending for each in child.stop(LONG)] == [Ending.TERM]


def test_a_nested_process_is_known_to_both_sessions(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    monkeypatch.setenv(TAG_VARIABLE, "a" * 32)
    child = house.python(session, WAIT, env={"PATH": os.environ["PATH"]})
    assert eventually(lambda: tags_of(child.pid) == ("a" * 32, child.tag))


@pytest.fixture
def uncollected(house: House) -> Iterator[None]:
    """Children are collected by the kernel as soon as they end."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGCHLD, before)


@pytest.mark.usefixtures("uncollected")
def test_one_that_ended_before_it_was_looked_at_is_started_all_the_same(house: House) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    made = house.spawn(session, ["true"])
    assert made.wait(PATIENCE) == 0
    for _ in range(5):
        house.spawn(session, ["true"])
    house.clock.advance(61)
    sexton.sweep()
    assert sexton.ledger.registry.running() == []


@pytest.mark.usefixtures("uncollected")
def test_a_stranger_that_has_the_pid_of_one_that_ended_is_not_taken_for_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    with subprocess.Popen(["sleep", "600"], **QUIET) as stranger:

        class Reused(subprocess.Popen[bytes]):
            def __init__(self, *given: Any, **options: Any) -> None:
                super().__init__(*given, **options)
                assert eventually(lambda: not lives(self.pid))
                self.pid = stranger.pid  # as after a round of all pids

        with monkeypatch.context() as patched:
            patched.setattr(subprocess, "Popen", Reused)
            made = session.spawn(["true"], **QUIET)
        assert (made.pidfd, made.process.identity.pid) == (None, 0)
        assert [each.identity.pid for each in rows(sexton.ledger)] == [0]
        made.stop(timedelta(0))
        made.popen.returncode = 0
        assert stranger.poll() is None
        stranger.kill()


def test_one_that_moves_while_it_is_looked_for_is_not_taken_for_dead(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    first = house.python(session, STEP, **pipes)
    say, hear = first.popen.stdin, first.popen.stdout
    assert say
    assert hear
    real, moves = os.listdir, [0]

    def move() -> None:
        say.write(b"\n")
        say.flush()
        assert hear.readline() == b"\n"

    def listed(path: str = ".") -> list[str]:
        names = real(path)
        if path == "/proc" and moves[0]:
            moves[0] -= 1
            move()  # whoever is in the list is gone before it is looked at
        return names

    move()
    first.wait(PATIENCE)
    with monkeypatch.context() as patched:
        patched.setattr(os, "listdir", listed)
        for _ in range(5):
            moves[0] = 2 * BLINKS  # a look reads two lists: it is found by the last look only
            sexton.sweep()
            assert moves == [0]
            assert len(sexton.ledger.registry.running()) == 1
    say.close()
    hear.close()
    assert all(each.is_over for each in first.stop(LONG))


def test_what_is_kept_or_belongs_to_an_open_session_outlives_the_tree_it_stands_in(
    house: House,
) -> None:
    sexton = house.open(on_end=Handling.STOP)
    worker, session = begun(sexton)
    other = worker.session("other")
    script = (
        "import signal, subprocess\n"
        "for _ in range(3): print(subprocess.Popen(['sleep', '600']).pid, flush=True)\n"
        "signal.pause()"
    )
    root = house.python(session, script, stdout=subprocess.PIPE)
    assert root.popen.stdout
    kept, open_one, left = (int(root.popen.stdout.readline()) for _ in range(3))
    root.popen.stdout.close()
    other.register_process(open_one)
    row = session.register_process(kept)
    sexton.ledger.registry.keep(row.ref, True, house.clock.now())
    session.end()
    sexton.sweep()
    assert root.wait(PATIENCE) == -signal.SIGTERM
    assert (lives(kept), lives(open_one), lives(left)) == (True, True, False)
    assert {each.identity.pid for each in sexton.ledger.registry.running()} == {kept, open_one}
    for pid in (kept, open_one):
        [found] = [each for each in rows(sexton.ledger) if each.identity.pid == pid]
        assert all(each.is_over for each in sexton.overseer.stopper.stop([found], TWO_HOURS))


def test_what_a_person_keeps_while_others_are_seen_to_is_kept(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    sexton = house.open(on_end=Handling.STOP)
    _, session = begun(sexton)
    child, other = house.python(session, WAIT), house.python(session, WAIT)
    session.end()
    registry = sexton.ledger.registry
    real, asked = registry.running, []

    def running() -> list[Process]:
        found = real()
        asked.append(len(found))
        if len(asked) == 2:  # read by what decides; a person is quicker than what stops
            registry.keep(child.process.ref, True, house.clock.now())
        return found

    monkeypatch.setattr(registry, "running", running)
    sexton.sweep()
    assert other.wait(PATIENCE) == -signal.SIGTERM
    assert child.poll() is None


def test_processes_are_stopped_together_and_the_journal_says_so_before(house: House) -> None:
    sexton = house.open(on_end=Handling.STOP, grace=timedelta(seconds=1))
    _, session = begun(sexton)
    deaf = [house.python(session, STUBBORN, stdout=subprocess.PIPE) for _ in range(4)]
    for each in deaf:
        assert each.popen.stdout
        each.popen.stdout.readline()
        each.popen.stdout.close()
    session.end()
    sexton.sweep()
    assert {each.wait(PATIENCE) for each in deaf} == {-signal.SIGKILL}
    lines = sexton.ledger.journal.page(None, None, None, 100)[::-1]
    actions = [each.action for each in lines if "process" in each.action]
    assert actions == ["signal_process"] * 4 + ["stop_process"] * 4


def test_a_keeper_that_is_stopping_begins_no_stop(house: House) -> None:
    sexton = house.open(on_end=Handling.STOP)
    _, session = begun(sexton)
    child = house.python(session, WAIT)
    session.end()
    estate = sexton.estate()
    settle_processes(estate, watch_processes(estate), lambda: True)
    assert child.poll() is None


def test_one_that_is_about_to_be_started_is_not_lost_when_its_session_ends(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    sexton = house.open(on_end=Handling.STOP)
    _, session = begun(sexton)

    class Slow(subprocess.Popen[bytes]):
        def __init__(self, *given: Any, **options: Any) -> None:
            session.end()
            sexton.sweep()
            mine = sexton.ledger.registry.running()
            [refused] = stop_processes(sexton.estate(), mine, "r", confirmed=False)
            assert refused.why == UNBORN
            super().__init__(*given, **options)

    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", Slow)
        child = house.python(session, WAIT)
    assert [each.identity.pid for each in sexton.ledger.registry.running()] == [child.pid]
    sexton.sweep()
    assert child.wait(PATIENCE) == -signal.SIGTERM


def test_a_process_that_nobody_has_looked_at_for_a_month_is_looked_at_first(house: House) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    child = house.python(session, WAIT)
    house.clock.advance(timedelta(days=31))
    sexton.sweep()
    assert [each.identity.pid for each in sexton.ledger.registry.running()] == [child.pid]


def test_registering_a_process_again_does_not_undo_that_a_person_kept_it(house: House) -> None:
    sexton = house.open()
    _, session = begun(sexton)
    child = house.python(session, WAIT)
    sexton.ledger.registry.keep(child.process.ref, True, house.clock.now())
    assert session.register_process(child.pid).kept


def test_a_process_that_is_registered_to_another_session_is_missed_by_the_first(
    house: House, nest: Nest
) -> None:
    sexton = house.open()
    worker, session = begun(sexton)
    child = nest.python(WAIT)
    other = worker.session("other", source="telegram")
    for each in (session, session, other, other):
        each.register_process(child.pid)
    [line] = [each for each in sexton.why(session.id).journal if each.action == "move_process"]
    assert line.reason.code == "registered"
    assert f"pid {child.pid}" in line.reason.text
    assert other.id in line.reason.text
    assert sexton.why(other.id).journal == ()


def test_an_agent_at_work_outlives_the_shell_it_was_started_in(house: House) -> None:
    sexton = house.open(on_end=Handling.STOP)
    _, session = begun(sexton)
    script = (
        "import signal, subprocess\n"
        "print(subprocess.Popen(['sleep', '600']).pid, flush=True)\n"
        "signal.pause()"
    )
    shell = house.python(session, script, stdout=subprocess.PIPE)
    assert shell.popen.stdout
    agent = int(shell.popen.stdout.readline())
    shell.popen.stdout.close()
    _make_a_worker(sexton, agent)
    session.end()
    sexton.sweep()
    assert shell.wait(PATIENCE) == -signal.SIGTERM
    assert lives(agent)
    done = sexton.overseer.stopper.stop([shell.process], TWO_HOURS)
    assert (agent, Ending.TERM) in {(each.pid, each.ending) for each in done}
