"""What would be done, and what came of it once a person said so?"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from typing_extensions import TypedDict

from sexton.core.plan import (
    Outcome,
    Plan,
    Reason,
    Result,
)
from sexton.errors import SextonError
from sexton.keeper.apply import apply as carry_out
from sexton.keeper.apply import new_receipt
from sexton.keeper.keeper_context import Estate
from sexton.keeper.narrowing import of_source
from sexton.keeper.observe import observe_home
from sexton.keeper.plan_file import plan_document, read_plan
from sexton.keeper.propose import survey
from sexton.keeper.sealing import is_digest_of
from sexton.operations import planned, said, values
from sexton.operations import thing_records as things
from sexton.operations.outlook import outlook
from sexton.operations.verbs import check_as_shown, plan_end
from sexton.retention.proposal import with_retention
from sexton.retention.recover import recover
from sexton.web.answers.homes_answers import check_home
from sexton.web.desk import Desk
from sexton.web.proposals import Errand
from sexton.wiring.removal_wiring import undo_receipt

SHOWN = 1000
"""So many actions and outcomes are listed; of more only their number is told."""


class Counted(TypedDict):
    """How many actions went how; those `observed` were left out, as nobody allowed them."""

    done: int
    skipped: int
    recorded: int
    observed: int


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
    narrowed = of_source(estate.ledger, plan, source)
    shown = remember(desk, narrowed)
    return {**shown, "outlook": outlook(desk.house, narrowed), "troubles": troubles}


def propose_end(desk: Desk, name: str, code: str, *, force: bool = False) -> planned.Plan:
    """A plan that ends one session, as it is now; the guards are those of `plan_end`."""
    words = {"reset": "reset by an operator, so that its key begins anew"}
    reason = Reason(code, words.get(code, "ended by an operator"))
    plan = plan_end(desk.lookout.fresh(), desk.house.find(name), reason, force=force)
    return remember(desk, plan)


def remember(desk: Desk, plan: Plan) -> planned.Plan:
    """The plan as it is shown, to be confirmed by its digest."""
    shown = plan_document(plan, desk.house.ledger.plan_key())
    desk.proposals.add_plan(shown)
    return cast("planned.Plan", shown)


def work_of(desk: Desk, digest: str) -> Plan | Errand:
    """What was shown under a digest; PlanInvalid if that is too long ago."""
    work, ledger = desk.proposals.of(digest), desk.house.ledger
    return work if isinstance(work, Errand) else read_plan(work, ledger.id, ledger.plan_key())


def observe(estate: Estate) -> list[str]:
    """Look at every home; what could not be read."""
    troubles = list(estate.unreachable)
    for name, record in estate.records.items():
        try:
            observe_home(estate, estate.homes[name], record)
        except SextonError as trouble:
            troubles.append(f"{name}: {trouble}")
    return troubles


def apply_shown(desk: Desk, digest: str, *, observed: bool) -> Report:
    """Carry out what was shown under a digest."""
    work = work_of(desk, digest)
    if isinstance(work, Errand):
        return _run(desk, work)
    return _apply(desk, work, shown=True, observed=observed)


def apply_document(desk: Desk, content: Mapping[str, Any], *, observed: bool) -> Report:
    """Carry out a plan that comes along as a whole, as `sexton plan` writes it."""
    ledger, digest = desk.house.ledger, str(content["digest"])
    rest = {name: value for name, value in content.items() if name != "digest"}
    if digest in desk.proposals and is_digest_of(rest, ledger.plan_key(), digest):
        return apply_shown(desk, digest, observed=observed)
    plan = read_plan(json.dumps(content), ledger.id, ledger.plan_key())
    return _apply(desk, plan, shown=False, observed=observed)


def _apply(desk: Desk, plan: Plan, *, shown: bool, observed: bool) -> Report:
    receipt = new_receipt()
    done = carried_out(desk, plan, receipt, shown=shown, observed=observed)
    return _report(plan, receipt, list(done))


def carried_out(
    desk: Desk, plan: Plan, receipt: str, *, shown: bool = True, observed: bool
) -> Iterator[Outcome]:
    """Carry out a plan, after what somebody began who died at it.

    No policy asks for what an operator asked for: that is done only if it was `shown` here.
    """
    estate = desk.lookout.fresh()
    assert estate.removing is not None
    just_made = shown and not plan.policies
    if just_made:
        check_as_shown(estate, plan)
    recover(estate.removing, estate.evidence, receipt)
    return carry_out(estate, plan, receipt, observed=observed, just_made=just_made)


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
        "observed": results[Result.OBSERVED],
    }
