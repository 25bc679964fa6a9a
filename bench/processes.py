"""What does it cost to look at many processes, and to be sure that each is the recorded one?"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import psutil

from bench.figures import OURS, Row, Series, Unit, against, alone, at_most
from bench.scene import Scene
from sexton.core.clock import SystemClock
from sexton.liveness.evidence import Sight
from sexton.liveness.process_identity import SystemProcesses
from sexton.processes.model import Process, ProcessKind
from sexton.processes.overseer import AHEAD
from sexton.processes.sampling import Sampler

NAME = "processes"
PEER = "psutil"
JUDGED = 1000
SAMPLE_MS, IDENTITY_MS = 50, 10


def run(scene: Scene) -> Iterator[Row]:
    """Processor time of this process, ours and psutil's round by round."""
    many = scene.sizes.processes
    with _sleepers(many) as pids:
        sampler = Sampler(SystemClock())
        known = [_registered(sampler, pid) for pid in pids]
        for looks in _first_looks(scene, known):
            yield at_most(looks, SAMPLE_MS) if many >= JUDGED else alone(looks)
        sampler.look(known)
        looks = _measure(
            scene,
            f"a look at {many:,}",
            {OURS: lambda: sampler.look(known), PEER: lambda: _look(pids)},
        )
        yield from _judge(looks, many, SAMPLE_MS)
        table = SystemProcesses()
        assert all(table.look(each.identity) is Sight.PRESENT for each in known)
        born = {pid: psutil.Process(pid).create_time() for pid in pids}
        identity = _measure(
            scene,
            f"whether {many:,} are the same",
            {
                OURS: lambda: [table.look(each.identity) for each in known],
                PEER: lambda: [psutil.Process(pid).create_time() == born[pid] for pid in pids],
            },
        )
        yield from _judge(identity, many, IDENTITY_MS)


def _first_looks(scene: Scene, known: Sequence[Process]) -> Iterator[Series]:
    """The two looks by which processes that nobody has watched before are judged."""
    what = f"a first look at {len(known):,}", f"a second look at {len(known):,}, with their ports"
    found: dict[str, list[float]] = {each: [] for each in what}
    for _ in range(scene.sizes.rounds):
        sampler = Sampler(SystemClock())
        found[what[0]].append(_cpu_ms(partial(sampler.look, known, new_ports=AHEAD)))
        found[what[1]].append(_cpu_ms(partial(sampler.look, known)))
    for each in what:
        scene.say(f"{NAME}: {each}")
        yield Series(NAME, each, Unit.CPU, {OURS: found[each]})


def _judge(series: Series, many: int, bound: float) -> Iterator[Row]:
    yield against(series, PEER, 2 if many >= JUDGED else None)
    if many >= JUDGED:
        yield at_most(series, bound, PEER)


def _measure(scene: Scene, what: str, jobs: Mapping[str, Callable[[], Any]]) -> Series:
    scene.say(f"{NAME}: {what}")
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(scene.sizes.rounds):
        for name, job in jobs.items():
            found[name].append(_cpu_ms(job))
    return Series(NAME, what, Unit.CPU, found)


def _cpu_ms(job: Callable[[], Any]) -> float:
    begun = time.process_time()
    job()
    return 1000 * (time.process_time() - begun)


def _look(pids: Sequence[int]) -> None:
    for pid in pids:
        process = psutil.Process(pid)
        with process.oneshot():
            process.ppid()
            process.status()
            process.cpu_times()
            process.memory_info()
            process.io_counters()


def _registered(sampler: Sampler, pid: int) -> Process:
    found = sampler.describe(pid)
    assert found is not None
    return Process(
        ref=pid,
        identity=found.identity,
        session="s",
        task=None,
        kind=ProcessKind.JOB,
        command="sleep",
        cwd="/",
        started_at=datetime.now(UTC),
    )


@contextmanager
def _sleepers(many: int) -> Iterator[list[int]]:
    started: list[subprocess.Popen[bytes]] = []
    try:
        started += (subprocess.Popen(["sleep", "600"]) for _ in range(many))
        time.sleep(1.2)  # so that they count as settled
        yield [each.pid for each in started]
    finally:
        for each in started:
            each.kill()
        for each in started:
            each.wait()
