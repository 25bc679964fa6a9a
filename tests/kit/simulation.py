"""Does anybody alive get reaped? Many workers and observers, many days, replayed from a seed.

    N=1000 SEED=7 python -m tests.kit.simulation

The policies are the real ones; machines, clocks, the database and all misfortunes are simulated.
"""

from __future__ import annotations

import os
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf

from sexton.liveness.evidence import Evidence, Sight, Verdict
from sexton.liveness.mass_death import Doubt, doubt
from sexton.liveness.missed_heartbeats import Look, Watch, listen
from sexton.liveness.model import Identity, Worker
from sexton.liveness.policy import judge
from tests.kit.simulation_world import (
    BEAT_EVERY,
    DAY,
    PER_DAY,
    POLICY,
    Host,
    Process,
    Witness,
    World,
)

LOOK_EVERY = 15.0
SWEEP_EVERY = 60.0
LONGEST_GAP = 90.0
CALM = 3 * 3600.0
"""Nothing new happens at the end, so that whoever is dead by then can be found."""
START = datetime(2026, 1, 1, tzinfo=UTC)
TTL = POLICY.ttl.total_seconds()

SOMETIMES = (
    *PER_DAY,
    "reaped by the kernel's word",
    "reaped for its silence",
    "reaped alive from another host",
    "told so at its next beat",
    "death held back",
    "beat between look and sweep",
    "beat between sweep and reap",
    "observation voided",
)
"""What must happen in every run, or the run has shown nothing."""


@dataclass(frozen=True, slots=True)
class Reap:
    """A death that a sweep has decided on, and for how long the observer had really seen it."""

    at: float
    process: Process
    beat: int
    evidence: Evidence
    seen: float


@dataclass(slots=True)
class Observer:
    """A keeper: its memory is all it has."""

    host: Host
    boot: int
    next_look: float = 0.0
    next_sweep: float = 0.0
    watch: Watch = field(default_factory=Watch)
    doubt: Doubt = field(default_factory=Doubt)
    sweeps_at: float = inf
    reaps: list[Reap] = field(default_factory=list)
    looks: list[tuple[float, float]] = field(default_factory=list)
    """Its looks since the last gap: in the world's time, and in its own running time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run showed; `trace` is the same for the same seed and the same rules."""

    seed: int
    days: float
    counts: Counter[str]
    wrongs: tuple[str, ...]
    trace: str

    @property
    def never(self) -> tuple[str, ...]:
        """What should happen sometimes and did not."""
        return tuple(name for name in SOMETIMES if not self.counts[name])


