"""Which sessions of foreign homes did an apply end, and how are they opened again?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sexton.engine.estate import Estate, rules_now
from sexton.model.plan import JournalEntry, Reason, Result
from sexton.model.record import replace
from sexton.model.session import NATIVE
from sexton.ports import Entry, Ledger, Sighting

PAGE = 500
ENDING = ("reap", "end")


def ended_by(ledger: Ledger, receipt: str) -> dict[str, list[str]]:
    """The sessions of foreign homes that a receipt stands for having ended, by home."""
    found: dict[str, list[str]] = {}
    for entry in _entries(ledger, receipt):
        foreign = entry.home is not None and entry.home != NATIVE
        if foreign and entry.action in ENDING and entry.result == Result.DONE and entry.session:
            found.setdefault(str(entry.home), []).append(entry.session)
    return found


def revive(estate: Estate, ended: Mapping[str, Sequence[str]], receipt: str, undone: str) -> int:
    """Open the sessions again that have not gone on as another one since; how many.

    What the home shows of them then is known at once.
    """
    now, count, schedule = estate.clock.now(), 0, rules_now(estate).schedule
    reason = Reason("undo", f"undoes {undone}")
    entry = Entry(
        actor=estate.actor, receipt=receipt, action="revive", result="done", reason=reason
    )
    for home, ids in ended.items():
        if home not in estate.homes or home not in estate.records:
            continue
        opened = [
            replace(session, due_at=schedule(session).at)
            for session in estate.homes[home].revive(ids, now)
        ]
        rules = estate.records[home].rules
        estate.ledger.homes.store(estate.records[home], Sighting(seen=tuple(opened)), rules, now)
        told = [replace(entry, home=home, session=session.id) for session in opened]
        estate.ledger.journal.write(told, now)
        count += len(opened)
    return count


def _entries(ledger: Ledger, receipt: str) -> list[JournalEntry]:
    found: list[JournalEntry] = []
    before: int | None = None
    while page := ledger.journal.page(None, receipt, before, PAGE):
        found += page
        before = page[-1].ref
    return found
