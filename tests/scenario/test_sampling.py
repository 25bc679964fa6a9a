"""What do real processes look like, and what are they taken to be doing?"""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sexton.core.clock import SystemClock
from sexton.core.record import replace
from sexton.processes import process_table
from sexton.processes.hunting import UNREADABLE
from sexton.processes.listening import Ports
from sexton.processes.model import Doing, Ending, Look, Presence, Process
from sexton.processes.policy import Judgement, judge
from sexton.processes.sampling import Sampler, presence
from sexton.processes.stopping import Stopper
from tests.layers import unavailable
from tests.scenario.process_programs import (
    BURN,
    HEADLESS,
    WAIT,
    Nest,
    eventually,
    is_headless,
    nesting,
    registered,
)

ROUND_TRIPS = """
import os, signal, sys
child = os.fork()
if child == 0:
    while True: pass
signal.pause()
"""
SERVE = """
import signal, socket
server = socket.create_server(("127.0.0.1", 0))
signal.pause()
"""
LEAVE = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        sys.stdout.close()
        while True: pass
    os._exit(0)
os.wait()
print("left", flush=True)
"""

OVER = (Presence.GONE, Presence.FOREIGN)
"""One that was collected: its pid may be a stranger's at once."""


@pytest.fixture
def nest() -> Iterator[Nest]:
    with nesting() as made:
        yield made


def look(process: Process) -> Look:
    return Sampler(SystemClock()).look([process])[process.ref]


def judged(process: Process, seconds: float = 0.4) -> Judgement:
    sampler = Sampler(SystemClock())
    before = sampler.look([process])[process.ref]
    sampler.wait(seconds)
    return judge([before, sampler.look([process])[process.ref]])


def test_a_process_that_computes_is_working(nest: Nest) -> None:
    process, sampler = registered(nest.python(BURN).pid), Sampler(SystemClock())
    before = sampler.look([process])[process.ref]

    def found() -> Judgement:
        return judge([before, sampler.look([process])[process.ref]])

    assert eventually(lambda: found().figures.cpu > 0.02)
    assert found().figures.memory > 1_000_000
    assert eventually(lambda: judged(process).doing is Doing.WORKING)


def test_one_whose_first_thread_has_ended_works_on(nest: Nest) -> None:
    headless = nest.python(HEADLESS).pid
    assert eventually(lambda: is_headless(headless))
    process = registered(headless)
    assert look(process).presence is Presence.PRESENT
    assert eventually(lambda: judged(process).doing is Doing.WORKING)


def test_a_process_that_waits_is_idle(nest: Nest) -> None:
    process = registered(nest.python(WAIT).pid)
    assert eventually(lambda: judged(process).doing is Doing.IDLE)


def test_a_process_that_copies_is_working_although_it_hardly_computes(
    nest: Nest, tmp_path: Path
) -> None:
    script = "import time\nwhile True: open('x', 'wb').write(bytes(10_000)); time.sleep(0.05)"
    process = registered(nest.python(script, cwd=tmp_path).pid)
    assert eventually((tmp_path / "x").exists)  # its start is over

    def copies() -> bool:
        found = judged(process)
        return found.doing is Doing.WORKING and found.figures.io >= 10_000

    assert eventually(copies)


def test_a_server_that_nobody_asks_is_listening(nest: Nest) -> None:
    program = [sys.executable, "-m", "http.server", "0", "--bind", "127.0.0.1"]
    process = registered(nest.run(program, stdout=-3, stderr=-3).pid)
    assert eventually(lambda: len(look(process).ports) == 1)
    assert eventually(lambda: judged(process).doing is Doing.LISTENING)


def test_a_socket_that_is_opened_later_is_found_by_the_same_sampler(nest: Nest) -> None:
    script = (
        "import signal, socket, sys; sys.stdin.readline();"
        "s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True);"
        "sys.stdin.readline(); s.close(); print('closed', flush=True); signal.pause()"
    )
    server = nest.python(script, stdin=-1, stdout=-1)
    assert server.stdin
    assert server.stdout
    process, sampler = registered(server.pid), Sampler(SystemClock())
    assert sampler.look([process])[process.ref].ports == ()
    server.stdin.write(b"open\n")
    server.stdin.flush()
    port = int(server.stdout.readline())
    assert sampler.look([process])[process.ref].ports == (port,)
    assert sampler.look([process])[process.ref].ports == (port,)
    server.stdin.write(b"close\n")
    server.stdin.flush()
    server.stdout.readline()
    assert sampler.look([process])[process.ref].ports == ()


