"""What becomes of the background processes of sessions that have ended?

They are told of, stopped or kept, as the policies say; people hear of a stop by a daily reset
before it comes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from sexton.core.endings import EndKind, end_kind
from sexton.core.message import one_line
from sexton.core.plan import Reason
from sexton.core.record import replace
from sexton.core.session import Session
from sexton.keeper.keeper_context import Estate, Rules, rules_now
from sexton.notifications.policy import (
    ANNOUNCE_STOP,
    HINT,
    LEAVE_PROCESS,
    process_left,
    process_stopping,
)
from sexton.processes.handling import Handling, Occasion, occasion_of
from sexton.processes.model import Doing, Process, Told
from sexton.processes.policy import OVER, Judgement
from sexton.processes.stops import STOPPED, Due, entry, session_of, since_end, stop_due
from sexton.processes.watched_processes import view
from sexton.resets.policy import next_boundary, told_reset

log = logging.getLogger("sexton.processes")

RECENT = 100
"""The number of a session's newest journal lines in which a round looks for earlier news."""

Seen = Mapping[int, Judgement]
"""What processes of this machine that are there were seen doing, by row."""


class Noted(NamedTuple):
    """Something that was done about a process, or said of it for the first time."""

    process: Process
    action: str
    words: str


def settle_processes(
    estate: Estate, seen: Seen, is_stopping: Callable[[], bool] = lambda: False
) -> list[Noted]:
    """See to the processes of sessions that have ended, and tell of what will be stopped.

    What is told goes into the journal, from which every channel is served, whoever dies meanwhile.
    A keeper that is stopping itself leaves the rest to the next one: a stop takes its time.
    """
    settling = _Settling(estate)
    due = settling.go_through(seen)
    settling.tell_of_hints()
    if not is_stopping():
        settling.stop(due)
    return settling.noted


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


