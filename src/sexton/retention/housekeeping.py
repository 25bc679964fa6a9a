"""What does a keeper do so that neither the homes nor its own ledger grow for ever?"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence

from sexton.core.plan import Outcome, Plan, Reason, Result
from sexton.core.session import NATIVE
from sexton.keeper.apply import apply
from sexton.keeper.keeper_context import Estate
from sexton.retention.blast_radius import bounded, loses
from sexton.retention.disk_budget import disk_warning
from sexton.retention.disk_relief import Relieved, disk_use, shortage
from sexton.retention.file_scan import Scan
from sexton.retention.proposal import Proposal, propose
from sexton.retention.purge import discard_aged, empty_expired
from sexton.retention.recover import recover
from sexton.retention.removal_context import Means
from sexton.retention.removal_pace import Pace
from sexton.retention.retain import Due
from sexton.store.journal import Entry

EVERY = 600.0
"""Seconds from one round to the next; ages are in days."""
SHARE = 200
"""A round that takes long is done more seldom: it rests so many times as long as it took."""
FORGOTTEN = 1000
"""So many entries of the journal are dropped at once."""
STEPS = 100
"""So often at most something is forgotten or given back to the disk in one round."""
LARGE_WAL = 256_000_000
MOST_DRIFT = 3600.0
"""By so many seconds the wall clock may have moved by itself and is still believed."""

log = logging.getLogger("sexton.keeper")


class Housekeeping:
    """Retention, the disk budget and hygiene, now and then between sweeps.

    `remarks` are what people should know since the last round.
    """

    def __init__(self) -> None:
        self._next = float("-inf")
        self._told: dict[str, str] = {}
        self._aged = False
        self.remarks: list[Reason] = []

    def round(
        self, estate: Estate, receipt: str, stopped: Callable[[], bool] = lambda: False
    ) -> list[Outcome]:
        """Do what is due, if it is time for it again; what came of every removal."""
        begun = estate.clock.monotonic()
        means = estate.removing
        if means is None or begun < self._next:
            return []
        self._next = begun + EVERY
        if not self._aged:  # what was archived before the settings were changed obeys them, too
            means.ledger.vault.expire_archives(means.host, means.archive_age)
            self._aged = True
        self.remarks = []
        homes, scan = [NATIVE, *estate.records], Scan(means)
        proposal = propose(estate, homes, estate.rules(None).rules.retention, scan)
        outcomes = self._retain(estate, means, proposal, receipt, stopped)
        self._tidy(estate, means.pace, stopped)
        is_changed = any(each.result is Result.DONE for each in outcomes)
        self._warn(estate, means, Scan(means) if is_changed else scan)
        ended = estate.clock.monotonic()
        self._next = ended + max(EVERY, SHARE * (ended - begun))
        return outcomes

    def _retain(
        self,
        estate: Estate,
        means: Means,
        proposal: Proposal,
        receipt: str,
        stopped: Callable[[], bool],
    ) -> list[Outcome]:
        self._tell_short(proposal.relieved)
        outcomes: list[Outcome] = []
        for home, due in proposal.due.items():
            self._tell_refused(home, proposal)
            if home != NATIVE and not estate.records[home].act:
                self._propose(estate, home, due, receipt)
                continue
            plan = _plan(estate, self._allowed(estate, means, home, due))
            for outcome in apply(estate, plan, receipt, just_made=True):
                outcomes.append(outcome)
                if stopped():
                    return outcomes
        return outcomes

    def _allowed(self, estate: Estate, means: Means, home: str, due: Sequence[Due]) -> list[Due]:
        """What may go without a person's word; that more waits for one is told.

        What is archived is not lost, so any number of sessions may be.
        """
        now = estate.clock.now()
        gone = means.ledger.removable.removed_on(home, now.date())
        archived = [each for each in due if not loses(each.actions[0])]
        listed = [(each, each.since, len(each.actions)) for each in due if loses(each.actions[0])]
        allowed, allowance = bounded(listed, gone, now)
        waiting = allowance.waiting
        words = f"{waiting} removals in '{home}' wait for 'sexton apply'" if waiting else ""
        self._remark(Reason("waiting", words))
        self._tell(f"waiting {home}", words)
        return archived + allowed

    def _propose(self, estate: Estate, home: str, due: Sequence[Due], receipt: str) -> None:
        """Say once what would be done in a home that is only observed."""
        actions = [action for each in due for action in each.actions]
        size = sum(getattr(action, "size", 0) for action in actions)
        words = f"files of {len(actions)} sessions, {size} bytes" if actions else ""
        if self._tell(f"proposed {home}", words and f"in '{home}' retention would remove {words}"):
            entry = Entry(
                actor=estate.actor,
                receipt=receipt,
                home=home,
                action="remove_files",
                result="recorded",
                reason=Reason("retention", f"would remove {words}"),
            )
            estate.ledger.journal.write([entry], estate.clock.now())

    def _tell_refused(self, home: str, proposal: Proposal) -> None:
        held = [each for each in proposal.held[home] if each.holding.code == "remove_all"]
        self._tell(f"refused {home}", held[0].holding.text if held else "")

    def _tell_short(self, found: Relieved | None) -> None:
        words = shortage(found)
        self._remark(Reason("budget", words))
        self._tell("budget", words)

    def _warn(self, estate: Estate, means: Means, scan: Scan) -> None:
        """Say that space runs out before it has."""
        found = disk_warning(estate.budget, disk_use(estate, means, scan))
        self._remark(found)
        self._tell("disk", found.code if found else "", found.text if found else "")
        wal = estate.ledger.hygiene.size().wal_bytes
        large = f"the ledger's write-ahead log has {wal} bytes: a reader may hold it open"
        self._tell("wal", "large" if wal > LARGE_WAL else "", large)

    def _tidy(self, estate: Estate, pace: Pace, stopped: Callable[[], bool]) -> None:
        """Forget what is too old in our own tables, and give back what they left free."""
        before = estate.clock.now() - estate.keep_journal
        retained, hygiene = estate.ledger.retained, estate.ledger.hygiene
        _step_by_step(pace, stopped, lambda: retained.forget(before, FORGOTTEN) == FORGOTTEN)
        _step_by_step(pace, stopped, lambda: hygiene.trim() > 0)

    def _remark(self, reason: Reason | None) -> None:
        if reason is not None and reason.text:
            self.remarks.append(reason)

    def _tell(self, about: str, fact: str, words: str | None = None) -> bool:
        """Whether there is something new to say; it is said once."""
        if self._told.get(about, "") == fact:
            return False
        self._told[about] = fact
        if fact:
            log.warning("%s", words or fact)
        return bool(fact)


def _step_by_step(pace: Pace, stopped: Callable[[], bool], step: Callable[[], bool]) -> None:
    """Do something until nothing is left of it; between two steps others may write."""
    goes_on = True
    for _ in range(STEPS):
        if stopped() or not goes_on:
            return
        with pace.hold(pace.sessions, 0):
            goes_on = step()


def _plan(estate: Estate, due: Sequence[Due]) -> Plan:
    return Plan(
        id=uuid.uuid4().hex,
        ledger=estate.ledger.id,
        policies=estate.rules(None).digest,
        made_at=estate.clock.now(),
        actions=tuple(action for each in due for action in each.actions),
    )


def tend(estate: Estate, means: Means, receipt: str) -> None:
    """Complete what the dead began, discard old archives, and empty what is past its grace.

    A wall clock that was moved does not say how long something has been in the vault.
    """
    recover(means, estate.evidence, receipt)
    if abs(estate.look().drift - means.drift) <= MOST_DRIFT:
        discard_aged(means)
        empty_expired(means, receipt)
