"""What will a plan do, what would it do if allowed, and which jobs does it start?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sexton.core.plan import Action, Plan
from sexton.core.wording import counted, number, size
from sexton.operations import planned
from sexton.rules.rulebook import Rulebook
from sexton.spending.budgets import shown
from sexton.spending.model import Unit
from sexton.wiring import Sexton
from sexton.wiring.prospects import Prospect, prospects


def outlook(opened: Sexton, plan: Plan, wanted: Rulebook | None = None) -> planned.Outlook:
    """Both parts of a plan, with the jobs that each starts at most by the rules that are wanted."""
    return {
        "will": _part(opened, plan.will_do(), wanted),
        "if_allowed": _part(opened, plan.would_do(), wanted),
    }


def job_lines(jobs: Sequence[planned.Jobs]) -> Iterator[str]:
    """One line for each finalizer: how many jobs, over how much text, and what they may cost."""
    for each in jobs:
        kind = each["kind"] or "no finalizer of these settings"
        text = f"{counted(each['messages'], 'message')}, {size(each['bytes'])}"
        many = counted(each["jobs"], "job")
        yield f"at most {many} of {each['finalizer']} ({kind}; {text}): {_cost(each['calls'])}"


def _cost(calls: planned.Calls | None) -> str:
    if calls is None:
        return "cost unknown"
    asked = f"about {number(calls['tokens'])} tokens in about {counted(calls['calls'], 'call')}"
    micros = calls["cost_micros"]
    return f"{asked}, cost unknown" if micros is None else f"{asked}, {shown(Unit.USD, micros)}"


def _part(opened: Sexton, actions: Sequence[Action], wanted: Rulebook | None) -> planned.Part:
    return {
        "actions": len(actions),
        "homes": sorted({each.seen.home for each in actions}),
        "jobs": [_jobs(each) for each in prospects(opened, actions, wanted)],
    }


def _jobs(found: Prospect) -> planned.Jobs:
    calls: planned.Calls | None = None
    if found.calls is not None:
        calls = {
            "calls": found.calls.calls,
            "tokens": found.calls.tokens,
            "cost_micros": found.calls.cost_micros,
        }
    return {
        "finalizer": found.finalizer,
        "kind": found.kind,
        "jobs": found.jobs,
        "messages": found.messages,
        "bytes": found.bytes,
        "calls": calls,
    }
