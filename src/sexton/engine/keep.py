"""How are sessions kept well for as long as the machine runs?"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice

from sexton.engine.apply import apply, new_receipt
from sexton.engine.deaths import bury
from sexton.engine.estate import Estate
from sexton.engine.observe import Observed, observe_home
from sexton.engine.plan import reschedule_stale, survey
from sexton.engine.standing import samples
from sexton.errors import SextonError
from sexton.model.evidence import Verdict
from sexton.model.message import one_line
from sexton.model.plan import Held, Outcome, Result
from sexton.model.worker import Worker
from sexton.policies.mass_death import Doubt
from sexton.policies.silence import Watch, listen
from sexton.ports import DeathWatch

LOOK_EVERY = 5.0
"""Seconds between looks at the beats of others, and at who is new on this host."""
LONGEST_GAP = 3
"""A gap of more than so many looks in our own attention voids what we had heard."""

MOST_WATCHED = 256
"""Each watched process takes a descriptor; the death of any other is found at the next look."""
SAMPLE_EVERY = timedelta(minutes=10)
"""All keepers of a ledger together store at most one sample per home in this time."""

log = logging.getLogger("sexton.keeper")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What one sweep saw and did; `receipt` names it in the journal if it did anything."""

    receipt: str
    observed: tuple[Observed, ...]
    outcomes: tuple[Outcome, ...]
    held: tuple[Held, ...]
    troubles: tuple[str, ...]
    finished: bool


class Keeper:
    """Observe, plan, apply, again and again; any number of keepers may work on one ledger."""

    def __init__(
        self,
        estate: Callable[[], Estate],
        worker: str,
        interval: float,
        deaths: DeathWatch | None = None,
    ) -> None:
        self._estate = estate  # asked anew for each sweep: homes come and go
        self._worker = worker
        self.interval = interval
        self._deaths = deaths
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._watch = Watch()
        self._doubt = Doubt()
        self._reached: Estate | None = None
        self._mourned: frozenset[str] = frozenset()
        self._told: frozenset[str] = frozenset()
        self._astray: frozenset[str] = frozenset()

    def stop(self) -> None:
        """Finish the current action, then stop."""
        with self._lock:
            if self._stop.is_set():
                return  # the watch may be closed by now, and its descriptor somebody else's
            self._stop.set()
            if self._deaths is not None:
                self._deaths.wake()

    def close(self) -> None:
        """Let go of what was watched, once `run` has returned or was never called."""
        self.stop()
        deaths, self._deaths = self._deaths, None
        if deaths is not None:
            deaths.close()

    def run(self, on_sweep: Callable[[Sweep], object] | None = None) -> None:
        """Sweep until stopped, at once when a worker on this machine dies.

        A sweep that fails is told once and tried again.
        """
        last_trouble = ""
        while not self._stop.is_set():
            try:
                swept = self.sweep()
                if on_sweep is not None:
                    on_sweep(swept)
                last_trouble = ""
            except Exception as trouble:  # the loop outlives whatever a sweep meets
                if str(trouble) != last_trouble:
                    last_trouble = str(trouble)
                    expected = isinstance(trouble, SextonError)
                    log.error("sweep failed: %s", trouble, exc_info=not expected)
            self._rest()

    def sweep(self) -> Sweep:
        """One round over everything this keeper can reach."""
        estate = self._attentive(self._estate())
        observed, troubles = self._observe(estate)
        reschedule_stale(estate)
        found = survey(estate)
        self._mourned = frozenset(worker.id for worker, _ in found.deaths.dead)
        receipt = new_receipt()
        outcomes = []
        for outcome in apply(estate, found.plan, receipt):
            outcomes.append(outcome)
            _tell(outcome)
            if self._stop.is_set():
                break
        estate.ledger.index.reschedule(found.settled)
        bury(estate, found.deaths)
        self._doubt = found.deaths.doubt
        every = timedelta(seconds=self.interval)
        estate.ledger.workers.swept(self._worker, estate.clock.now(), every)
        if not self._stop.is_set():
            _take_samples(replace(estate, doubt=self._doubt))
        return Sweep(
            receipt=receipt,
            observed=observed,
            outcomes=tuple(outcomes),
            held=found.plan.held,
            troubles=troubles,
            finished=len(outcomes) == len(found.plan.actions),
        )

    def _attentive(self, estate: Estate) -> Estate:
        """The estate with what this keeper has heard of every worker so far."""
        self._look(estate)
        self._reached = replace(estate, watch=self._watch, doubt=self._doubt)
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

    def _rest(self) -> None:
        """Wait for the next sweep's time, for a death on this machine, or to be stopped."""
        left = self.interval
        while left > 0 and not self._stop.is_set():
            pause = min(left, LOOK_EVERY)
            left -= pause
            if self._deaths is None:
                self._stop.wait(pause)
            else:
                self._deaths.wait(pause)
            if left > 0 and not self._stop.is_set() and self._notices_death():
                return

    def _notices_death(self) -> bool:
        """Whether the kernel knows of a death that no sweep has seen yet.

        A process that left before it exited is no worker any more, and nothing is to be done.
        """
        if self._reached is None:
            return False
        try:
            workers = self._look(self._reached)
            evidence = replace(self._reached, watch=self._watch).evidence(workers)
        except Exception:  # the next sweep meets the same trouble, and tells it
            log.debug("the workers can not be looked at", exc_info=True)
            return False
        dead = frozenset(
            id for id, proof in evidence.items() if proof.verdict is Verdict.DEAD and proof.kernel
        )
        unseen = dead - self._mourned
        self._mourned |= dead
        return bool(unseen)

    def _observe(self, estate: Estate) -> tuple[tuple[Observed, ...], tuple[str, ...]]:
        """Look at every home; one that can not be read does not keep the others waiting."""
        seen, troubles = [], list(estate.unreachable)
        for name, record in estate.records.items():
            try:
                seen.append(observe_home(estate, estate.homes[name], record))
            except Exception as trouble:  # a home that breaks us must not cost the others
                if not isinstance(trouble, SextonError) and name not in self._astray:
                    self._astray |= {name}
                    log.exception("home %s can not be observed", name)
                troubles.append(f"{name}: {trouble}")
        for words in frozenset(troubles) - self._told:
            log.warning("home not observed: %s", words)
        self._told = frozenset(troubles)
        return tuple(seen), tuple(troubles)


def _take_samples(estate: Estate) -> None:
    """Store how the open sessions stand, unless that was done for a home just now."""
    now, ledger = estate.clock.now(), estate.ledger
    recent = {
        sample.home
        for sample in ledger.samples.since(now - SAMPLE_EVERY)
        if now - SAMPLE_EVERY < sample.at <= now
    }
    lacking = [home for home in ledger.homes.all() if home.name not in recent]
    if lacking:
        ledger.samples.store(samples(estate, lacking), now)


def _tell(outcome: Outcome) -> None:
    seen = outcome.action.seen
    level = logging.DEBUG if outcome.result is Result.SKIPPED else logging.INFO
    name = one_line(f"{seen.home}/{seen.id}")
    log.log(level, "%s %s: %s (%s)", outcome.action.kind, name, outcome.result, outcome.detail)
