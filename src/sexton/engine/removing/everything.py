"""Would a policy leave nothing of a home?"""

from __future__ import annotations

from collections.abc import Sequence

from sexton.engine.removing.retain import Due
from sexton.model.plan import Held, Reason, RemoveFiles
from sexton.ports import Ledger

DELIVERED = "delivered"
"""What goes once its work has been delivered is meant to, also if nothing else is there."""


def hold_all(ledger: Ledger, home: str, due: Sequence[Due]) -> tuple[list[Due], list[Held]]:
    """What may go; if nothing of a home would be left, all records that go by age are held back."""
    leaving = [each for each in due if not isinstance(each.actions[0], RemoveFiles)]
    aged = [each for each in leaving if each.actions[0].reason.code != DELIVERED]
    count = sum(len(each.actions) for each in leaving)
    if not aged or count < ledger.retained.count(home):
        return list(due), []
    holding = Reason(
        "remove_all",
        f"this would remove all {count} sessions of '{home}' that are over; 'sexton apply "
        "--allow-remove-all' does it once, retention.allow_remove_all always",
    )
    held = [
        Held(seen=action.seen, wanted=action.reason, holding=holding)
        for each in aged
        for action in each.actions
    ]
    return [each for each in due if each not in aged], held
