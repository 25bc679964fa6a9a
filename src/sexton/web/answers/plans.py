"""What would be done, and what came of it once a person said so?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import cast

from typing_extensions import TypedDict

from sexton.bootstrap.removing import undo_receipt
from sexton.engine.apply import apply as carry_out
from sexton.engine.apply import new_receipt
from sexton.engine.estate import Estate
from sexton.engine.narrowing import of_source
from sexton.engine.observe import observe_home
from sexton.engine.plan import survey
from sexton.engine.plan_file import check_ledger, read_plan, write_plan
from sexton.engine.removing.proposal import with_retention
from sexton.engine.removing.recover import recover
from sexton.engine.verbs import plan_end
from sexton.errors import SextonError
from sexton.model.plan import (
    Outcome,
    Plan,
    Reason,
    Result,
)
from sexton.shapes import planned, said, things, values
from sexton.web.answers.homes import check_home
from sexton.web.desk import Desk
from sexton.web.proposals import Errand, Proposal

SHOWN = 1000
"""So many actions and outcomes are listed; of more only their number is told."""


class Counted(TypedDict):
    """How many actions went how."""

    done: int
    skipped: int
    recorded: int


class Report(Counted):
    """What came of an apply; `undo` is what undoes it, if anything does."""

    receipt: str
    plan: str | None
    left: int
    outcomes: list[said.Outcome]
    held: list[said.HeldBack]
    undo: dict[str, str] | None


class Undone(said.Reopened):
    """What came back from the vault, and what was opened again."""

    receipt: str
    undone: str
    files: list[said.Restored]


def propose(desk: Desk, home: str | None, source: str | None) -> planned.Plan:
    """What should be done now, with reasons. Changes nothing but what is known of homes."""
    estate = desk.lookout.fresh()
    check_home(desk, home)
    troubles = observe(estate)
    plan = with_retention(estate, survey(estate, home).plan, home)
    shown = remember(desk, of_source(estate.ledger, plan, source))
    return {**shown, "troubles": troubles}


def propose_end(desk: Desk, name: str, code: str, *, force: bool = False) -> planned.Plan:
    """A plan that ends one session, as it is now; the guards are those of `plan_end`."""
    words = {"reset": "reset by an operator, so that its key begins anew"}
    reason = Reason(code, words.get(code, "ended by an operator"))
    plan = plan_end(desk.lookout.fresh(), desk.house.find(name), reason, force=force)
    return remember(desk, plan)


def remember(desk: Desk, plan: Plan) -> planned.Plan:
    """The plan as it is shown, to be confirmed by its digest."""
    shown = cast("planned.Plan", json.loads(write_plan(plan)))
    desk.proposals.add(Proposal(digest=shown["digest"], shown=shown, work=plan))
    return shown


def observe(estate: Estate) -> list[str]:
    """Look at every home; what could not be read."""
    troubles = list(estate.unreachable)
    for name, record in estate.records.items():
        try:
            observe_home(estate, estate.homes[name], record)
        except SextonError as trouble:
            troubles.append(f"{name}: {trouble}")
    return troubles


def apply_shown(desk: Desk, digest: str) -> Report:
    """Carry out what was shown under a digest."""
    work = desk.proposals.of(digest).work
    return _run(desk, work) if isinstance(work, Errand) else _apply(desk, work)


def apply_document(desk: Desk, text: str) -> Report:
    """Carry out a plan that comes along as a whole, as `sexton plan` writes it."""
    plan = read_plan(text)
    check_ledger(plan, desk.house.ledger.id)
    return _apply(desk, plan)


def _apply(desk: Desk, plan: Plan) -> Report:
    receipt = new_receipt()
    return _report(plan, receipt, list(carried_out(desk, plan, receipt)))


def carried_out(desk: Desk, plan: Plan, receipt: str) -> Iterator[Outcome]:
    """Carry out a plan, after what somebody began who died at it."""
    estate = desk.lookout.fresh()
    assert estate.removing is not None
    recover(estate.removing, estate.evidence, receipt)
    return carry_out(estate, plan, receipt)


def _report(plan: Plan, receipt: str, outcomes: Sequence[Outcome]) -> Report:
    results = Counter(each.result for each in outcomes)
    reversible = any(each.result is Result.DONE and each.action.reversible for each in outcomes)
    return {
        "receipt": receipt,
        "plan": plan.id,
        **_counted(results),
        "left": len(plan.actions) - len(outcomes),
        "outcomes": [values.outcome(each) for each in outcomes[:SHOWN]],
        "held": [values.held(each) for each in plan.held[:SHOWN]],
        "undo": {"receipt": receipt} if reversible else None,
    }


def _run(desk: Desk, errand: Errand) -> Report:
    del desk
    receipt = new_receipt()
    done = errand.carry_out(receipt)
    result = Result.DONE if done.is_done else Result.SKIPPED
    return {
        "receipt": receipt,
        "plan": None,
        **_counted(Counter([result])),
        "left": 0,
        "outcomes": [
            {
                "action": errand.kind,
                "home": errand.home,
                "session": errand.session,
                "result": result,
                "reason": values.reason(errand.reason),
                "detail": done.detail,
            }
        ],
        "held": [],
        "undo": dict(errand.undo) if errand.undo and done.is_done else None,
    }


def undo(desk: Desk, receipt: str) -> Undone:
    """Bring back what an apply removed, and open again what it ended."""
    done = undo_receipt(desk.house, receipt)
    return {
        "receipt": done.receipt,
        "undone": receipt,
        "files": [things.restored(each) for each in done.files],
        **things.reopened(done.opened),
    }


def _counted(results: Counter[Result]) -> Counted:
    return {
        "done": results[Result.DONE],
        "skipped": results[Result.SKIPPED],
        "recorded": results[Result.RECORDED],
    }
