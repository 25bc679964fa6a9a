"""Is the holder of a session alive?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sexton.model.evidence import Evidence, Sight, Verdict
from sexton.model.plan import Reason
from sexton.model.session import Session
from sexton.model.worker import Holder, Worker
from sexton.policies.silence import Watch

UNATTENDED = ("cron", "subagent", "batch")
"""Sources whose messages no person writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LivenessPolicy:
    """How life is proved, how long silence is waited for, and what ends with its owner.

    `inactivity_bound` is for sessions of which nothing at all is known, by source.
    """

    dies_with_owner: tuple[str, ...] = ("cli", "cron", "subagent", "batch")
    beat_every: timedelta = timedelta(seconds=15)
    ttl: timedelta = timedelta(seconds=90)
    lock_delay: timedelta = timedelta(seconds=15)
    stall_after: timedelta = timedelta(minutes=10)
    inactivity_bound: tuple[tuple[str, timedelta], ...] = ()

    def bound(self, source: str) -> timedelta | None:
        """After how much silence a session of the source counts as dead without any evidence."""
        return dict(self.inactivity_bound).get(source)


_PROOFS: Mapping[Sight, tuple[Verdict, str | None, str]] = {
    Sight.PRESENT: (Verdict.LIVE, None, "its process runs on this host"),
    Sight.ZOMBIE: (
        Verdict.DEAD,
        "process_gone",
        "its process has exited and waits to be collected",
    ),
    Sight.GONE: (Verdict.DEAD, "process_gone", "no process has its pid"),
    Sight.REUSED: (Verdict.DEAD, "process_gone", "its pid belongs to another process now"),
    Sight.REBOOTED: (Verdict.DEAD, "host_rebooted", "the machine has been started again since"),
}
_FAR: Mapping[Sight, str] = {
    Sight.ELSEWHERE: "on another host or in another pid namespace",
    Sight.HIDDEN: "its process can not be read from here",
}


def judge(worker: Worker, sight: Sight, policy: LivenessPolicy, watch: Watch) -> Evidence:
    """What is known about a worker: the kernel's word first, its beat only where there is none."""
    who = f"pid {worker.identity.pid} on {worker.identity.host}"
    if worker.dead_at is not None:
        kind, _, why = (worker.evidence or "process_gone: declared dead").partition(": ")
        return Evidence(verdict=Verdict.DEAD, code=kind, kernel=True, signals=(why,))
    moves = watch.has_moved(worker.id, worker.beat)
    # A machine with the same name whose worker still beats is another machine.
    if sight in _PROOFS and not (sight is Sight.REBOOTED and moves):
        verdict, code, words = _PROOFS[sight]
        return Evidence(verdict=verdict, code=code, kernel=True, signals=(f"{who}: {words}",))
    return _by_beat(
        worker, f"{who}: {_FAR.get(sight, 'another machine of that name')}", policy, watch
    )


def _by_beat(worker: Worker, who: str, policy: LivenessPolicy, watch: Watch) -> Evidence:
    silence = timedelta(seconds=watch.silence(worker.id, worker.beat))
    words = f"{who}; no beat seen for {int(silence.total_seconds())} s"
    if silence >= policy.ttl + policy.lock_delay:
        return Evidence(verdict=Verdict.DEAD, code="lease_expired", signals=(words,))
    if silence >= policy.ttl / 2:
        return Evidence(verdict=Verdict.SUSPECT, signals=(words,))
    if watch.has_moved(worker.id, worker.beat):
        return Evidence(verdict=Verdict.LIVE, signals=(f"{who}; it beats",))
    return Evidence(verdict=Verdict.UNKNOWN, signals=(f"{who}; not watched for long enough",))


def dead_holders(session: Session, evidence: Mapping[str, Evidence]) -> tuple[str, ...]:
    """The ids of its holders that are proved dead."""
    return tuple(
        holder.worker.id
        for holder in session.holders
        if evidence[holder.worker.id].verdict is Verdict.DEAD
    )


def is_busy(session: Session, evidence: Mapping[str, Evidence]) -> bool:
    """Whether a turn runs in the session: one whose holder is not proved dead."""
    return any(
        holder.busy_since is not None and evidence[holder.worker.id].verdict is not Verdict.DEAD
        for holder in session.holders
    )


def stalled_for(
    session: Session, holder: Holder, policy: LivenessPolicy, now: datetime
) -> timedelta | None:
    """For how long a running turn has made no progress, if that is long; it is not dead for it."""
    if holder.busy_since is None:
        return None
    last = max(holder.busy_since, session.active_at, holder.progress_at or holder.busy_since)
    return now - last if now - last >= policy.stall_after else None


def reap_reason(
    session: Session, evidence: Mapping[str, Evidence], policy: LivenessPolicy, now: datetime
) -> Reason | None:
    """Why a session is dead and is to be ended, or None.

    With holders only their death counts, and only where the session dies with its owner.
    Without any, nothing is known: only a bound that the operator has set for its source counts.
    """
    if session.holders:
        if len(dead_holders(session, evidence)) < len(session.holders):
            return None
        if session.source not in policy.dies_with_owner:
            return None
        proofs = [evidence[holder.worker.id] for holder in session.holders]
        last = next((proof for proof in proofs if not proof.kernel), proofs[0])
        return Reason(f"reaped:{last.code}", "; ".join(last.signals))
    bound = policy.bound(session.source)
    if bound is not None and now - session.active_at >= bound:
        days = (now - session.active_at).total_seconds() / 86400
        return Reason(
            "reaped:inactive", f"nothing is known of its owner, silent for {days:.1f} days"
        )
    return None
