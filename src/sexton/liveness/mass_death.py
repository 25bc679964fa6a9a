"""Can so many have died at once, or is it the observer who is wrong?"""

from __future__ import annotations

from collections.abc import Mapping

from sexton.core.plan import Reason
from sexton.core.record import made, record
from sexton.liveness.missed_heartbeats import Look
from sexton.liveness.policy import LivenessPolicy

SHARE = 0.2
"""More than this part of the sessions that are held, lost at once without proof, is doubted."""

DRIFT = 60.0
"""Seconds by which wall and boot clock may move apart between two looks."""

_CALM = Reason("", "")


@record
class Doubt:
    """Deaths that are not believed yet, each since when of the running time, and why."""

    since: Mapping[str, float] = made(dict)
    reason: Reason = _CALM
    drift: float | None = None

    @property
    def doubted(self) -> frozenset[str]:
        """The workers whose death is not believed yet."""
        return frozenset(self.since)


def doubt(
    before: Doubt,
    unproven: frozenset[str],
    held: int,
    look: Look,
    policy: LivenessPolicy,
    lost: int | None = None,
) -> Doubt:
    """Which of the deaths without kernel proof are doubted now.

    `lost` are the sessions that would end or be without a holder by them, of all that are `held`;
    one for each if it is not told. Each death is held back for three TTLs of the observer's running
    time, and believed after that; but once one of the dead returns, all are doubted anew.
    """
    reason = _why(before, len(unproven) if lost is None else lost, held, look)
    if not unproven or reason is None:
        return Doubt(drift=look.drift)
    known = before.since if before.doubted <= unproven else {}
    since = {worker: known.get(worker, look.running) for worker in unproven}
    hold = 3 * policy.ttl.total_seconds()
    kept = {worker: then for worker, then in since.items() if look.running - then < hold}
    return Doubt(since=kept, reason=reason, drift=look.drift)


def _why(before: Doubt, lost: int, held: int, look: Look) -> Reason | None:
    if before.drift is not None and abs(look.drift - before.drift) > DRIFT:
        return Reason("clock_jumped", "the wall clock jumped against the machine's own")
    if lost > SHARE * held:
        return Reason("mass_death", f"{lost} of {held} held sessions were lost to silence at once")
    return before.reason if before.doubted else None
