"""Can so many have died at once, or is it the observer who is wrong?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sexton.model.plan import Reason
from sexton.policies.liveness import LivenessPolicy
from sexton.policies.silence import Look

SHARE = 0.2
"""More than this part of all workers dead at once without proof is doubted."""

DRIFT = 60.0
"""Seconds by which wall and boot clock may move apart between two looks."""

_CALM = Reason("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Deaths that are not believed yet, each since when of the running time, and why."""

    since: Mapping[str, float] = field(default_factory=dict)
    reason: Reason = field(default=_CALM)
    drift: float | None = None

    @property
    def doubted(self) -> frozenset[str]:
        """The workers whose death is not believed yet."""
        return frozenset(self.since)


def doubt(
    before: Doubt, unproven: frozenset[str], workers: int, look: Look, policy: LivenessPolicy
) -> Doubt:
    """Which of the deaths without kernel proof are doubted now.

    Each is held for three TTLs of the observer's running time, and believed after that; but once
    one of them returns, all are doubted anew.
    """
    reason = _why(before, unproven, workers, look)
    if not unproven or reason is None:
        return Doubt(drift=look.drift)
    known = before.since if before.doubted <= unproven else {}
    since = {worker: known.get(worker, look.running) for worker in unproven}
    hold = 3 * policy.ttl.total_seconds()
    held = {worker: then for worker, then in since.items() if look.running - then < hold}
    return Doubt(since=held, reason=reason, drift=look.drift)


def _why(before: Doubt, unproven: frozenset[str], workers: int, look: Look) -> Reason | None:
    if before.drift is not None and abs(look.drift - before.drift) > DRIFT:
        return Reason("clock_jumped", "the wall clock jumped against the machine's own")
    if len(unproven) > SHARE * workers:
        return Reason(
            "mass_death", f"{len(unproven)} of {workers} workers fell silent at once without proof"
        )
    return before.reason if before.doubted else None
