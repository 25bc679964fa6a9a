"""Stop processes whose pid goes to a stranger meanwhile: `python -m tests.crash.reusing`.

N is the number of stop attempts; SEED repeats the choices. In every round some registered
processes die at a chosen moment of the attempt, and their pids go to strangers at once, most
often within the same tick of the kernel's clock. A stranger that is signalled is a failure.
Where the pid of a new process can not be chosen, the campaign says so and proves nothing.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from sexton.core.clock import SystemClock
from sexton.core.record import replace
from sexton.liveness.process_identity import SystemProcesses, pidfs_inode, start_tick
from sexton.processes.claims import Known
from sexton.processes.hunting import Hunt
from sexton.processes.masking import masked
from sexton.processes.model import Ending, Process, ProcessKind
from sexton.processes.process_table import read_command
from sexton.processes.stopping import Stopper
from tests.crash.running import order
from tests.kit.hurting import may_choose_pids
from tests.kit.nursery_process import LAST_PID

BATCH = 20
ATTEMPTS = 50
LONGEST_LIFE = 300

SIGNALLED = "strangers signalled"
REUSED = "pids that went to a stranger"
SAME_TICK = "strangers of the same tick"
BEFORE, LOOKED, TOLD = "before the attempt", "between look and signal", "after the signal"
LEFT = "left to live"
MOMENTS = (BEFORE, LOOKED, TOLD, LEFT)
RARE = (REUSED, SAME_TICK, *MOMENTS)


class Forked:
    """A child that waits to be ended, and is ended through its pidfd only."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.started = start_tick(pid) or 0
        self._descriptor: int | None = os.pidfd_open(pid)

    def has_ended(self) -> bool:
        """Whether somebody else has ended it; then it is collected."""
        assert self._descriptor is not None
        how = os.WEXITED | os.WNOHANG
        if os.waitid(os.P_PIDFD, self._descriptor, how) is None:
            return False
        self._release()
        return True

    def end(self) -> None:
        """End and collect it, if nobody has."""
        if self._descriptor is not None:
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
            os.waitid(os.P_PIDFD, self._descriptor, os.WEXITED)
            self._release()

    def _release(self) -> None:
        assert self._descriptor is not None
        os.close(self._descriptor)
        self._descriptor = None


def fork(wanted: int | None = None) -> Forked | None:
    """A new child, with the wanted pid; None if that can not be had."""
    for _ in range(ATTEMPTS):
        if wanted is not None:
            LAST_PID.write_text(str(wanted - 1))
        pid = os.fork()
        if pid == 0:
            _wait_idle(wanted)
        if wanted in (None, pid):
            return Forked(pid)
        os.waitpid(pid, 0)  # somebody else was born in between
    return None


def _wait_idle(wanted: int | None) -> None:
    if wanted not in (None, os.getpid()):
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.alarm(LONGEST_LIFE)  # if whoever would end it is killed
    while True:
        signal.pause()


def registered(child: Forked, *, without_inode: bool = False) -> Process:
    """A child as the registry would know it."""
    who = replace(
        SystemProcesses().myself(),
        pid=child.pid,
        started=child.started,
        inode=None if without_inode else pidfs_inode(child.pid),
    )
    return Process(
        ref=child.pid,
        identity=who,
        session="s",
        task=None,
        kind=ProcessKind.JOB,
        command=masked(read_command(child.pid)),
        cwd="/",
        started_at=datetime.now(UTC),
    )


class Scene:
    """Processes to be stopped, the strangers that get their pids, and what became of them."""

    def __init__(self, chance: random.Random, events: Counter[str]) -> None:
        self._events = events
        self._victims: dict[int, Forked] = {}
        self._strangers: list[Forked] = []
        self.moments: dict[int, str] = {}
        self.rows: list[Process] = []
        for _ in range(BATCH):
            child = fork()
            assert child is not None
            self._victims[child.pid] = child
            self.moments[child.pid] = chance.choice(MOMENTS)
            self.rows.append(registered(child, without_inode=chance.random() < 0.2))
            self.strike(BEFORE, [child.pid])  # at once: a tick is short

    def strike(self, moment: str, pids: Collection[int]) -> None:
        """End those whose moment it is, and give their pids to strangers."""
        for pid in pids:
            if self.moments.get(pid) == moment:
                self.moments[pid] = ""
                self._events[moment] += 1
                victim = self._victims.pop(pid)
                victim.end()
                stranger = fork(pid)
                if stranger is not None:
                    self._strangers.append(stranger)
                    self._events[REUSED] += 1
                    self._events[SAME_TICK] += stranger.started == victim.started

    def close(self) -> int:
        """End everybody; how many strangers somebody else had ended before."""
        wronged = sum(each.has_ended() for each in self._strangers)
        for each in (*self._strangers, *self._victims.values()):
            each.end()
        return wronged


class Ambush(Hunt):
    """A hunt in which processes die and their pids are used again between look and signal."""

    scene: Scene

    def scan(self, at_once: signal.Signals | None = None) -> set[Known]:
        found = super().scan(at_once)
        self.scene.strike(LOOKED, [pid for pid, _ in found])
        return found

    def signal(self, each: Known, number: signal.Signals) -> None:
        super().signal(each, number)
        self.scene.strike(TOLD, [each[0]])


def attempt(chance: random.Random, events: Counter[str]) -> int:
    """Stop a batch while its pids change hands; how many strangers were hit."""
    scene = Scene(chance, events)
    try:
        hunt = Ambush(scene.rows)
        hunt.scene = scene
        done = Stopper(SystemClock()).drive_out(hunt, timedelta(seconds=0.2))
        events["attempts"] += len(scene.rows)
        for each in done:
            events[str(each.ending)] += 1
            if scene.moments[each.pid] == LEFT and each.ending is Ending.TERM:
                events[LEFT] += 1
    finally:
        wronged = scene.close()
    return wronged


def campaign(number: int, seed: int) -> tuple[Counter[str], list[str]]:
    """That many attempts; what came up, and which rounds hit a stranger."""
    events: Counter[str] = Counter()
    failures: list[str] = []
    round_ = 0
    while events["attempts"] < number:
        wronged = attempt(random.Random(f"{seed} {round_}"), events)
        events[SIGNALLED] += wronged
        if wronged:
            failures.append(f"round {round_}: {wronged} strangers were hit")
        round_ += 1
    return events, failures


def main() -> int:
    """Run the campaign the environment asks for; what a shell takes for success or failure."""
    wanted = order(full=10_000, ci=400)
    if not may_choose_pids():
        print("not possible on this machine: pids can not be chosen")
        return 0
    events, failures = campaign(wanted.number, wanted.seed)
    for event, times in sorted(events.items()):
        print(f"  {times:7} {event}")
    never = [event for event in RARE if not events[event]]
    for line in (*failures, *(f"never came up: {event}" for event in never)):
        print(line)
    print(f"SEED={wanted.seed}\n{events['attempts']} attempts, {events[SIGNALLED]} strangers hit")
    return 1 if never or failures else 0


if __name__ == "__main__":
    sys.exit(main())
