"""Is the holder of a session alive?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sexton.model.evidence import Evidence, Sight, Verdict
from sexton.model.session import Session

UNATTENDED = ("cron", "subagent", "batch")
"""Sources whose messages no person writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LivenessPolicy:
    """Which sessions end when their last holder leaves; all others wait for the next opener."""

    dies_with_owner: tuple[str, ...] = ("cli", "cron", "subagent", "batch")


_WORDS: Mapping[Sight, tuple[Verdict, str]] = {
    Sight.PRESENT: (Verdict.LIVE, "its process runs on this host"),
    Sight.ZOMBIE: (Verdict.DEAD, "its process has exited and waits to be collected"),
    Sight.GONE: (Verdict.DEAD, "no process has its pid"),
    Sight.REUSED: (Verdict.DEAD, "its pid belongs to another process now"),
    Sight.REBOOTED: (Verdict.DEAD, "the machine has been started again since"),
    Sight.ELSEWHERE: (Verdict.UNKNOWN, "it runs on another host or in another pid namespace"),
    Sight.HIDDEN: (Verdict.UNKNOWN, "its process can not be read from here"),
}


def judge(pid: int, host: str, sight: Sight) -> Evidence:
    """What seeing a worker's process like that proves."""
    verdict, words = _WORDS[sight]
    return Evidence(verdict=verdict, signals=(f"pid {pid} on {host}: {words}",))


def dead_holders(session: Session, sights: Mapping[str, Sight]) -> tuple[str, ...] | None:
    """The ids of its holders if all of them are dead, else None; nobody's session gives ()."""
    for holder in session.holders:
        worker = holder.worker
        evidence = judge(worker.identity.pid, worker.identity.host, sights[worker.id])
        if evidence.verdict is not Verdict.DEAD:
            return None
    return tuple(holder.worker.id for holder in session.holders)


def is_busy(session: Session, sights: Mapping[str, Sight]) -> bool:
    """Whether a turn runs in the session: one whose holder is not proved dead."""
    return any(
        holder.busy_since is not None and _WORDS[sights[holder.worker.id]][0] is not Verdict.DEAD
        for holder in session.holders
    )