class Keepers:
    """One keeper on each host, with the real policies, and a judge who knows the truth."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.observers = [Observer(host, host.boot) for host in world.hosts]
        self.wrongs: list[str] = []
        self._answers: dict[tuple[str, Sight, float, bool], Evidence] = {}

    def step(self) -> None:
        """Every keeper that can does what is due; one on a rebooted host begins anew."""
        world = self.world
        for place, host in enumerate(world.hosts):
            observer = self.observers[place]
            if observer.boot != host.boot:
                observer = self.observers[place] = Observer(host, host.boot)
            if host.reaches and world.now >= host.keeper_paused_until:
                # Each when it is due; a slow database comes in between.
                if host.running >= observer.next_look:
                    self.look(observer)
                if world.now >= observer.sweeps_at:
                    self.sweep(observer)
                if observer.reaps:
                    self.carry_out(observer)

    def carry_out(self, observer: Observer) -> None:
        """The reaps whose time has come."""
        due = [each for each in observer.reaps if self.world.now >= each.at]
        observer.reaps = [each for each in observer.reaps if self.world.now < each.at]
        for each in due:
            self.reap(observer, each)

    def look(self, observer: Observer) -> None:
        host = observer.host
        observer.next_look = host.running + LOOK_EVERY
        beats = self.world.beats()
        before = observer.watch
        look = moment(self.world, host)
        observer.watch = listen(before, beats, look, LONGEST_GAP)
        self.remember(observer, before.last, look)
        if host.running >= observer.next_sweep:
            observer.next_sweep = host.running + SWEEP_EVERY
            observer.sweeps_at = self.world.now + self.world.slowness()

    def remember(self, observer: Observer, last: Look | None, look: Look) -> None:
        """What the observer has really seen, kept apart from what the policies make of it."""
        if last is not None and (
            look.running - last.running > LONGEST_GAP or look.elapsed - last.elapsed > LONGEST_GAP
        ):
            self.world.note("observation voided")
            observer.looks.clear()
        observer.looks.append((self.world.now, look.running))

    def sweep(self, observer: Observer) -> None:
        observer.sweeps_at = inf
        present = [each for each in self.world.processes if not each.buried]
        judged = zip(present, self.judged(observer, present), strict=True)
        dead = [(each, proof) for each, proof in judged if proof.verdict is Verdict.DEAD]
        unproven = frozenset(each.id for each, proof in dead if not proof.kernel)
        look = moment(self.world, observer.host)
        observer.doubt = doubt(observer.doubt, unproven, len(present), look, POLICY)
        for process, proof in dead:
            if process.id in observer.doubt.doubted:
                self.world.note("death held back")
            else:
                # What was seen by now counts: a pause until then voids what is seen afterwards.
                at, seen = self.world.now + self.world.slowness(), self.seen(observer, process)
                observer.reaps.append(Reap(at, process, process.beat, proof, seen))

    def judged(self, observer: Observer, present: Iterable[Process]) -> Iterator[Evidence]:
        """What the policy says; asked once for each thing that it can know of a worker."""
        host, watch, answers = observer.host, observer.watch, self._answers
        for process in present:
            id, beat = process.id, process.beat
            if watch.beats.get(id, beat) != beat:
                self.world.note("beat between look and sweep")
            sight = Sight.ELSEWHERE if process.host is not host else seen_here(process)
            known = (process.host.name, sight, watch.silence(id, beat), watch.has_moved(id, beat))
            proof = answers.get(known)
            if proof is None:
                proof = answers[known] = judge(row(process), sight, POLICY, watch)
            yield proof

    def reap(self, observer: Observer, decided: Reap) -> None:
        """The ledger's compare-and-set, and the question whether it was right."""
        process, evidence = decided.process, decided.evidence
        if process.buried:
            return
        if process.beat != decided.beat:
            self.world.note("beat between sweep and reap")
            return
        self.world.bury(process)
        how = "by the kernel's word" if evidence.kernel else "for its silence"
        self.world.note(f"reaped {how}", process.id)
        if evidence.kernel and process.alive:
            self.wrongs.append(f"{process.id} was alive on the very host that reaped it")
        if evidence.kernel:
            return
        if process.host is observer.host:
            self.wrongs.append(f"{process.id} was reaped for its silence on its own host")
        if process.alive:
            self.world.note("reaped alive from another host", process.id)
            if self.world.witness is not None:
                self.world.witness.lost(process.id)
        self.check_silence(decided)

    def check_silence(self, decided: Reap) -> None:
        process, seen = decided.process, decided.seen
        if seen < TTL or self.world.now - process.beaten_at < TTL:
            self.wrongs.append(f"{process.id} was reaped after only {seen:.0f} s of silence")

    def seen(self, observer: Observer, process: Process) -> float:
        """For how long of its running time the observer has looked on since the last beat."""
        first = bisect_left(observer.looks, (process.beaten_at, 0.0))
        seen = [running for _, running in observer.looks[first : first + 1]]
        return observer.host.running - seen[0] if seen else 0.0


def moment(world: World, host: Host) -> Look:
    """Now, on all clocks of a host."""
    return Look(host.running, world.now - host.booted_at, host.booted_at + host.wall_ahead)


def row(process: Process) -> Worker:
    """A worker as the ledger knows it."""
    identity = Identity(host=process.host.name, boot_id=str(process.boot), pid=1, started=1)
    return Worker(
        id=process.id,
        identity=identity,
        kind="agent",
        version="1",
        beat=process.beat,
        registered_at=START,
    )


def seen_here(process: Process) -> Sight:
    """What the kernel of its host says about a process."""
    if process.boot != process.host.boot:
        return Sight.REBOOTED
    return Sight.PRESENT if process.alive else Sight.GONE


def simulate(seed: int, days: float, witness: Witness | None = None) -> Outcome:
    """Live through so many days; the same seed gives the same life."""
    world = World(seed, witness)
    keepers = Keepers(world)
    while world.now < days * DAY + CALM:
        world.step(calm=world.now >= days * DAY)
        keepers.step()
    lost = [each.id for each in world.processes if not each.alive and not each.buried]
    untold = [each.id for each in world.processes if each.buried and _could_know(world, each)]
    return Outcome(
        seed=seed,
        days=days,
        counts=world.counts,
        wrongs=(
            *keepers.wrongs,
            *(f"{id} is dead and was never found" for id in lost),
            *(f"{id} was given up and never told" for id in untold),
        ),
        trace=world.trace,
    )


def _could_know(world: World, process: Process) -> bool:
    """Whether it lives and has had the time for a beat."""
    return world.is_up(process) and world.now >= process.paused_until + 2 * BEAT_EVERY


def main() -> int:
    """Run N days from SEED and say what happened; 1 if anything was wrong."""
    outcome = simulate(int(os.environ.get("SEED", "1")), float(os.environ.get("N", "20")))
    for name, number in sorted(outcome.counts.items()):
        sys.stdout.write(f"{number:8} {name}\n")
    for words in (*outcome.wrongs[:20], *(f"never: {name}" for name in outcome.never)):
        sys.stdout.write(f"WRONG    {words}\n")
    sys.stdout.write(f"{outcome.days:g} days, SEED={outcome.seed}, trace {outcome.trace[:16]}\n")
    return 1 if outcome.wrongs or outcome.never else 0


if __name__ == "__main__":
    sys.exit(main())
