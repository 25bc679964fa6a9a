"""Machines, clocks, a database and misfortunes, simulated from a seed."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Protocol

from sexton.liveness.policy import LivenessPolicy

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
    booted_at: float = 0.0
    running: float = 0.0
    wall_ahead: float = 0.0
    """How far the clock that people set is ahead of the world."""
    asleep_until: float = 0.0
    cut_until: float = 0.0
    keeper_paused_until: float = 0.0
    reaches: bool = True
    """Whether it is awake and has the database."""
    alive: list[Process] = field(default_factory=list)
    """The workers that run on it."""


@dataclass(slots=True)
class Process:
    """A worker as it really is, beside what the ledger says of it."""

    number: int
    host: Host
    boot: int
    alive: bool = True
    paused_until: float = 0.0
    next_beat: float = 0.0
    beat: int = 0
    beaten_at: float = 0.0
    buried: bool = False
    id: str = field(init=False)

    def __post_init__(self) -> None:
        self.id = f"worker {self.number}"


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
        self._ledger: dict[str, int] = {}
        self._beats: dict[str, int] | None = None
        self._has_corpses = False
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
        thawed = now >= self.frozen_until
        refused: list[Process] = []
        for host in self.hosts:
            awake = now >= host.asleep_until
            host.running += STEP if awake else 0.0
            host.reaches = awake and thawed and now >= host.cut_until
            if host.reaches:
                refused += self.beat(host)
        # Only now, since each brings another into the world, and in the order of their birth.
        for process in sorted(refused, key=attrgetter("number")):
            self.tell(process)

    def beat(self, host: Host) -> list[Process]:
        """Everybody on the host whose time has come beats; whose beats the ledger refuses."""
        running, refused = host.running, []
        for process in host.alive:
            if process.next_beat <= running and self.now >= process.paused_until:
                if process.buried:
                    refused.append(process)
                else:
                    process.next_beat = running + BEAT_EVERY
                    process.beat += 1
                    process.beaten_at = self.now
                    self._ledger[process.id] = process.beat
        return refused

    def beats(self) -> dict[str, int]:
        """What the ledger says of everybody it does not take for dead."""
        if self._has_corpses:
            self._has_corpses = False
            self.processes = [each for each in self.processes if each.alive or not each.buried]
        if self._beats is None:
            self._beats = self._ledger.copy()
        return self._beats

    def bury(self, process: Process) -> None:
        """The ledger takes the worker for dead."""
        process.buried = True
        del self._ledger[process.id]
        self._beats = None
        self._has_corpses = True

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
                host.wall_ahead += self.chance.choice((-172_800.0, -120.0, 120.0, 172_800.0))
            case _:
                raise ValueError(f"there is no misfortune '{name}'")

    def enrol(self, host: Host) -> None:
        """A new worker."""
        self._born += 1
        self._beats = None
        process = Process(
            self._born,
            host,
            host.boot,
            next_beat=host.running + self.chance.uniform(0, 15),
            beaten_at=self.now,
        )
        self.processes.append(process)
        self._ledger[process.id] = 0
        host.alive.append(process)

    def kill(self, process: Process) -> None:
        process.alive = False
        self._has_corpses = True
        process.host.alive.remove(process)
        self.enrol(process.host)

    def reboot(self, host: Host) -> None:
        """All processes of the host are gone and its clocks begin anew."""
        for process in host.alive[:]:
            self.kill(process)
        host.boot += 1
        host.running, host.booted_at = 0.0, self.now - STEP  # before this step
        for process in host.alive:
            process.boot, process.next_beat = host.boot, 0.0

    def is_up(self, process: Process) -> bool:
        """Whether it would beat now."""
        return process.alive and process.host.reaches and self.now >= process.paused_until

    def tell(self, process: Process) -> None:
        """Its beat was refused: it goes on as a new worker."""
        self.note("told so at its next beat", process.id)
        if self.witness is not None:
            self.witness.told(process.id)
        self.kill(process)

    def slowness(self) -> float:
        return self.chance.choice((0.0,) * 9 + (10.0, 30.0))

    def note(self, event: str, who: str = "") -> None:
        self.counts[event] += 1
        self._trace.update(f"{self.now} {event} {who}\n".encode())
