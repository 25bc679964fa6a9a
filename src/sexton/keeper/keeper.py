"""How are sessions kept well for as long as the machine runs?"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import TypeVar

from sexton.core.troubles import Troubles
from sexton.finalizers.runner import Runner
from sexton.keeper.apply import apply, new_receipt
from sexton.keeper.beside import Beside
from sexton.keeper.keeper_context import Estate
from sexton.keeper.keeper_log import HeldLines, tell_freed, tell_outcome
from sexton.keeper.observe import Observed, observe_home
from sexton.keeper.propose import reschedule_stale, survey
from sexton.keeper.swept import Sweep
from sexton.liveness.death_watch import DeathWatch
from sexton.liveness.evidence import Verdict
from sexton.liveness.mass_death import Doubt
from sexton.liveness.missed_heartbeats import Watch, listen
from sexton.liveness.model import Worker
from sexton.liveness.reaper import LastAlive, bury
from sexton.liveness.standing import take_samples
from sexton.notifications.sender import Messenger
from sexton.processes.after_session import settle_processes
from sexton.processes.watching import watch_processes
from sexton.retention.housekeeping import Housekeeping, tend

LOOK_EVERY = 5.0
"""Seconds between looks at the beats of others, and at who is new on this host."""
LONGEST_GAP = 3
"""A gap of more than so many looks in our own attention voids what we had heard."""

MOST_WATCHED = 256
"""Each watched process takes a descriptor; the death of any other is found at the next look."""
PATIENCE = 5.0
"""Seconds a keeper that ends waits for end-of-session work that is nearly done."""

T = TypeVar("T")

log = logging.getLogger("sexton.keeper")


class Keeper:
    """Observe, plan, apply, again and again; any number of keepers may work on one ledger."""

    def __init__(
        self,
        estate: Callable[[], Estate],
        worker: Callable[[], str],
        interval: float,
        deaths: DeathWatch | None = None,
        runner: Runner | None = None,
        messenger: Messenger | None = None,
    ) -> None:
        self._estate = estate  # asked anew for each sweep: homes come and go
        self._worker = worker  # asked anew too: one that was taken for dead goes on as another
        self.interval = interval
        self._deaths = deaths
        self._runner = runner
        self._messenger = messenger
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._watch = Watch()
        self._doubt = Doubt()
        self._house = Housekeeping()
        self._reached: Estate | None = None
        self._mourned: frozenset[str] = frozenset()
        self._unreachable: frozenset[str] = frozenset()
        self._failing: dict[str, str] = {}
        self._troubles = Troubles("sexton.keeper", level="error", traced=True)
        self._held = HeldLines()
        self._on_step: Callable[[], object] = lambda: None
        self._alive = LastAlive()

    def stop(self) -> None:
        """Finish the current action, then stop."""
        with self._lock:
            if self._stop.is_set():
                return  # the watch may be closed by now, and its descriptor somebody else's
            self._stop.set()
            if self._runner is not None:
                self._runner.stop()
            if self._deaths is not None:
                self._deaths.wake()

    def close(self) -> None:
        """Let go of what was watched, once `run` has returned or was never called."""
        self.stop()
        deaths, self._deaths = self._deaths, None
        if deaths is not None:
            deaths.close()

    def run(
        self,
        on_sweep: Callable[[Sweep], object] | None = None,
        on_step: Callable[[], object] = lambda: None,
    ) -> None:
        """Sweep until stopped, at once when a worker on this machine dies.

        A sweep that fails is told once and tried again. End-of-session work goes on beside it, so
        that no sweep waits for it. `on_step` is called between two actions and while resting.
        """
        self._on_step = on_step
        tell = on_sweep or (lambda _: None)
        with self._beside() as beside:
            while not self._stop.is_set():
                self._outlive("start a thread", beside.attend)
                self._outlive("sweep", lambda: tell(self.sweep()))
                if not self._outlive("wait for the next sweep", self._rest):
                    self._stop.wait(LOOK_EVERY)

    def once(self) -> Sweep:
        """One sweep, and all end-of-session work whose time has come, unless it is stopped."""
        sweep = self.sweep()
        begun = 0 if self._runner is None else self._runner.drain(PATIENCE)
        if self._messenger is not None:
            self._outlive("send notices", self._messenger.deliver)
        return replace(sweep, finalizing=begun)

    def _send(self, messenger: Messenger) -> None:
        """Hand notices over beside the sweeps, so that none waits for a silent server."""
        while not self._stop.is_set():
            self._outlive("send notices", messenger.deliver)
            self._stop.wait(LOOK_EVERY)

    @contextmanager
    def _beside(self) -> Iterator[Beside]:
        """What is done in threads of its own: end-of-session work, and handing over of notices."""
        runner, messenger = self._runner, self._messenger
        targets: dict[str, Callable[[], None]] = {}
        if messenger is not None:
            targets["sexton-notices"] = partial(self._send, messenger)
        if runner is not None:
            targets["sexton-finalizers"] = runner.run
        beside = Beside(targets)
        try:
            yield beside
        finally:
            if runner is not None:
                runner.stop()
                beside.join("sexton-finalizers")
                runner.settle(PATIENCE)

    def sweep(self) -> Sweep:
        """One round over everything this keeper can reach."""
        estate = self._attentive(self._estate())
        began = estate.clock.monotonic()
        observed, troubles = self._observe(estate)
        reschedule_stale(estate)
        seen = self._outlive("look at processes", partial(watch_processes, estate))
        found = survey(estate)
        self._mourned = frozenset(worker.id for worker, _ in found.deaths.dead)
        # Before the sessions end: each of the dead is recorded with evidence of its own.
        bury(estate, found.deaths)
        estate.ledger.finalizing.free(estate.clock.now())
        freed = estate.ledger.spending.free(estate.clock.now())
        tell_freed(freed)
        receipt = new_receipt()
        outcomes = []
        for outcome in apply(estate, found.plan, receipt, just_made=True):
            outcomes.append(outcome)
            tell_outcome(outcome)
            if self._is_over():
                break
        estate.ledger.index.reschedule(found.settled)
        self._held.tell(found.plan.held)
        settle = partial(settle_processes, estate, seen or {}, self._is_over)
        noted = self._outlive("see to processes", settle)
        if self._messenger is not None:
            self._outlive("collect notices", partial(self._messenger.after, found.plan.held))
        if estate.removing is not None:
            self._outlive("look after the vault", partial(tend, estate, estate.removing, receipt))
        removed = self._outlive(
            "keep house", lambda: self._house.round(estate, receipt, self._is_over)
        )
        for outcome in removed or ():
            tell_outcome(outcome)
        if self._messenger is not None:
            self._outlive("remark", partial(self._messenger.remark, self._house.remarks))
        self._doubt = found.deaths.doubt
        pace = timedelta(seconds=self.interval)
        estate.ledger.workers.swept(self._worker(), estate.clock.now(), pace)
        if not self._stop.is_set():
            take_samples(replace(estate, doubt=self._doubt), held=len(found.plan.held))
        ended = estate.clock.monotonic()
        return Sweep(
            receipt=receipt,
            seconds=ended - began,
            latencies=self._alive.latencies(outcomes, ended),
            observed=observed,
            outcomes=(*outcomes, *(removed or ())),
            held=found.plan.held,
            troubles=troubles,
            finished=len(outcomes) == len(found.plan.actions),
            freed=tuple(freed),
            processes=tuple(noted or ()),
        )

    def _is_over(self) -> bool:
        """Whether to stop; asked between two actions, so whoever asks is at work."""
        self._outlive("say that it is at work", self._on_step)
        return self._stop.is_set()

    def _attentive(self, estate: Estate) -> Estate:
        """The estate with what this keeper has heard of every worker so far."""
        workers = self._look(estate)
        self._reached = replace(estate, watch=self._watch, doubt=self._doubt)
        self._alive.saw(self._reached.evidence(workers), estate.clock.monotonic())
        return self._reached

    def _look(self, estate: Estate) -> list[Worker]:
        """Hear the beats of all workers, and watch those of this machine."""
        workers = estate.ledger.reaping.suspects()
        beats = {worker.id: worker.beat for worker in workers}
        # A freeze shorter than the gap counts as silence, so it must not make up a whole TTL.
        ttl = estate.rules(None).rules.liveness.ttl.total_seconds()
        gap = min(LONGEST_GAP * max(self.interval, LOOK_EVERY), ttl)
        self._watch = listen(self._watch, beats, estate.look(), gap)
        if self._deaths is not None:
            here = estate.processes.myself().host
            near = (worker.identity for worker in workers if worker.identity.host == here)
            self._deaths.watch(islice(near, MOST_WATCHED))
        return workers

    def _rest(self) -> bool:
        """Wait for the next sweep's time, for a death on this machine, or to be stopped; True."""
        left = self.interval
        while left > 0 and not self._is_over():
            pause = min(left, LOOK_EVERY)
            left -= pause
            if self._deaths is None:
                self._stop.wait(pause)
            else:
                self._deaths.wait(pause)
            if left > 0 and not self._stop.is_set() and self._notices_death():
                break
        return True

    def _notices_death(self) -> bool:
        """Whether the kernel knows of a death that no sweep has seen yet.

        A process that left before it exited is no worker any more, and nothing is to be done.
        """
        dead = self._outlive("look at the workers", self._dead_by_kernel)
        if dead is None:  # the next sweep meets the same trouble
            return False
        unseen, self._mourned = dead - self._mourned, dead
        return bool(unseen)

    def _dead_by_kernel(self) -> frozenset[str]:
        if self._reached is None:
            return frozenset()
        workers = self._look(self._reached)
        evidence = replace(self._reached, watch=self._watch).evidence(workers)
        self._alive.saw(evidence, self._reached.clock.monotonic())
        return frozenset(
            id for id, proof in evidence.items() if proof.verdict is Verdict.DEAD and proof.kernel
        )

    def _observe(self, estate: Estate) -> tuple[tuple[Observed, ...], tuple[str, ...]]:
        """Look at every home; one that can not be read does not keep the others waiting."""
        seen, troubles = [], list(estate.unreachable)
        for words in frozenset(troubles) - self._unreachable:
            log.warning("home not observed: %s", words)
        self._unreachable = frozenset(troubles)
        for name, record in estate.records.items():
            what = f"look at the home {name}"
            found = self._outlive(what, partial(observe_home, estate, estate.homes[name], record))
            if found is None:
                troubles.append(f"{name}: {self._failing.get(what, 'no memory')}")
            else:
                seen.append(found)
        return tuple(seen), tuple(troubles)

    def _outlive(self, what: str, work: Callable[[], T]) -> T | None:
        """What comes of the work, or None if it failed, which is told and tried again."""
        try:
            done = work()
        except Exception as trouble:  # noqa: BLE001  # whatever it meets, the keeper goes on
            self._troubles(what, f"{what} failed", trouble)
            with suppress(Exception):  # no memory for its words
                self._failing[what] = str(trouble)
            return None
        self._failing.pop(what, None)
        return done
