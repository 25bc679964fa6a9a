"""How is work tried again that was given up?"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from sexton.engine.apply import new_receipt
from sexton.model.finalization import Finalization, FinalizationState
from sexton.model.plan import Reason
from sexton.ports import Entry
from sexton.ports.finalizing import Wanted
from sexton.shapes.wording import counted
from sexton.web.desk import Desk
from sexton.web.pages.acts.proposal import Proposal, Step, done, proposed
from sexton.web.pages.deeds import Deed, Deeds

CHUNK = 500
BACK = "/finalizers?state=dead"


def retrying(desk: Desk, ref: int | None) -> Response:
    """What would be tried again: one dead letter, or all."""
    found = _dead(desk, ref)
    steps = [
        Step(
            kind="retry_finalizer",
            verb="retry",
            what=f"{each.finalizer} for {each.home}/{each.session}",
            why=f"given up after {counted(each.attempts, 'try', 'tries')}: {each.last_error}",
        )
        for each in found
    ]
    return proposed(
        desk,
        "finalizers",
        Proposal(
            title=f"Retry {counted(len(found), 'dead letter')}",
            says="Its tries are counted from the start; a keeper takes it on at its next look.",
            steps=steps,
            verb="Retry",
            undoing="What fails again is a dead letter again.",
            action="/act/retry",
            back=BACK,
            fields=(("ref", "" if ref is None else str(ref)),),
        ),
    )


def retry(desk: Desk, deeds: Deeds, ref: int | None) -> Response:
    """Let dead letters be tried again; those that moved on meanwhile are left alone."""
    found, receipt = _dead(desk, ref), new_receipt()
    changed = sum(_retried(desk, each, receipt) for each in found)
    words = f"{counted(changed, 'piece')} of work will be tried again"
    left = len(found) - changed
    more = f"; {left} had moved on meanwhile" if left else ""
    return done(deeds, receipt, Deed(words=words + more, tone="good" if changed else ""))


def _dead(desk: Desk, ref: int | None) -> Sequence[Finalization]:
    wanted = Wanted(state=FinalizationState.DEAD)
    pages, after = desk.house.ledger.finalizing, None if ref is None else ref + 1
    if ref is not None:
        return [each for each in pages.page(wanted, after, 1) if each.ref == ref]
    found: list[Finalization] = []
    while page := pages.page(wanted, after, CHUNK):
        found += page
        after = page[-1].ref
    return found


def _retried(desk: Desk, each: Finalization, receipt: str) -> bool:
    entry = Entry(
        actor=desk.house.actor,
        receipt=receipt,
        home=each.home,
        session=each.session,
        action="retry_finalizer",
        result="done",
        reason=Reason("asked", f"asked for on the dashboard: {each.finalizer}"),
    )
    now = desk.house.clock.now()
    return desk.house.ledger.finalizing.decide(each.ref, FinalizationState.PENDING, now, entry)
