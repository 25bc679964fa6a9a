"""Is a recorded process still the same process?"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from sexton.model.evidence import Evidence, Sight, Verdict
from sexton.model.worker import Identity, Worker
from sexton.policies.liveness import LivenessPolicy, judge
from sexton.policies.silence import Watch
from sexton.system import processes
from sexton.system.processes import SystemProcesses

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
    for _ in range(10_000):
        if TABLE.look(identity) is Sight.ZOMBIE:
            break
    sight = TABLE.look(identity)
    assert sight is Sight.ZOMBIE
    assert judge_at(sight).verdict is Verdict.DEAD


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


@pytest.mark.parametrize("sight", list(Sight))
def test_every_sight_has_a_verdict_in_words(sight: Sight) -> None:
    evidence = judge_at(sight)
    assert "pid 42 on here" in evidence.signals[0]
    assert (evidence.verdict is Verdict.DEAD) == (
        sight in (Sight.GONE, Sight.ZOMBIE, Sight.REUSED, Sight.REBOOTED)
    )
