"""Is a tree of processes stopped to the last one, and nobody else?"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from resource import RLIMIT_NOFILE, getrlimit, setrlimit

import psutil
import pytest

from sexton.core.clock import SystemClock
from sexton.core.record import replace
from sexton.processes.hunting import DEEP as DEEP_IN_KERNEL
from sexton.processes.hunting import MOVES, NO_PIDFD, NO_ROOM, OTHERS, OURSELVES, UNPROVEN, Hunt
from sexton.processes.model import TAG_VARIABLE, Ending, Process, Spared, Stopped
from sexton.processes.pidfds import PlainGrip
from sexton.processes.process_table import ancestors, owner, read_row, read_table, tags_of
from sexton.processes.stopping import Stopper
from tests.scenario.process_programs import (
    HEADLESS,
    PATIENCE,
    ROLL,
    STUBBORN,
    TREE,
    WAIT,
    Nest,
    eventually,
    is_headless,
    lives,
    nesting,
    registered,
    runs,
)

SOON = timedelta(seconds=0.5)
LONG = timedelta(seconds=PATIENCE)


@pytest.fixture
def nest() -> Iterator[Nest]:
    with nesting() as made:
        yield made


def stop(
    *processes: Process, grace: timedelta = LONG, confirmed: bool = False
) -> dict[int, Stopped]:
    found = Stopper(SystemClock()).stop(processes, grace, confirmed=confirmed)
    return {each.pid: each for each in found}


def carriers(tag: str) -> list[int]:
    living = (row.pid for row in read_table().values() if lives(row.pid))
    return [pid for pid in living if tag in tags_of(pid)]


def waiting(nest: Nest, script: str = WAIT) -> subprocess.Popen[bytes]:
    """A process that runs its script already."""
    child = nest.python(script, stdout=-1)
    assert eventually(lambda: tags_of(child.pid) == (nest.tag,))
    return child


def test_a_process_is_asked_and_ends(nest: Nest) -> None:
    child = waiting(nest)
    found = stop(registered(child.pid, command="what it was once"))
    assert found[child.pid].ending is Ending.TERM
    assert found[child.pid].command.endswith("-c import signal; signal.pause()")
    assert child.wait(PATIENCE) == -signal.SIGTERM


def test_one_that_is_deaf_is_killed_after_the_grace(nest: Nest) -> None:
    child = waiting(nest, STUBBORN)
    assert child.stdout
    child.stdout.readline()
    found = stop(registered(child.pid), grace=SOON)
    assert found[child.pid].ending is Ending.KILL
    assert child.wait(PATIENCE) == -signal.SIGKILL


def test_one_that_stands_still_is_killed_after_the_grace(nest: Nest) -> None:
    child = waiting(nest)
    child.send_signal(signal.SIGSTOP)
    assert eventually(lambda: psutil.Process(child.pid).status() == psutil.STATUS_STOPPED)
    assert stop(registered(child.pid), grace=SOON)[child.pid].ending is Ending.KILL


def test_nothing_is_left_of_a_tree_of_200_that_double_forks(nest: Nest, tmp_path: Path) -> None:
    root = nest.python(TREE, "200", str(tmp_path))
    assert eventually(lambda: len(list(tmp_path.iterdir())) == 201)
    pids = [int(each.name) for each in tmp_path.iterdir()]
    found = stop(registered(root.pid, tag=nest.tag), grace=SOON)
    assert carriers(nest.tag) == []
    assert set(pids) <= found.keys()
    endings = {each.ending for each in found.values()}
    assert Ending.KILL in endings <= {Ending.TERM, Ending.KILL}


def test_what_a_dead_process_left_behind_is_stopped_by_its_tag(nest: Nest, tmp_path: Path) -> None:
    root = nest.python(TREE, "6", str(tmp_path))
    assert eventually(lambda: len(list(tmp_path.iterdir())) == 7)
    process = registered(root.pid, tag=nest.tag)
    root.kill()
    root.wait()
    found = stop(process, grace=SOON)
    assert found[root.pid].ending is Ending.GONE
    assert carriers(nest.tag) == []
    assert len(found) == 7


def test_descendants_are_stopped_although_they_shed_their_environment(nest: Nest) -> None:
    child = nest.run(["sh", "-c", "env -i sleep 600 & env -i sleep 601 & wait"])
    process = registered(child.pid)
    assert eventually(lambda: len(stop_would(process)) == 3)
    found = stop(process)
    assert {each.ending for each in found.values()} == {Ending.TERM}
    assert not any(lives(pid) for pid in found)


def test_descendants_are_stopped_although_their_first_thread_has_ended(nest: Nest) -> None:
    script = f"import os, signal\nif os.fork() and os.fork():\n    signal.pause()\n{HEADLESS}"
    root = nest.python(script)
    assert eventually(lambda: sum(map(is_headless, carriers(nest.tag))) == 2)
    pids = carriers(nest.tag)
    found = stop(registered(root.pid))
    assert sorted(found) == sorted(pids)
    assert carriers(nest.tag) == []


def test_what_is_left_by_one_that_is_gone_is_stopped_although_its_first_thread_has_ended(
    nest: Nest,
) -> None:
    root = nest.python(f"import os\nif os.fork(): os._exit(0)\n{HEADLESS}")
    process = registered(root.pid, tag=nest.tag)
    root.wait()
    assert eventually(lambda: [is_headless(pid) for pid in carriers(nest.tag)] == [True])
    [left] = carriers(nest.tag)
    found = stop(process)
    assert found[left].ending is Ending.TERM
    assert "sum(range(1000))" in found[left].command
    assert carriers(nest.tag) == []


@contextmanager
def descriptors_left(number: int) -> Iterator[None]:
    """Only so many more files can be opened in this process."""
    usual, taken = getrlimit(RLIMIT_NOFILE), list[int]()
    most = max(map(int, os.listdir("/proc/self/fd"))) + number + 2
    setrlimit(RLIMIT_NOFILE, (most, usual[1]))
    try:
        with suppress(OSError):
            taken += (os.dup(0) for _ in range(most))
        for _ in range(number):
            os.close(taken.pop())
        yield
    finally:
        setrlimit(RLIMIT_NOFILE, usual)
        for each in taken:
            os.close(each)


def test_a_tree_is_stopped_to_the_last_with_fewer_descriptors_than_processes(
    nest: Nest, tmp_path: Path
) -> None:
    root = nest.python(TREE, "16", str(tmp_path))
    assert eventually(lambda: len(list(tmp_path.iterdir())) == 17)
    process = registered(root.pid, tag=nest.tag)
    with descriptors_left(8):
        seen = stop_would(process)
        found = stop(process, grace=SOON)
    assert NO_ROOM in {each.why for each in seen.values()}
    assert carriers(nest.tag) == []
    assert all(each.is_over for each in found.values())


def test_one_that_can_not_be_held_on_to_is_not_said_to_be_gone(nest: Nest) -> None:
    process = registered(waiting(nest).pid)
    with descriptors_left(1):
        found = stop_would(process)
    assert {(each.ending, each.why) for each in found.values()} == {(Ending.FOUND, NO_ROOM)}


def stop_would(process: Process, *, confirmed: bool = False) -> dict[int, Stopped]:
    found = Stopper(SystemClock()).find([process], confirmed=confirmed)
    return {each.pid: each for each in found}


def test_looking_stops_nobody(nest: Nest) -> None:
    child = waiting(nest)
    found = stop_would(registered(child.pid))
    assert [each.ending for each in found.values()] == [Ending.FOUND]
    assert child.poll() is None


def test_a_process_that_is_gone_was_gone(nest: Nest) -> None:
    child = waiting(nest)
    process = registered(child.pid)
    child.kill()
    assert eventually(lambda: not lives(child.pid))
    assert stop(process)[child.pid].ending is Ending.GONE  # a zombie still
    child.wait()
    assert stop(process)[child.pid].ending is Ending.GONE


@pytest.mark.parametrize(
    "other", [{"inode": 1}, {"started": 1}, {"boot_id": "before"}, {"started": 1, "inode": None}]
)
@pytest.mark.parametrize("confirmed", [False, True])
def test_a_stranger_with_its_pid_is_left_alone(
    other: dict[str, object], confirmed: bool, nest: Nest
) -> None:
    child = waiting(nest)
    process = registered(child.pid)
    stranger = replace(process, identity=replace(process.identity, **other))
    assert stop(stranger, confirmed=confirmed)[child.pid].ending is Ending.GONE
    assert child.poll() is None


@pytest.mark.parametrize("other", [{"host": "far"}, {"pid_namespace": 1}])
def test_another_host_s_or_namespace_s_process_is_never_signalled_from_here(
    other: dict[str, object], nest: Nest
) -> None:
    child = waiting(nest)
    process = registered(child.pid, tag=nest.tag)
    away = replace(process, identity=replace(process.identity, **other))
    found = stop(away, confirmed=True)
    assert found[child.pid].ending is Ending.REFUSED
    assert child.poll() is None


def test_pid_and_start_time_are_enough_only_for_a_person(nest: Nest) -> None:
    child = waiting(nest)
    process = registered(child.pid)
    weak = replace(process, identity=replace(process.identity, inode=None))
    refused = stop(weak)[child.pid]
    assert (refused.ending, refused.why) == (Ending.REFUSED, UNPROVEN)
    assert child.poll() is None
    assert stop(weak, confirmed=True)[child.pid].ending is Ending.TERM


def test_without_a_number_in_pidfs_the_tag_is_proof(nest: Nest) -> None:
    child = waiting(nest)
    process = registered(child.pid, tag=nest.tag)
    weak = replace(process, identity=replace(process.identity, inode=None))
    assert stop(replace(weak, tag="f" * 32))[child.pid].ending is Ending.REFUSED
    assert stop(weak)[child.pid].ending is Ending.TERM


def test_a_child_that_changes_its_name_and_parent_is_still_stopped(nest: Nest) -> None:
    script = (
        "import ctypes, os, signal\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        "ctypes.CDLL(None).prctl(15, b'innocent')\n"
        "signal.pause()"
    )
    root = nest.python(script)
    root.wait()
    assert eventually(lambda: len(carriers(nest.tag)) == 1)
    [left] = carriers(nest.tag)
    found = Stopper(SystemClock()).drive_out(Hunt(tags=[nest.tag]), LONG)
    assert [(each.pid, each.ending) for each in found] == [(left, Ending.TERM)]


def test_another_user_s_process_is_refused(nest: Nest) -> None:
    if os.getuid() == 0:
        other = nest.run(["sleep", "600"], user=65534).pid
    else:
        shielded = ancestors(os.getpid(), read_table())
        other = min(pid for pid in read_table().keys() - shielded if owner(pid) == 0)
    refused = stop(registered(other), confirmed=True)[other]
    assert (refused.ending, refused.why) == (Ending.REFUSED, OTHERS)
    assert lives(other)


def test_ourselves_our_ancestors_and_the_first_process_are_refused() -> None:
    for pid in (os.getpid(), os.getppid(), 1):
        refused = stop(registered(pid), confirmed=True)[pid]
        assert (refused.ending, refused.why) == (Ending.REFUSED, OURSELVES)


def test_who_stops_its_own_tree_from_inside_survives(nest: Nest) -> None:
    script = (
        "import os, sys\n"
        "from datetime import timedelta\n"
        "from sexton.core.clock import SystemClock\n"
        "from sexton.processes import stopping\n"
        "from sexton.processes.hunting import Hunt\n"
        "from sexton.processes.stopping import Stopper\n"
        f"stopping.LAST_WAIT = {PATIENCE}\n"
        "other = os.fork()\n"
        "if other == 0:\n"
        "    while True: __import__('signal').pause()\n"
        f"found = Stopper(SystemClock()).drive_out(Hunt(tags=['{nest.tag}']), timedelta(0))\n"
        "print(*sorted(each.ending.name for each in found), flush=True)\n"
        "os.wait()\n"
    )
    child = nest.python(script, stdout=-1)
    said, _ = child.communicate(timeout=PATIENCE)
    assert said.decode().split() in (["KILL", "REFUSED"], ["REFUSED", "TERM"])
    assert child.returncode == 0


def test_without_pidfds_nobody_is_signalled_unattended(nest: Nest) -> None:
    child = waiting(nest)
    stopper, process = Stopper(SystemClock(), pidfds=False), registered(child.pid, tag=nest.tag)
    [refused] = stopper.stop([process], LONG)
    assert (refused.ending, refused.why) == (Ending.REFUSED, NO_PIDFD)
    assert child.poll() is None
    [stopped] = stopper.stop([process], LONG, confirmed=True)
    assert stopped.ending is Ending.TERM


def test_nested_tags_are_found_by_every_level(nest: Nest) -> None:
    inner = os.urandom(16).hex()
    child = subprocess.Popen(
        ["sleep", "600"], env=os.environ | {TAG_VARIABLE: f"{nest.tag}:{inner}"}
    )
    try:
        assert eventually(lambda: carriers(inner) == carriers(nest.tag) == [child.pid])
        [found] = Stopper(SystemClock()).drive_out(Hunt(tags=[nest.tag]), LONG)
        assert found.pid == child.pid
    finally:
        child.kill()
        child.wait()


def test_a_tag_in_another_variable_or_half_a_tag_means_nothing(nest: Nest) -> None:
    others = {"OTHER_" + TAG_VARIABLE: nest.tag, TAG_VARIABLE: nest.tag[:-1]}
    with subprocess.Popen(["sleep", "600"], env=os.environ | others) as stranger:
        assert Stopper(SystemClock()).drive_out(Hunt(tags=[nest.tag]), LONG) == []
        assert stranger.poll() is None
        stranger.kill()


def test_a_process_that_is_born_while_its_tree_is_stopped_is_stopped_too(
    nest: Nest, tmp_path: Path
) -> None:
    script = (
        "import os, signal, sys\n"
        "left = 3\n"
        "def again(*_):\n"
        "    global left\n"
        "    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n"
        "    if not left or os.fork(): os._exit(0)\n"
        "    os.setsid()\n"
        "    left -= 1\n"
        "    open(os.path.join(sys.argv[1], str(os.getpid())), 'w').close()\n"
        "    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])\n"
        "signal.signal(signal.SIGTERM, again)\n"
        "print('ready', flush=True)\n"
        "while True: signal.pause()"
    )
    root = nest.python(script, str(tmp_path), stdout=-1)
    assert root.stdout
    root.stdout.readline()
    found = stop(registered(root.pid, tag=nest.tag))
    assert carriers(nest.tag) == []
    born = {int(each.name) for each in tmp_path.iterdir()}
    assert len(born) == 3
    assert {root.pid, *born} <= found.keys()


@pytest.mark.parametrize("pid", [-1, 0, 1])
def test_what_means_a_group_of_processes_or_all_is_never_held_on_to(pid: int) -> None:
    with pytest.raises(ProcessLookupError):
        PlainGrip(pid)


DEEP = """
import ctypes, signal
if ctypes.CDLL(None).vfork() == 0:
    while True: signal.pause()  # until then its parent sleeps in the kernel
