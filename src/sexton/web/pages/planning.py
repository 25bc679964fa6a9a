"""What should be done now, why, and what comes of it once it is confirmed?"""

from __future__ import annotations

from collections import Counter
from typing import Any
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from sexton.core.plan import Outcome, Plan, Result
from sexton.core.record import replace
from sexton.core.session import NATIVE
from sexton.core.wording import counted, number
from sexton.keeper.apply import new_receipt
from sexton.operations.outlook import job_lines, outlook
from sexton.web.answers.homes_answers import check_home
from sexton.web.answers.plans_answers import carried_out, observe, remember, work_of
from sexton.web.desk import Desk
from sexton.web.pages.deeds import Deed, Deeds
from sexton.web.pages.plans_page import SHOWN, grouped, held_back, told
from sexton.web.pages.showing import show
from sexton.web.proposals import Errand

WHATS = (("due", "what is due"), ("gc", "what is garbage"))
_REMOVING = "What is removed goes to the trash or the archive first and can be brought back."


def planned(desk: Desk, what: str, home: str | None, id: str | None) -> Response:
    """A plan with its reasons; nothing is changed by looking at it."""
    check_home(desk, home)
    wanted = home or None
    troubles = observe(desk.lookout.fresh())
    if what == "session" and wanted and id:
        plan = of_session(desk.house.plan(wanted), wanted, id)
        return plan_page(
            desk, plan, title="What is due for this session",
            says="The same plan as the keeper's, of this session only.", troubles=troubles,
        )  # fmt: skip
    is_gc = what == "gc"
    plan = desk.house.plan(wanted or (NATIVE if is_gc else None), gc=is_gc)
    title = "Garbage" if is_gc else "Plan"
    says = (
        "Empty and trivial sessions that could go to the trash. Nothing is changed by looking."
        if is_gc
        else "What should be done now, and why. Nothing is changed by looking."
    )
    homes = [each.name for each in desk.house.ledger.homes.all()]
    every = [] if is_gc else [("", "all homes")]
    choices = {"whats": WHATS, "homes": [*every, *((each, each) for each in homes)]}
    chosen = {"what": "gc" if is_gc else "due", "home": home or (NATIVE if is_gc else "")}
    return plan_page(
        desk, plan, title=title, says=says, choices=choices, chosen=chosen, troubles=troubles
    )


def plan_page(desk: Desk, plan: Plan, *, title: str, says: str, **more: Any) -> Response:
    """The page on which a plan is confirmed."""
    groups, would = grouped(plan.will_do()), grouped(plan.would_do())
    ahead = outlook(desk.house, plan)
    return show(
        desk,
        "plan.html",
        page=more.pop("page", "plan"),
        title=title,
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
        digest=remember(desk, plan)["digest"],
        verb=f"Apply {counted(len(plan.will_do()), 'action')}" if groups else "Apply",
        undoing=_REMOVING if any(each.bytes for each in (*groups, *would)) else "",
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


def applied(desk: Desk, deeds: Deeds, digest: str, *, observed: bool) -> Response:
    """Carry out what was shown: a plan, or one thing that a person asked for."""
    work, receipt = work_of(desk, digest), new_receipt()
    if isinstance(work, Errand):
        deeds.put(receipt, _ran(work, receipt))
    else:
        deeds.put(receipt, _deed(list(carried_out(desk, work, receipt, observed=observed))))
    return RedirectResponse(f"/receipt?id={receipt}", status_code=303)


def _ran(errand: Errand, receipt: str) -> Deed:
    done = errand.carry_out(receipt)
    if not done.is_done:
        return Deed(words=done.detail, tone="bad")
    return Deed(words=done.detail, undo=_undoing(errand))


def _undoing(errand: Errand) -> str | None:
    """Where a page asks for what undoes it."""
    if errand.undo is None:
        return None
    act, process = errand.undo["action"].partition("_")[0], errand.undo.get("process")
    query = {"ref": process} if process else {"home": errand.home, "id": errand.session}
    return f"/act/{act}?" + urlencode(query, errors="replace")


def _deed(outcomes: list[Outcome]) -> Deed:
    results = Counter(each.result for each in outcomes)
    parts = [f"{number(results[each])} {each}" for each in Result if results[each]]
    tone = "good" if results[Result.DONE] else ""
    words = ", ".join(parts) or "there was nothing to do"
    more = ": what had changed was left alone" if results[Result.SKIPPED] else ""
    return Deed(words=words + more, tone=tone, outcomes=tuple(told(outcomes)))


def _headline(plan: Plan) -> str:
    if not plan.actions:
        return "Nothing to do"
    will = plan.will_do()
    if not will:
        return "Nothing to do unless you allow it"
    sessions = len({(each.seen.home, each.seen.id) for each in will})
    return f"{counted(len(will), 'action')} on {counted(sessions, 'session')}"
