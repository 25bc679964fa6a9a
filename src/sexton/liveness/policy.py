"""Is the holder of a session alive?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sexton.core.plan import Reason
from sexton.core.record import record
from sexton.core.session import Session
from sexton.core.setting import setting
from sexton.liveness.evidence import Evidence, Sight, Verdict
from sexton.liveness.missed_heartbeats import Watch
from sexton.liveness.model import Holder, Worker

HOME = ""
"""Whose evidence is the home's own, in place of a worker's id."""

SILENT = "reaped:inactive"
"""The reason of what was ended for its silence alone, by a bound that the operator has set."""

SUSPECT = "reaped:suspect"
"""The reason of what a person ended although nothing proved that nobody has it."""

UNATTENDED = ("cron", "subagent", "batch")
"""Sources whose messages no person writes."""


@record
class LivenessPolicy:
    """How life is proved, how long silence is waited for, and what ends with its owner.

    `inactivity_bound` is for sessions of which nothing at all is known, by source.
    """

    dies_with_owner: tuple[str, ...] = setting(
        default=("cli", "cron", "subagent", "batch"),
        about="The sources whose sessions end when their last process leaves, because nobody can "
        "come back to them. All other sessions wait for the next message.",
        change="Add the sources that no person answers, such as your own batch jobs.",
    )
    beat_every: timedelta = setting(
        default=timedelta(seconds=15),
        about="How often a process shows that it lives. Each heartbeat updates one row, whatever "
        "the number of its sessions.",
        change="Raise it where hundreds of processes share a small database, and raise `ttl` with "
        "it.",
    )
    ttl: timedelta = setting(
        default=timedelta(seconds=90),
        about="How long a process on another machine may miss its heartbeats before it is "
        "suspected. Six heartbeats by default, so that a slow network reaps nobody; on the same "
        "machine the kernel answers instead. After half of it without a heartbeat, a process "
        "asks the ledger before it writes. It must be at least twice `beat_every`.",
        change="Raise it on networks that are often away for minutes; lower it to notice a lost "
        "machine sooner.",
    )
    lock_delay: timedelta = setting(
        default=timedelta(seconds=15),
        about="How long after the TTL the keeper still waits before it counts missed heartbeats "
        "as a death. A process that has just woken up needs this time to notice and to stop "
        "writing.",
        change="Raise it where machines sleep or are migrated while they run.",
    )
    stall_after: timedelta = setting(
        default=timedelta(minutes=10),
        about="How long a turn of a live process may make no progress before it is shown as "
        "stalled. Tools and models usually answer within ten minutes. Nothing ends for it.",
        change="Raise it for tools that compute for hours.",
    )
    inactivity_bound: tuple[tuple[str, timedelta], ...] = setting(
        default=(),
        otherwise="none",
        about="By source, the idle time after which a session counts as dead although nothing is "
        "known of its owner. No source has one by default, because idle time alone proves "
        "nothing.",
        change="Set it for sources of foreign homes whose owners Sexton cannot observe.",
    )

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
    Sight.REBOOTED: "before the machine was started again, or on another of that name",
}
_THEN = ": "
"""Between the code of a kept proof, which has none, and its signals."""
_WEAKEST_FIRST = ("lease_expired", "host_rebooted", "process_gone")


def judge(worker: Worker, sight: Sight, policy: LivenessPolicy, watch: Watch) -> Evidence:
    """What is known about a worker: the kernel's word first, its beat only where there is none."""
    who = f"pid {worker.identity.pid} on {worker.identity.host}"
    if worker.dead_at is not None:
        kind, _, why = (worker.evidence or f"process_gone{_THEN}declared dead").partition(_THEN)
        return Evidence(verdict=Verdict.DEAD, code=kind, kernel=True, signals=(why,))
    if sight in _PROOFS and not (sight is Sight.REBOOTED and _may_be_a_twin(worker, policy, watch)):
        verdict, code, words = _PROOFS[sight]
        return Evidence(verdict=verdict, code=code, kernel=True, signals=(f"{who}: {words}",))
    return _by_beat(worker, f"{who}: {_FAR[sight]}", policy, watch)


def kept_proof(proof: Evidence) -> str:
    """A proof of death as the ledger keeps it beside the worker: its code, then its signals."""
    return f"{proof.code}{_THEN}{'; '.join(proof.signals)}"


def _may_be_a_twin(worker: Worker, policy: LivenessPolicy, watch: Watch) -> bool:
    """Whether it may live on a copy of this machine, which has the same name but another boot.

    A twin that lives is heard, or has stopped writing by itself after half a TTL. Whoever keeps
    no watch at all takes the name for what it says.
    """
    if watch.last is None:
        return False
    silence = watch.silence(worker.id, worker.beat)
    return watch.has_moved(worker.id, worker.beat) or silence < policy.ttl.total_seconds() / 2


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


def running_turn(session: Session, evidence: Mapping[str, Evidence]) -> Holder | None:
    """The holder in whose turn the session is, one that is not proved dead; or None."""
    for holder in session.holders:
        if holder.busy_since and evidence[holder.worker.id].verdict is not Verdict.DEAD:
            return holder
    return None


def is_busy(session: Session, evidence: Mapping[str, Evidence]) -> bool:
    """Whether a turn runs in the session."""
    return running_turn(session, evidence) is not None


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

    With holders only their death counts, else what its home proves. Where that is nothing, only a
    bound that the operator has set for its source counts.
    """
    if session.holders:
        proofs = [evidence[holder.worker.id] for holder in session.holders]
        return death_reason(session.source, proofs, policy)
    proof = evidence.get(HOME)
    if proof is not None and proof.verdict is not Verdict.UNKNOWN:
        return orphan_reason(proof)
    bound, silence = policy.bound(session.source), now - session.rests_since
    if bound is not None and silence >= bound:
        days = silence.total_seconds() / 86400
        return Reason(SILENT, f"nothing is known of its owner, silent for {days:.1f} days")
    return None


def orphan_reason(proof: Evidence, *, attended: bool = False) -> Reason | None:
    """Why a session is dead by what its home proves, or None.

    What is only suspect is so for a person who looks at it, never by itself.
    """
    words = "; ".join(proof.signals)
    if proof.verdict is Verdict.DEAD:
        return Reason(f"reaped:{proof.code}", words)
    if proof.verdict is Verdict.SUSPECT and attended:
        return Reason(SUSPECT, f"nobody shows that it is in use, but {words}")
    return None


def death_reason(source: str, proofs: Sequence[Evidence], policy: LivenessPolicy) -> Reason | None:
    """Why all sessions of a source with these holders are dead, or None.

    Only what dies with its owner is. The death is as certain as the weakest proof, which gives
    the reason its code; the text states them all.
    """
    dead = all(proof.verdict is Verdict.DEAD for proof in proofs)
    if not dead or source not in policy.dies_with_owner:
        return None
    weakest_first = sorted(proofs, key=_strength)
    stated = dict.fromkeys(signal for proof in weakest_first for signal in proof.signals)
    return Reason(f"reaped:{weakest_first[0].code}", "; ".join(stated))


def _strength(proof: Evidence) -> int:
    return _WEAKEST_FIRST.index(proof.code) if proof.code in _WEAKEST_FIRST else -1
