"""What became of the background processes of sessions?

A keeper judges those of its own machine, so that every view says the same.
"""

from __future__ import annotations

from sexton.keeper.keeper_context import Estate
from sexton.processes.after_session import Seen
from sexton.processes.model import Doing, Look, Presence, Process
from sexton.processes.policy import AWAITED, Judgement

_OVER = {
    Doing.DEAD: "it exited",
    Doing.FOREIGN: "it exited, and its pid was used again",
}


def watch_processes(estate: Estate) -> Seen:
    """Judge every process of this machine and record what became of it; those that are there."""
    registry, now = estate.overseer.registry, estate.clock.now()
    running = registry.running()
    found = estate.overseer.patrol([*running, *estate.named(running)])
    seen: dict[int, Judgement] = {}
    for each in running:
        judgement, look = found[each.ref]
        if look.presence is Presence.HIDDEN:
            continue
        if each.identity.pid == 0:
            _await(estate, each, look)
        elif judgement.doing in _OVER:
            registry.end(each.ref, _how(estate, each, judgement), now)
            continue
        seen[each.ref] = judgement
    registry.judge([(ref, each.doing, each.figures) for ref, each in seen.items()], now)
    registry.forget(now)  # not before the look: who was away for a month has seen nobody
    return seen


def _how(estate: Estate, process: Process, judgement: Judgement) -> str:
    if process.identity.boot_id != estate.processes.myself().boot_id:
        return "the machine was started again"
    return _OVER[judgement.doing]


def _await(estate: Estate, process: Process, look: Look) -> None:
    """One whose starter did not live to say which it is: the oldest that carries its tag."""
    registry, now = estate.overseer.registry, estate.clock.now()
    if look.members:
        first = min(look.members, key=lambda each: (each.started, each.pid))
        described = estate.overseer.describe(first.pid)
        if described is not None and described.identity.started == first.started:
            registry.identify(process, described.identity, now)
    elif now - process.started_at > AWAITED:
        registry.end(process.ref, "it never came to be", now)
