"""Machines, clocks, a database and misfortunes, simulated from a seed."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from dataclasses import dataclass

from sexton.policies.liveness import LivenessPolicy

STEP = 5.0
DAY = 86_400.0
HOSTS, WORKERS = 4, 7
POLICY = LivenessPolicy()
PAUSES = (20.0, 60.0, 100.0, 120.0, 400.0, 3600.0, 20_000.0)

PER_DAY = {
    "kill": 60.0,
    "worker paused": 60.0,
    "keeper paused": 20.0,
    "host suspended": 12.0,
    "host rebooted": 3.0,
    "host cut off": 12.0,
    "wall clock jumped": 12.0,
    "database frozen": 8.0,
}


@dataclass(slots=True)
class Host:
    """A machine: one clock stops while it sleeps, one goes on, one is set by people."""

    name: str
    boot: int = 1
    running: float = 0.0
    elapsed: float = 0.0
    wall: float = 0.0
    asleep_until: float = 0.0
    cut_until: float = 0.0
    keeper_paused_until: float = 0.0


@dataclass(slots=True)
class Process:
    """A worker as it really is, beside what the ledger says of it."""

    id: str
    host: Host
    boot: int
    alive: bool = True
    paused_until: float = 0.0
    next_beat: float = 0.0
    beat: int = 0
    beaten_at: float = 0.0
    buried: bool = False


class World:
    """All that keepers can know nothing about but what they see; goes on in steps of 5 seconds."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.now = 0.0
        self.frozen_until = 0.0
        self.hosts = [Host(f"host {number}") for number in range(HOSTS)]
        self.counts: Counter[str] = Counter()
        self.processes: list[Process] = []
        self._trace = hashlib.sha256()
        self._born = 0
        for host in self.hosts * WORKERS:
            self.enrol(host)

    @property
    def trace(self) -> str:
        """A digest of everything that happened so far."""
        return self._trace.hexdigest()

    def step(self, *, calm: bool) -> None:
        """All clocks go on, misfortunes happen unless it is calm, and whoever can beats."""
        self.now += STEP
        if not calm:
            self.suffer()
        for host in self.hosts:
            host.elapsed += STEP
            host.wall += STEP
            if self.now >= host.asleep_until:
                host.running += STEP
        for process in [each for each in self.processes if self.is_up(each)]:
            if process.host.running >= process.next_beat:
                self.beat(process)
        self.processes = [each for each in self.processes if each.alive or not each.buried]

    def suffer(self) -> None:
        """Some misfortune, perhaps."""
        for name, often in PER_DAY.items():
            if self.chance.random() < often * STEP / DAY:
                self.note(name)
                self.strike(name, self.chance.choice(self.hosts))

    def strike(self, name: str, host: Host) -> None:
        """Let the misfortune happen, to the host if it is one of hosts."""
        until = self.now + self.chance.choice(PAUSES)
        match name:
            case "kill":
                self.kill(self.chance.choice([each for each in self.processes if each.alive]))
            case "worker paused":
                self.chance.choice(self.processes).paused_until = until
            case "database frozen":
                self.frozen_until = min(until, self.now + 600)
            case "host rebooted":
                self.reboot(host)
            case _:
                self.disturb(name, host, until)

    def disturb(self, name: str, host: Host, until: float) -> None:
        """What a host survives."""
        match name:
            case "keeper paused":
                host.keeper_paused_until = until
            case "host suspended":
                host.asleep_until = until
            case "host cut off":
                host.cut_until = until
            case "wall clock jumped":
                host.wall += self.chance.choice((-172_800.0, -120.0, 120.0, 172_800.0))
            case _:
                raise ValueError(f"there is no misfortune '{name}'")

    def enrol(self, host: Host) -> None:
        """A new worker."""
        self._born += 1
        self.processes.append(
            Process(
                f"worker {self._born}",
                host,
                host.boot,
                next_beat=host.running + self.chance.uniform(0, 15),
                beaten_at=self.now,
            )
        )

    def kill(self, process: Process) -> None:
        process.alive = False
        self.enrol(process.host)

    def reboot(self, host: Host) -> None:
        """All processes of the host are gone and its clocks begin anew."""
        for process in [each for each in self.processes if each.host is host and each.alive]:
            self.kill(process)
        host.boot += 1
        host.running = host.elapsed = 0.0
        for process in self.processes:
            if process.host is host and process.alive:
                process.boot, process.next_beat = host.boot, 0.0

    def is_up(self, process: Process) -> bool:
        awake = self.now >= max(process.paused_until, process.host.asleep_until)
        return process.alive and awake and self.reaches(process.host)

    def reaches(self, host: Host) -> bool:
        """Whether the host is awake and has the database."""
        return self.now >= max(host.asleep_until, host.cut_until, self.frozen_until)

    def beat(self, process: Process) -> None:
        process.next_beat = process.host.running + POLICY.beat_every.total_seconds()
        if process.buried:
            self.note("told so at its next beat", process.id)
            process.alive = False  # it goes on as a new worker
            self.enrol(process.host)
            return
        process.beat += 1
        process.beaten_at = self.now

    def slowness(self) -> float:
        return self.chance.choice((0.0,) * 9 + (10.0, 30.0))

    def note(self, event: str, who: str = "") -> None:
        self.counts[event] += 1
        self._trace.update(f"{self.now} {event} {who}\n".encode())