class _Settling:
    """One round over all processes, and what came of it."""

    def __init__(self, estate: Estate) -> None:
        self._estate = estate
        self._policy = estate.overseer.policy
        self._now = estate.clock.now()
        self._boundaries: dict[tuple[str, str], datetime | None] = {}
        self.noted: list[Noted] = []

    @cached_property
    def _rules(self) -> Rules:
        return rules_now(self._estate)

    def go_through(self, seen: Seen) -> Due:
        """Tell what there is to be told; those that are to be stopped now."""
        due = []
        for each in self._estate.overseer.registry.running():
            if each.ref not in seen or seen[each.ref].doing in OVER or not _is_to_be_seen_to(each):
                continue
            if each.is_orphan:
                occasion = occasion_of(self._end_of(each))
                if occasion is not None and self._is_due(each, occasion, seen[each.ref]):
                    due.append((each, occasion))
            elif self._policy.on_daily_reset is Handling.STOP:
                self._announce(each)
        return due

    def tell_of_hints(self) -> None:
        """Tell once of what the session of a foreign home has left, and only the home names."""
        estate = self._estate
        named = estate.named(estate.overseer.registry.running())
        left = [each for each in named if each.session_ref is not None and each.is_orphan]
        for each in view(estate, left):
            occasion = occasion_of(self._end_of(each.process))
            if each.doing in OVER or occasion is None:
                continue
            handling = self._policy.handling(occasion)
            if handling is not Handling.KEEP:
                words = _how_left(each.process, occasion, each.doing)
                words += "; no policy stops it" if handling is Handling.STOP else ""
                self._tell_of_hint(each.process, Reason(each.doing, words))

    def _tell_of_hint(self, process: Process, reason: Reason) -> None:
        """The journal says whether it was told: no row of the ledger is about such a process."""
        estate, who = self._estate, process.identity
        code = f"{HINT}{who.pid}:{who.started}"
        for session in estate.ledger.index.find(process.home, process.session):
            lines = estate.ledger.journal.page(session, None, None, RECENT)
            if any(line.action == LEAVE_PROCESS and line.reason.code == code for line in lines):
                return
        said = Reason(code, one_line(process_left(self._as_it_works(process), reason)))
        line = replace(entry(estate, process, LEAVE_PROCESS, "done", said), reason=said)
        estate.ledger.journal.write([line], self._now)
        self._note(process, LEAVE_PROCESS, said)

    def _as_it_works(self, process: Process) -> Process:
        """The process under the name of what runs in it, not of the shell around that."""
        return replace(process, command=self._estate.overseer.leaf(process))

    def stop(self, due: Due) -> None:
        """Stop them all, and tell of those that could not be."""
        for process, words, why in stop_due(self._estate, due):
            if not why:
                self.noted.append(Noted(process, STOPPED, words))
                continue
            reason = Reason("refused", f"it could not be stopped: {words}")
            self._tell_of_rest(process, reason, since_end(process, why))

    def _is_due(self, process: Process, occasion: Occasion, found: Judgement) -> bool:
        """Whether a process is to be stopped now; people are told of what else becomes of it."""
        match self._policy.handling(occasion):
            case Handling.KEEP:
                return False
            case Handling.WARN:
                words = _how_left(process, occasion, found.doing)
                what = since_end(process, f"left {occasion}")
                self._tell_of_rest(process, Reason(found.doing, words), what)
                return False
            case Handling.STOP if occasion is Occasion.DAILY:
                at = self._now + self._policy.notice
                told = self._tell_of_stop(process, self._boundary(process), at)
                if told is None or told.is_news:
                    return False
                return self._now >= told.at + self._policy.notice
            case Handling.STOP:
                return True

    def _end_of(self, process: Process) -> EndKind:
        """How its session ended; which reset it was is known from the policy it was reset under."""
        kind = end_kind(process.end_reason, process.home)
        if kind is not EndKind.RESET:
            return kind
        found = self._estate.ledger.index.find(process.home, process.session)
        return told_reset(found[0], self._rules.reset_policy(found[0])) if found else kind

    def _announce(self, process: Process) -> None:
        """Tell of a process that the next daily reset will stop, once that is near."""
        boundary = self._boundary(process)
        if boundary and self._now >= boundary - self._policy.notice:
            self._tell_of_stop(process, boundary, boundary)

    def _boundary(self, process: Process) -> datetime | None:
        """The daily boundary at which its session is or was over; None if there is none for it."""
        name = process.home, process.session
        if name not in self._boundaries:
            found = self._estate.ledger.index.find(*name)
            policy = self._rules.reset_policy(found[0]) if found else None
            self._boundaries[name] = None
            if policy is not None and policy.is_daily:
                self._boundaries[name] = next_boundary(found[0].active_at, policy)
        return self._boundaries[name]

    def _tell_of_rest(self, process: Process, reason: Reason, what: str) -> None:
        self._tell(process, LEAVE_PROCESS, what, process_left(self._as_it_works(process), reason))

    def _tell_of_stop(
        self, process: Process, boundary: datetime | None, at: datetime
    ) -> Told | None:
        """Say that a daily reset stops it: each boundary is one of its own, and told of anew."""
        words = f"the daily reset stops what a session left running ({process.kind})"
        what = f"stop {boundary:%Y-%m-%dT%H:%MZ}" if boundary else since_end(process, "stop")
        said = process_stopping(self._as_it_works(process), Reason("daily", words), at)
        return self._tell(process, ANNOUNCE_STOP, what, said)

    def _tell(self, process: Process, action: str, what: str, words: str) -> Told | None:
        """Say each thing once, whoever says it: in the journal and in the log."""
        reason = Reason("process", one_line(words))
        line = replace(entry(self._estate, process, action, "done", reason), reason=reason)
        registry, now = self._estate.overseer.registry, self._estate.clock.now()
        told = registry.tell(process.ref, what, now, line)
        if told is not None and told.is_news:
            self._note(process, action, reason)
        return told

    def _note(self, process: Process, action: str, reason: Reason) -> None:
        self.noted.append(Noted(process, action, reason.text))
        log.warning("%s %s: %s", session_of(process), reason.text, process.shown)


def _how_left(process: Process, occasion: Occasion, doing: Doing) -> str:
    return f"its session ended: {process.end_reason or occasion}; it is {doing}"
