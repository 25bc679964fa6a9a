"""How are sessions kept well for as long as the machine runs?"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from sexton.engine.apply import apply, new_receipt
from sexton.engine.estate import Estate
from sexton.engine.observe import Observed, observe_home
from sexton.engine.plan import reschedule_stale, survey
from sexton.errors import SextonError
from sexton.model.message import one_line
from sexton.model.plan import Held, Outcome, Result

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

    def __init__(self, estate: Callable[[], Estate], worker: str, interval: float) -> None:
        self._estate = estate  # asked anew for each sweep: homes come and go
        self._worker = worker
        self.interval = interval
        self._stop = threading.Event()
        self._told: frozenset[str] = frozenset()
        self._astray: frozenset[str] = frozenset()

    def stop(self) -> None:
        """Finish the current action, then stop."""
        self._stop.set()

    def run(self, on_sweep: Callable[[Sweep], object] | None = None) -> None:
        """Sweep until stopped. A sweep that fails is told once and tried again."""
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
            self._stop.wait(self.interval)

    def sweep(self) -> Sweep:
        """One round over everything this keeper can reach."""
        estate = self._estate()
        observed, troubles = self._observe(estate)
        reschedule_stale(estate)
        found = survey(estate)
        receipt = new_receipt()
        outcomes = []
        for outcome in apply(estate, found.plan, receipt):
            outcomes.append(outcome)
            _tell(outcome)
            if self._stop.is_set():
                break
        estate.ledger.index.reschedule(found.settled)
        every = timedelta(seconds=self.interval)
        estate.ledger.workers.swept(self._worker, estate.clock.now(), every)
        return Sweep(
            receipt=receipt,
            observed=observed,
            outcomes=tuple(outcomes),
            held=found.plan.held,
            troubles=troubles,
            finished=len(outcomes) == len(found.plan.actions),
        )

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


def _tell(outcome: Outcome) -> None:
    seen = outcome.action.seen
    level = logging.DEBUG if outcome.result is Result.SKIPPED else logging.INFO
    name = one_line(f"{seen.home}/{seen.id}")
    log.log(level, "%s %s: %s (%s)", outcome.action.kind, name, outcome.result, outcome.detail)