"""


def test_one_that_sleeps_in_the_kernel_is_told_of_as_such_and_can_be_killed(nest: Nest) -> None:
    deep = nest.python(DEEP)
    assert eventually(lambda: (row := read_row(deep.pid)) is not None and row.state == "D")
    hunt = Hunt([registered(deep.pid)])
    hunt.scan()
    told = {each.pid: each.why for each in hunt.results(Ending.STAYS)}
    hunt.close()
    assert told[deep.pid] == DEEP_IN_KERNEL
    assert stop(registered(deep.pid), grace=timedelta(0))[deep.pid].is_over


@pytest.mark.parametrize("pace", ["0.002", "0.01", "0.03"])
def test_of_one_that_moves_all_the_time_it_is_said_that_it_is_there_while_it_is(
    pace: str, nest: Nest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sexton.processes.stopping.LAST_WAIT", 2.0)  # it may never be caught
    going = tmp_path / "going"
    going.touch()
    root = nest.python(ROLL, pace, str(going), stdout=-1)
    process = registered(root.pid, tag=nest.tag)
    root.wait()
    try:
        found = stop(process, grace=SOON)
        is_over = is_held_by_nobody(root)
    finally:
        going.unlink()
    if all(each.is_over for each in found.values()):
        assert is_over
    elif not is_over:
        assert MOVES in {each.why for each in found.values()}


def is_held_by_nobody(child: subprocess.Popen[bytes]) -> bool:
    """Whether everybody who inherited the output of a process is gone: the kernel knows."""
    poll = select.poll()
    poll.register(child.stdout, select.POLLHUP)  # type: ignore[arg-type]
    return bool(poll.poll(0))


def test_one_that_is_spared_keeps_what_it_started(nest: Nest) -> None:
    outer = nest.python(
        "import subprocess, sys\n"
        "inner = subprocess.Popen(['sh', '-c', 'sleep 600 & echo $!; wait'], stdout=-1)\n"
        "deepest = int(inner.stdout.readline())\n"
        "print(inner.pid, deepest, subprocess.Popen(['sleep', '601']).pid, flush=True)\n"
        "inner.wait()",
        stdout=-1,
    )
    assert outer.stdout
    inner, deepest, other = map(int, outer.stdout.readline().split())
    assert eventually(lambda: runs(deepest, "sleep"))
    spare = [Spared(registered(inner).identity, None, "spared")]
    stopper = Stopper(SystemClock())
    done = stopper.stop([registered(outer.pid, tag=nest.tag)], LONG, spare=spare)
    found = {each.pid: (each.ending, each.why) for each in done}
    assert found[inner] == found[deepest] == (Ending.SPARED, "spared")
    assert (lives(inner), lives(deepest)) == (True, True)
    assert not any(map(lives, (other, outer.pid)))
    inside = stopper.stop([registered(deepest)], LONG, spare=spare)  # its own word counts most
    assert [(each.pid, each.ending) for each in inside] == [(deepest, Ending.TERM)]


def test_what_was_started_further_in_is_stopped_although_what_is_around_it_is_spared(
    nest: Nest,
) -> None:
    tag = os.urandom(16).hex()
    outer = nest.python(
        "import os, subprocess, sys\n"
        f"name = '{TAG_VARIABLE}'\n"
        "both = os.environ | {name: os.environ[name] + ':' + sys.argv[1]}\n"
        "first = subprocess.Popen(['sh', '-c', 'sleep 600 & echo $!'], env=both)\n"
        "first.wait()\n"
        "print(first.pid, flush=True)\n"
        "sys.stdin.read()",
        tag,
        stdin=-1,
        stdout=-1,
    )
    assert outer.stdout
    left, gone = (int(outer.stdout.readline()) for _ in range(2))
    assert eventually(lambda: runs(left, "sleep"))
    process = registered(outer.pid, ref=1, tag=tag)
    dead = replace(process, identity=replace(process.identity, pid=gone, inode=None))
    spare = [Spared(process.identity, nest.tag, "it is kept")]
    done = Stopper(SystemClock()).stop([dead], LONG, spare=spare)
    assert {(each.pid, each.ending) for each in done} == {(gone, Ending.GONE), (left, Ending.TERM)}
    assert {each.row for each in done} == {1}
    assert lives(outer.pid)
