"""What should be done now, why, and what comes of it once it is confirmed?"""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from sexton.core.plan import Plan
from sexton.core.record import replace
from sexton.core.session import NATIVE
from sexton.core.wording import counted
from sexton.operations.changes.applying import REMOVING, apply, of_plan
from sexton.operations.changes.clearing import gc
from sexton.operations.outlook import job_lines, outlook
from sexton.operations.verb_proposal import Proposal
from sexton.web.desk import Desk
from sexton.web.pages.plans_page import SHOWN, grouped, held_back
from sexton.web.pages.showing import show

WHATS = (("due", "what is due"), ("gc", "what is garbage"))


def planned(desk: Desk, what: str, home: str | None, id: str | None) -> Response:
    """A plan with its reasons; nothing is changed by looking at it."""
    wanted, is_gc = home or None, what == "gc"
    if is_gc:
        return _page(desk, gc(desk.asker, home=wanted), is_gc=True, home=home)
    proposal = apply(desk.asker, home=wanted)
    if what == "session" and wanted and id:
        assert proposal.plan is not None
        only = of_plan(
            desk.asker,
            of_session(proposal.plan, wanted, id),
            verb="apply",
            title="What is due for this session",
        )
        troubles = proposal.shown.get("troubles", [])
        return plan_page(
            desk, only, says="The same plan as the keeper's, of this session only.",
            troubles=troubles,
        )  # fmt: skip
    return _page(desk, proposal, is_gc=False, home=home)


def _page(desk: Desk, proposal: Proposal, *, is_gc: bool, home: str | None) -> Response:
    says = (
        "Empty and trivial sessions that could go to the trash. Nothing is changed by looking."
        if is_gc
        else "What should be done now, and why. Nothing is changed by looking."
    )
    homes = [each.name for each in desk.house.ledger.homes.all()]
    every = [] if is_gc else [("", "all homes")]
    choices = {"whats": WHATS, "homes": [*every, *((each, each) for each in homes)]}
    chosen = {"what": "gc" if is_gc else "due", "home": home or (NATIVE if is_gc else "")}
    troubles = proposal.shown.get("troubles", [])
    return plan_page(desk, proposal, says=says, choices=choices, chosen=chosen, troubles=troubles)


def plan_page(desk: Desk, proposal: Proposal, *, says: str, **more: Any) -> Response:
    """The page on which a plan is confirmed."""
    plan = proposal.plan
    assert plan is not None
    desk.proposals.add(proposal)
    groups, would = grouped(plan.will_do()), grouped(plan.would_do())
    ahead = outlook(desk.house, plan)
    return show(
        desk,
        "plan.html",
        page=more.pop("page", "plan"),
        title=proposal.title,
        says=says,
        headline=_headline(plan),
        made_at=plan.made_at,
        groups=groups,
        would=would,
        would_count=ahead["if_allowed"]["actions"],
        would_homes=ahead["if_allowed"]["homes"],
        jobs=list(job_lines(ahead["will"]["jobs"])),
        would_jobs=list(job_lines(ahead["if_allowed"]["jobs"])),
        held=held_back(plan.held),
        held_more=max(0, len(plan.held) - SHOWN),
        digest=proposal.digest,
        verb=f"Apply {counted(len(plan.will_do()), 'action')}" if groups else "Apply",
        undoing=REMOVING if any(each.bytes for each in (*groups, *would)) else "",
        is_live=False,
        **({"choices": None, "chosen": None, "back": "/", "troubles": ()} | more),
    )


def of_session(plan: Plan, home: str, id: str) -> Plan:
    """As much of a plan as is about one session."""
    return replace(
        plan,
        actions=tuple(
            each for each in plan.actions if (each.seen.home, each.seen.id) == (home, id)
        ),
        held=tuple(each for each in plan.held if (each.seen.home, each.seen.id) == (home, id)),
    )


def _headline(plan: Plan) -> str:
    if not plan.actions:
        return "Nothing to do"
    will = plan.will_do()
    if not will:
        return "Nothing to do unless you allow it"
    sessions = len({(each.seen.home, each.seen.id) for each in will})
    return f"{counted(len(will), 'action')} on {counted(sessions, 'session')}"
