"""How long after a death was a session ended?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sexton.core.plan import Outcome, ReapSession, Result
from sexton.liveness.evidence import Evidence, Verdict


class LastAlive:
    """When each worker was last seen not to be dead, on the observer's own clock."""

    def __init__(self) -> None:
        self._at: dict[str, float] = {}

    def saw(self, evidence: Mapping[str, Evidence], now: float) -> None:
        """Remember a look; whoever is not in it any more is forgotten."""
        alive = {id: now for id, proof in evidence.items() if proof.verdict is not Verdict.DEAD}
        self._at = {id: at for id, at in self._at.items() if id in evidence} | alive

    def latencies(self, outcomes: Iterable[Outcome], now: float) -> tuple[float, ...]:
        """For each session that was reaped, how many seconds ago its last holder was seen alive.

        Of one whose holders had died before anybody looked, nothing is known.
        """
        reaps = (
            each.action
            for each in outcomes
            if each.result is Result.DONE and isinstance(each.action, ReapSession)
        )
        seen = ([self._at[id] for id, _ in reap.dead if id in self._at] for reap in reaps)
        return tuple(now - max(times) for times in seen if times)
