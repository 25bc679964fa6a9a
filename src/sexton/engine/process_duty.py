"""What does a keeper do about the background processes of sessions?

It judges those of its own machine, so that every view says the same, and sees to those whose
session has ended: they are told of, stopped or kept, as the policies say.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Protocol

from sexton.engine.estate import Estate, rules_now
from sexton.engine.process_stops import Due, entry, session_of, since_end, stop_due
from sexton.model.plan import Reason
from sexton.model.process import Doing, Look, Presence, Process
from sexton.model.session import Session
from sexton.policies.handling import OVER, Handling, Occasion, occasion_of
from sexton.policies.notifying import Occasion as News
from sexton.policies.notifying import process_left, process_stopping
from sexton.policies.processes import AWAITED, Judgement
from sexton.policies.reset import next_boundary
from sexton.ports.processes import Told

log = logging.getLogger("sexton.processes")

Seen = Mapping[int, Judgement]
"""What processes of this machine that are there were seen doing, by row."""

_OVER = {
    Doing.DEAD: "it exited",
    Doing.FOREIGN: "it exited, and its pid was used again",
}


class Teller(Protocol):
    """Whoever tells people things."""

    def tell(self, occasions: Iterable[News]) -> None: ...


def watch_processes(estate: Estate) -> Seen:
    """Judge every process of this machine and record what became of it; those that are there."""
    registry, now = estate.overseer.registry, estate.clock.now()
    running = registry.running()
    found = estate.overseer.patrol(running)
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


def settle_processes(
    estate: Estate,
    seen: Seen,
    teller: Teller | None,
    is_stopping: Callable[[], bool] = lambda: False,
) -> None:
    """See to the processes of sessions that have ended, and tell of what will be stopped.

    A keeper that is stopping itself leaves the rest to the next one: a stop takes its time.
    """
    policy = estate.overseer.policy
    due = []
    for each in estate.overseer.registry.running():
        if each.ref not in seen or seen[each.ref].doing in OVER or not _is_to_be_seen_to(each):
            continue
        if each.is_orphan:
            occasion = occasion_of(each.end_reason)
            if _is_due(estate, each, occasion, seen[each.ref], teller):
                due.append((each, occasion))
        elif policy.on_daily_reset is Handling.STOP:
            _announce(estate, each, teller)
    if not is_stopping():
        _stop(estate, due, teller)


def handle_processes(estate: Estate, session: Session, occasion: Occasion) -> None:
    """Stop the processes of one session at once, if the policies say so for the occasion.

    Whatever else becomes of them, and what could not be stopped, is for a keeper to tell.
    """
    if estate.overseer.policy.handling(occasion) is Handling.STOP:
        running = estate.overseer.registry.of_session(session.ref)
        found = estate.overseer.judged(running)
        there = (each for each in running if found[each.ref].doing not in (*OVER, Doing.UNKNOWN))
        stop_due(estate, [(each, occasion) for each in there if _is_to_be_seen_to(each)])


def _is_to_be_seen_to(process: Process) -> bool:
    """One that is about to be started is waited for: to end its row would lose it."""
    return not process.kept and process.identity.pid != 0


def _is_due(
    estate: Estate,
    process: Process,
    occasion: Occasion,
    found: Judgement,
    teller: Teller | None,
) -> bool:
    """Whether a process is to be stopped now; people are told of what else becomes of it."""
    policy, now = estate.overseer.policy, estate.clock.now()
    match policy.handling(occasion):
        case Handling.KEEP:
            return False
        case Handling.WARN:
            words = f"its session ended: {process.end_reason or occasion}; it is {found.doing}"
            reason, what = Reason(found.doing, words), since_end(process, f"left {occasion}")
            news = process_left(process, reason, now, what)
            _tell(estate, process, "leave_process", (what, news), teller)
            return False
        case Handling.STOP if occasion is Occasion.DAILY:
            boundary = _boundary(estate, process)
            told = _tell_of_stop(estate, process, boundary, now + policy.notice, teller)
            return told is not None and not told.is_news and now >= told.at + policy.notice
        case Handling.STOP:
            return True


def _announce(estate: Estate, process: Process, teller: Teller | None) -> None:
    """Tell of a process that the next daily reset will stop, once that is near."""
    boundary = _boundary(estate, process)
    if boundary and estate.clock.now() >= boundary - estate.overseer.policy.notice:
        _tell_of_stop(estate, process, boundary, boundary, teller)


def _boundary(estate: Estate, process: Process) -> datetime | None:
    """The daily boundary at which its session is or was over; None if there is none for it."""
    found = estate.ledger.index.find(process.home, process.session)
    policy = rules_now(estate).reset_policy(found[0]) if found else None
    if policy is None or not policy.is_daily:
        return None
    return next_boundary(found[0].active_at, policy)


def _tell_of_stop(
    estate: Estate,
    process: Process,
    boundary: datetime | None,
    at: datetime,
    teller: Teller | None,
) -> Told | None:
    """Say that a daily reset stops it: each boundary is a reset of its own, and told of anew."""
    words = f"the daily reset stops what a session left running ({process.kind})"
    what = f"stop {boundary:%Y-%m-%dT%H:%MZ}" if boundary else since_end(process, "stop")
    news = process_stopping(process, Reason("daily", words), at, what)
    return _tell(estate, process, "announce_stop", (what, news), teller)


def _tell(
    estate: Estate, process: Process, action: str, said: tuple[str, News], teller: Teller | None
) -> Told | None:
    """Say each thing once, whoever says it: in the journal, in the log, and to people."""
    what, news = said
    line = entry(estate, process, action, "done", Reason("process", news.words))
    told = estate.overseer.registry.tell(process.ref, what, estate.clock.now(), line)
    if told is not None and told.is_news:
        log.warning("%s %s: %s", session_of(process), news.words, process.shown)
        if teller is not None:
            teller.tell([news])
    return told


def _stop(estate: Estate, due: Due, teller: Teller | None) -> None:
    for process, words, why in stop_due(estate, due):
        reason, what = (
            Reason("refused", f"it could not be stopped: {words}"),
            since_end(process, why),
        )
        news = process_left(process, reason, estate.clock.now(), what)
        _tell(estate, process, "leave_process", (what, news), teller)
