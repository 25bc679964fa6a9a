"""What a verb would do, shown before anything is done, and what came of it."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sexton.core.plan import Held, Plan, Reason, Result
from sexton.core.record import record
from sexton.core.wording import iso
from sexton.errors import SextonError
from sexton.keeper.apply import new_receipt
from sexton.keeper.sealing import digest_of
from sexton.operations import planned, said, values
from sexton.operations.asker import Asker
from sexton.processes.model import never

FORMAT: Final = "sexton-proposal"
SHOWN = 1000
"""Outcomes listed in a receipt; of more only the number is given."""
ANY_TIME = "Can be undone at any time."
NEVER = "This cannot be undone."


@record
class Step:
    """What a verb would do to one thing, or that it spares it, and why."""

    verb: str
    what: str
    why: str
    spares: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """How a proposal is carried out: whether observed homes may change, and when to stop.

    `begin` hears the receipt before anything is done, `tell` each outcome.
    """

    observed: bool = False
    begin: Callable[[str], None] = lambda _: None
    stopping: Callable[[], bool] = never
    tell: Callable[[said.Outcome], None] = lambda _: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a verb did: an outcome for each thing, what undoes it, and what went wrong last."""

    outcomes: Sequence[said.Outcome]
    undo: Mapping[str, str] | None = None
    trouble: SextonError | None = None
    left: int = 0
    rest: Plan | None = None
    held: Sequence[Held] = ()
    more: said.Details = field(default_factory=said.Details)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What came of a proposal. `shown` is the JSON that every surface gives."""

    id: str
    shown: said.Receipt
    outcomes: Sequence[said.Outcome]
    trouble: SextonError | None = None
    rest: Plan | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a verb would do: steps with their reasons, what is spared, and whether it can be undone.

    All guards have agreed when there is one. `shown` is its JSON; whoever confirms names its
    digest. `work` looks again before it acts, so that a stale proposal does no harm.
    """

    verb: str
    title: str
    says: str
    steps: Sequence[Step]
    undoing: str
    shown: planned.Plan
    work: Callable[[str, Going], Done]
    plan: Plan | None = None

    @property
    def digest(self) -> str:
        """What confirms this proposal and no other."""
        return self.shown["digest"]

    def carry_out(self, going: Going | None = None) -> Receipt:
        """Do it, and say what came of it."""
        id, how = new_receipt(), going or Going()
        how.begin(id)
        return receipt_of(self, id, self.work(id, how))


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A proposal without its form: what one verb would do to one thing, or to several."""

    verb: str
    title: str
    says: str = ""
    home: str | None
    session: str | None
    target: str
    reason: Reason
    steps: Sequence[Step]
    undoing: str = NEVER
    reversible: bool = False
    work: Callable[[str, Going], Done]


def proposed(asker: Asker, draft: Draft) -> Proposal:
    """A draft in the form in which it is shown, with its digest."""
    house = asker.house
    shown: planned.Plan = {
        "format": FORMAT,
        "version": 1,
        "id": uuid.uuid4().hex,
        "ledger": house.ledger.id,
        "made_at": iso(house.clock.now()),
        "actions": [
            {
                "kind": draft.verb,
                "session": {"home": draft.home, "id": draft.session},
                "target": draft.target,
                "steps": [
                    {"verb": each.verb, "what": each.what, "why": each.why, "spares": each.spares}
                    for each in draft.steps
                ],
                "reason": {"code": draft.reason.code, "text": draft.reason.text},
                "reversible": draft.reversible,
            }
        ],
        "held": [],
        "digest": "",
    }
    content = {name: value for name, value in shown.items() if name != "digest"}
    shown["digest"] = digest_of(content, house.ledger.plan_key())
    return Proposal(
        verb=draft.verb,
        title=draft.title,
        says=draft.says,
        steps=draft.steps,
        undoing=draft.undoing,
        shown=shown,
        work=draft.work,
    )


def receipt_of(proposal: Proposal, id: str, done: Done) -> Receipt:
    """The receipt of a proposal in the form in which it is shown."""
    results = Counter(each["result"] for each in done.outcomes)
    trouble: said.Trouble | None = None
    if done.trouble is not None:
        error = done.trouble
        trouble = {"error": type(error).__name__, "message": str(error), "hint": error.hint}
    shown: said.Receipt = {
        "receipt": id,
        "verb": proposal.verb,
        "plan": None if proposal.plan is None else proposal.plan.id,
        "done": results[Result.DONE],
        "skipped": results[Result.SKIPPED],
        "recorded": results[Result.RECORDED],
        "observed": results[Result.OBSERVED],
        "left": done.left,
        "outcomes": list(done.outcomes[:SHOWN]),
        "held": [values.held(each) for each in done.held[:SHOWN]],
        "undo": None if done.undo is None else dict(done.undo),
        "trouble": trouble,
        **done.more,
    }
    return Receipt(id=id, shown=shown, outcomes=done.outcomes, trouble=done.trouble, rest=done.rest)


def outcome(
    action: str,
    what: tuple[str | None, str | None],
    result: Result,
    reason: Reason,
    detail: str,
    *,
    target: str | None = None,
) -> said.Outcome:
    """What came of one step; `what` is the home and the session it is about."""
    found: said.Outcome = {
        "action": action,
        "home": what[0],
        "session": what[1],
        "result": result,
        "reason": {"code": reason.code, "text": reason.text},
        "detail": detail,
    }
    return found if target is None else {**found, "target": target}
