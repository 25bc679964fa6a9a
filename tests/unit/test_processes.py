"""Is a recorded process still the same process?"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from resource import RLIMIT_NOFILE, getrlimit, setrlimit

import psutil
import pytest

from sexton.errors import PlatformUnsupported
from sexton.liveness import process_identity as processes
from sexton.liveness.evidence import Evidence, Sight, Verdict
from sexton.liveness.missed_heartbeats import Watch
from sexton.liveness.model import Identity, Worker
from sexton.liveness.policy import LivenessPolicy, judge
from sexton.liveness.process_identity import SystemProcesses
from sexton.processes.pidfds import has_pidfds
from tests.golden import golden
from tests.scenario.process_programs import HEADLESS, eventually, is_headless

TABLE = SystemProcesses()


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A real process that waits until its input ends."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def judge_at(sight: Sight, pid: int = 42, host: str = "here") -> Evidence:
    """What a sight alone says about a worker that nobody has watched."""
    identity = Identity(host=host, boot_id="boot", pid=pid, started=1)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    worker = Worker(
        id="w", identity=identity, kind="agent", version="1", beat=0, registered_at=start
    )
    return judge(worker, sight, LivenessPolicy(), Watch())


def identity_of(pid: int) -> Identity:
    started = processes.start_tick(pid)
    assert started is not None
    mine = TABLE.myself()
    return replace(mine, pid=pid, started=started, inode=processes.pidfs_inode(pid))


def test_this_process_sees_itself() -> None:
    assert TABLE.look(TABLE.myself()) is Sight.PRESENT


def test_a_running_child_is_present_and_a_killed_one_is_gone(
    child: subprocess.Popen[bytes],
) -> None:
    identity = identity_of(child.pid)
    assert TABLE.look(identity) is Sight.PRESENT
    child.kill()
    child.wait()
    assert TABLE.look(identity) is Sight.GONE


def test_a_child_that_nobody_collects_is_a_zombie_and_counts_as_dead(
    child: subprocess.Popen[bytes],
) -> None:
    identity = identity_of(child.pid)
    child.kill()
    assert eventually(lambda: TABLE.look(identity) is Sight.ZOMBIE)
    assert judge_at(Sight.ZOMBIE).verdict is Verdict.DEAD


def test_one_whose_first_thread_has_ended_is_not_dead() -> None:
    with subprocess.Popen([sys.executable, "-c", HEADLESS]) as child:
        try:
            assert eventually(lambda: is_headless(child.pid))
            identity = identity_of(child.pid)
            assert TABLE.look(identity) is Sight.PRESENT
            assert TABLE.look(replace(identity, inode=None)) is Sight.PRESENT
        finally:
            child.kill()


def test_who_has_no_descriptor_left_to_look_with_takes_nobody_for_dead(
    child: subprocess.Popen[bytes],
) -> None:
    identity, usual = identity_of(child.pid), getrlimit(RLIMIT_NOFILE)
    TABLE.look(identity)  # what is asked of the system once has been asked
    setrlimit(RLIMIT_NOFILE, (0, usual[1]))
    try:
        sight = TABLE.look(identity)
    finally:
        setrlimit(RLIMIT_NOFILE, usual)
    assert sight is Sight.HIDDEN


def test_one_that_had_no_descriptor_left_when_it_registered_is_not_taken_for_dead() -> None:
    usual = getrlimit(RLIMIT_NOFILE)
    TABLE.myself()  # what is asked of the system once has been asked
    setrlimit(RLIMIT_NOFILE, (0, usual[1]))
    try:
        identity = TABLE.myself()
    finally:
        setrlimit(RLIMIT_NOFILE, usual)
    assert TABLE.look(identity) is Sight.HIDDEN
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    assert TABLE.look(replace(identity, pid=gone.pid)) is Sight.GONE


def test_a_number_that_a_thread_has_now_is_no_process() -> None:
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    try:
        assert thread.native_id is not None
        with pytest.raises(ProcessLookupError):
            processes.open_pidfd(thread.native_id)
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("reason", [errno.ENOSYS, errno.EPERM])
def test_a_kernel_that_gives_no_pidfds_is_not_taken_for_one_that_does(
    monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    def refuse(pid: int) -> int:
        raise OSError(reason, str(pid))

    assert has_pidfds()
    monkeypatch.setattr(os, "pidfd_open", refuse)
    assert not has_pidfds()


def test_a_process_with_another_start_time_is_a_stranger(child: subprocess.Popen[bytes]) -> None:
    identity = replace(identity_of(child.pid), inode=None)
    assert TABLE.look(replace(identity, started=identity.started + 1)) is Sight.REUSED


def test_a_process_with_another_inode_is_a_stranger_even_in_the_same_tick(
    child: subprocess.Popen[bytes],
) -> None:
    identity = identity_of(child.pid)
    if identity.inode is not None:  # kernels before 6.9 have none to compare
        assert TABLE.look(replace(identity, inode=identity.inode + 1)) is Sight.REUSED


def test_another_boot_is_proof_and_another_host_or_namespace_is_not() -> None:
    mine = TABLE.myself()
    assert TABLE.look(replace(mine, boot_id="other")) is Sight.REBOOTED
    assert TABLE.look(replace(mine, host="other")) is Sight.ELSEWHERE
    assert TABLE.look(replace(mine, pid_namespace=1)) is Sight.ELSEWHERE


APART = """
import ctypes, os
from sexton.liveness.process_identity import pid_namespace
mine = pid_namespace()
apart = ctypes.CDLL(None).unshare(0x20000000) == 0  # its children only
assert pid_namespace() == mine
if os.fork() == 0:
    os._exit(2 * (mine != pid_namespace()))
print(apart, os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""


def test_a_child_knows_that_it_is_in_another_namespace() -> None:
    said = subprocess.run([sys.executable, "-c", APART], capture_output=True, check=True, text=True)
    assert said.stdout.strip() in ("True 2", "False 0")  # not everybody may leave a namespace


@pytest.mark.parametrize("sight", list(Sight))
def test_every_sight_has_a_verdict_in_words(sight: Sight) -> None:
    evidence = judge_at(sight)
    assert "pid 42 on here" in evidence.signals[0]
    assert (evidence.verdict is Verdict.DEAD) == (
        sight in (Sight.GONE, Sight.ZOMBIE, Sight.REUSED, Sight.REBOOTED)
    )


def test_where_nothing_says_since_when_the_machine_runs_nobody_is_given_an_identity(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unreadable(*_: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(processes, "_text", unreadable)
    monkeypatch.setattr(psutil, "boot_time", unreadable)
    processes.boot_id.cache_clear()
    with pytest.raises(PlatformUnsupported) as refused:
        processes.boot_id()
    golden("errors", "a machine without /proc", str(refused.value))