@pytest.mark.parametrize("number", [0, 3, 60])
def test_a_server_s_socket_is_found_whichever_its_descriptor(nest: Nest, number: int) -> None:
    script = (
        "import os, signal, socket, sys; s = socket.create_server(('127.0.0.1', 0));"
        "os.close(0); os.dup2(s.fileno(), 9); port = s.getsockname()[1]; s.close();"
        "os.dup2(9, int(sys.argv[1])); os.close(9); print(port, flush=True); signal.pause()"
    )
    server = nest.python(script, str(number), stdout=-1)
    assert server.stdout
    port = int(server.stdout.readline())
    assert look(registered(server.pid)).ports == (port,)


def test_a_server_whose_first_thread_has_ended_listens_on(nest: Nest, tmp_path: Path) -> None:
    script = f"import socket; s = socket.create_server(('127.0.0.1', 0))\n{HEADLESS}"
    server = nest.python(script, cwd=tmp_path)
    assert eventually(lambda: is_headless(server.pid))
    assert len(look(registered(server.pid)).ports) == 1
    assert process_table.read_cwd(server.pid) == str(tmp_path)


def test_what_could_not_be_looked_at_for_once_is_looked_at_again(
    nest: Nest, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, sampler = registered(nest.python(SERVE).pid), Sampler(SystemClock())
    assert eventually(lambda: bool(look(process).ports))
    real = os.open

    def run_out(path: str, *rest: int, **more: int) -> int:
        if path.endswith("/fd"):
            raise OSError(errno.EMFILE, "too many open files")
        return real(path, *rest, **more)

    with monkeypatch.context() as short:
        short.setattr(os, "open", run_out)
        assert sampler.look([process])[process.ref].ports == ()
    assert sampler.look([process])[process.ref].ports


def test_of_a_few_at_a_time_the_ports_are_found_with_the_next_looks(nest: Nest) -> None:
    servers = [registered(nest.python(SERVE).pid) for _ in range(3)]
    servers = [replace(each, ref=ref) for ref, each in enumerate(servers)]
    assert eventually(lambda: all(look(each).ports for each in servers))
    sampler = Sampler(SystemClock())

    def listening(new: int | None) -> int:
        looks = sampler.look(servers, new_ports=new)
        return sum(bool(each.ports) for each in looks.values())

    assert [listening(new) for new in (0, 1, 1, None, 1)] == [0, 1, 2, 3, 3]


def test_processes_take_turns_to_be_looked_at_while_others_open_sockets_all_the_time(
    nest: Nest,
) -> None:
    servers = [registered(nest.python(SERVE).pid) for _ in range(3)]
    servers = [replace(each, ref=ref) for ref, each in enumerate(servers)]
    assert eventually(lambda: all(look(each).ports for each in servers))
    sampler, opened, numbers = Sampler(SystemClock()), [], []
    for _ in range(4):
        opened.append(socket.create_server(("127.0.0.1", 0)))
        looks = sampler.look(servers, new_ports=1)
        numbers.append(sum(bool(each.ports) for each in looks.values()))
    for other in opened:
        other.close()
    assert numbers == [1, 2, 3, 3]


def test_the_work_of_a_child_counts(nest: Nest) -> None:
    process = registered(nest.python(ROUND_TRIPS).pid)
    assert eventually(lambda: len(look(process).members) == 2)
    assert eventually(lambda: judged(process).doing is Doing.WORKING)


def test_who_left_the_tree_is_found_by_the_tag_also_when_its_starter_is_gone(nest: Nest) -> None:
    starter = nest.python(LEAVE, stdout=-1)
    process = registered(starter.pid, tag=nest.tag)
    starter.wait()
    found = look(process)
    assert found.presence in OVER
    assert len(found.members) == 1
    assert eventually(lambda: judged(process).doing is Doing.WORKING)
    assert look(replace(process, tag=None)).members == ()
    assert look(replace(process, tag="f" * 32)).members == ()


def test_one_about_to_be_started_is_known_by_its_tag(nest: Nest) -> None:
    child = nest.python(WAIT)
    awaited = registered(child.pid, tag=nest.tag)
    awaited = replace(awaited, identity=replace(awaited.identity, pid=0, started=0, inode=None))
    assert eventually(lambda: [each.pid for each in look(awaited).members] == [child.pid])
    assert look(awaited).presence is Presence.AWAITED


def test_a_zombie_a_dead_process_and_a_stranger_are_told_apart(nest: Nest) -> None:
    child = nest.python(WAIT)
    process = registered(child.pid)
    assert look(process).presence is Presence.PRESENT
    for other in ({"started": process.identity.started + 1}, {"inode": 1}):
        stranger = replace(process, identity=replace(process.identity, **other))
        assert look(stranger).presence is Presence.FOREIGN
        assert judged(stranger).doing is Doing.FOREIGN
    child.send_signal(signal.SIGKILL)
    assert eventually(lambda: look(process).presence is Presence.ZOMBIE)
    assert judged(process).doing is Doing.ZOMBIE
    child.wait()
    assert judged(process).doing in (Doing.DEAD, Doing.FOREIGN)


def test_a_sampler_that_knows_a_process_still_notices_that_it_is_gone(nest: Nest) -> None:
    child = nest.python(WAIT)
    process, sampler = registered(child.pid), Sampler(SystemClock())
    sampler.wait(1.1)  # old enough to be remembered
    for _ in range(2):
        assert sampler.look([process])[process.ref].presence is Presence.PRESENT
    later = replace(process, identity=replace(process.identity, started=1))
    assert sampler.look([later])[process.ref].presence is Presence.FOREIGN
    child.kill()
    child.wait()
    assert sampler.look([process])[process.ref].presence in OVER


def test_another_host_or_namespace_is_not_seen_and_another_boot_is_over(nest: Nest) -> None:
    process = registered(nest.python(WAIT).pid)
    for other in ({"host": "elsewhere"}, {"pid_namespace": 1}):
        away = replace(process, identity=replace(process.identity, **other))
        assert look(away).presence is Presence.HIDDEN
    before = replace(process, identity=replace(process.identity, boot_id="before"))
    assert judged(before).doing is Doing.DEAD


def test_what_may_not_be_read_is_left_out() -> None:
    assert process_table.read("/proc/1/nothing", 10) is None
    assert process_table.read("/proc/self", 10) is None
    assert process_table.read_row(2**22 + 1) is None
    assert process_table.read_io(2**22 + 1) == 0
    assert process_table.tags_of(2**22 + 1) == ()
    assert process_table.owner(2**22 + 1) is None
    assert process_table.read_command(2**22 + 1) == ["[?]"]


def test_psutil_sees_what_the_kernel_s_own_table_says(
    nest: Nest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other way to read a process, for systems without /proc."""
    child = nest.python(BURN)
    assert eventually(lambda: process_table.tags_of(child.pid) == (nest.tag,))
    native = process_table.read_row(child.pid)
    command = process_table.read_command(child.pid)
    monkeypatch.setattr(sys, "platform", "darwin")
    other = process_table.read_table()[child.pid]
    assert native is not None
    assert (other.parent, other.cpu >= native.cpu) == (native.parent, True)
    assert process_table.tags_of(child.pid) == (nest.tag,)
    assert process_table.read_command(child.pid) == command
    assert process_table.owner(child.pid) == os.getuid()
    for read in (process_table.read_row, process_table.owner):
        assert read(2**22 + 1) is None


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_without_the_right_to_ask_the_kernel_its_tables_say_which_ports_are_open(
    family: socket.AddressFamily, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    try:
        listener = socket.create_server((address, 0), family=family)
    except OSError as problem:
        unavailable(f"network: no socket of {address} can be had here: {problem}")
    with listener:
        port, myself = listener.getsockname()[1], {(os.getpid(), 0)}
        assert port in Ports().of(myself)[os.getpid()]
        monkeypatch.setattr(socket, "socket", refuse)
        assert port in Ports().of(myself)[os.getpid()]


def test_what_could_not_be_read_although_it_is_there_is_not_gone(nest: Nest) -> None:
    process = registered(nest.python(WAIT).pid)
    assert presence(process, {}) is Presence.HIDDEN
    stranger = replace(process, identity=replace(process.identity, inode=1))
    assert presence(stranger, {}) is Presence.GONE


def test_a_table_that_shows_nothing_buries_nobody(
    nest: Nest, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = registered(nest.python(WAIT).pid, tag=nest.tag)
    real = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path=".": [] if path == "/proc" else real(path))
    assert look(process).presence is Presence.HIDDEN
    [refused] = Stopper(SystemClock()).stop([process], timedelta(seconds=1))
    assert (refused.ending, refused.why) == (Ending.REFUSED, UNREADABLE)
