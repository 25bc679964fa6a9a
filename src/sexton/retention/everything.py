"""Would a policy leave nothing of a home?"""

from __future__ import annotations

from collections.abc import Sequence

from sexton.core.plan import Held, Reason, RemoveFiles
from sexton.retention.blast_radius import loses
from sexton.retention.retain import Due
from sexton.store.ledger import Ledger

DELIVERED = "delivered"
"""What goes once its work has been delivered is meant to, also if nothing else is there."""


def hold_all(ledger: Ledger, home: str, due: Sequence[Due]) -> tuple[list[Due], list[Held]]:
    """What may go; if nothing of a home would be left, all records that go by age are held back.

    The archive keeps a record for good, so archiving goes on.
    """
    going: list[Due] = []
    aged: list[Due] = []
    for each in due:
        (aged if _goes_by_age(each) else going).append(each)
    if not aged or _leaving(due) < ledger.retained.count(home):
        return list(due), []
    count = _leaving(aged)
    holding = Reason(
        "remove_all",
        f"no session of '{home}' that is over would be left: this would remove {count}; "
        "'sexton apply --allow-remove-all' does it once, retention.allow_remove_all always",
    )
    held = [
        Held(seen=action.seen, wanted=action.reason, holding=holding)
        for each in aged
        for action in each.actions
    ]
    return going, held


def _goes_by_age(due: Due) -> bool:
    """Whether records go to the trash for no better reason than their age."""
    action = due.actions[0]
    is_record = not isinstance(action, RemoveFiles)
    return is_record and loses(action) and action.reason.code != DELIVERED


def _leaving(due: Sequence[Due]) -> int:
    """How many records leave the home."""
    return sum(len(each.actions) for each in due if not isinstance(each.actions[0], RemoveFiles))
