"""Machines, clocks, a database and misfortunes, simulated from a seed."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from dataclasses import dataclass
from typing import Protocol

from sexton.policies.liveness import LivenessPolicy

STEP = 5.0
DAY = 86_400.0
HOSTS, WORKERS = 4, 5
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
BEAT_EVERY = POLICY.beat_every.total_seconds()


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
    reaches: bool = True
    """Whether it is awake and has the database."""


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


class Witness(Protocol):
    """Told of everybody who is given up while alive, and of the moment it learns of that."""

    def lost(self, id: str) -> None:
        """A keeper of another host has reaped it."""

    def told(self, id: str) -> None:
        """Its next beat was refused, or its next write would be."""


class World:
    """All that keepers can know nothing about but what they see; goes on in steps of 5 seconds."""

    def __init__(self, seed: int, witness: Witness | None = None) -> None:
        self.chance = random.Random(seed)
        self.witness = witness
        self.now = 0.0
        self.next_misfortune = 0.0
        self.frozen_until = 0.0
        self.hosts = [Host(f"host {number}") for number in range(HOSTS)]
        self.counts: Counter[str] = Counter()
        self.processes: list[Process] = []
        self._beats: dict[str, int] | None = None
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
        now = self.now = self.now + STEP
        self._beats = None
        while not calm and now >= self.next_misfortune:
            self.suffer()
        for host in self.hosts:
            host.elapsed += STEP
            host.wall += STEP
            if now >= host.asleep_until:
                host.running += STEP
            host.reaches = now >= host.asleep_until and now >= host.cut_until
            host.reaches = host.reaches and now >= self.frozen_until
        # Found first: whoever beats may bring others into the world.
        due = [
            each
            for each in self.processes
            if each.next_beat <= each.host.running
            and each.host.reaches
            and each.alive
            and now >= each.paused_until
        ]
        for process in due:
            self.beat(process)

    def beats(self) -> dict[str, int]:
        """What the ledger says of everybody it does not take for dead."""
        if self._beats is None:
            self.processes = [each for each in self.processes if each.alive or not each.buried]
            self._beats = {each.id: each.beat for each in self.processes if not each.buried}
        return self._beats

    def bury(self, process: Process) -> None:
        """The ledger takes the worker for dead."""
        process.buried = True
        self._beats = None

    def suffer(self) -> None:
        """Some misfortune, and the time of the next one."""
        if self.next_misfortune:
            [name] = self.chance.choices(list(PER_DAY), list(PER_DAY.values()))
            self.note(name)
            self.strike(name, self.chance.choice(self.hosts))
        self.next_misfortune += self.chance.expovariate(sum(PER_DAY.values()) / DAY)

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
        self._beats = None
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
        """Whether it would beat now."""
        return process.alive and process.host.reaches and self.now >= process.paused_until

    def beat(self, process: Process) -> None:
        process.next_beat = process.host.running + BEAT_EVERY
        if process.buried:
            self.note("told so at its next beat", process.id)
            if self.witness is not None:
                self.witness.told(process.id)
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
