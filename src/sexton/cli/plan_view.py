"""How is a plan, and what came of it, shown to a person?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sexton.cli.terminal import Column, say, table
from sexton.model.plan import Held, Outcome, Plan, Result, Seen
from sexton.model.session import NATIVE
from sexton.shapes.wording import counted

_COLUMNS = (
    Column("ACTION"),
    Column("SESSION"),
    Column("REASON", cut=True),
)
_HELD = (Column("HELD BACK"), Column("WANTED", cut=True), Column("BECAUSE", cut=True))


def show_plan(plan: Plan) -> None:
    """The actions, what is held back, and a summary."""
    if plan.actions:
        table(
            _COLUMNS,
            (
                (
                    action.kind,
                    name_of(action.seen),
                    action.reason.text,
                )
                for action in plan.actions
            ),
        )
    show_held(plan.held)
    say(summary(plan))


def show_held(held: Iterable[Held]) -> None:
    """What would be done if nothing held it back."""
    rows = [(name_of(each.seen), each.wanted.text, each.holding.text) for each in held]
    if rows:
        table(_HELD, rows)


def summary(plan: Plan) -> str:
    """The plan in one line."""
    kinds = Counter(action.kind for action in plan.actions)
    parts = [f"{number} to {kind}" for kind, number in sorted(kinds.items())]
    if plan.held:
        parts.append(f"{len(plan.held)} held back")
    return ", ".join(parts) if parts else "nothing is due"


def say_outcome(outcome: Outcome) -> None:
    """One line about what came of an action."""
    action = outcome.action
    say(f"{outcome.result}: {action.kind} {name_of(action.seen)}: {outcome.detail}")


def tallied(outcomes: Iterable[Outcome]) -> str:
    """How many actions came to what."""
    results = Counter(outcome.result for outcome in outcomes)
    parts = [f"{results[result]} {result}" for result in Result if results[result]]
    return ", ".join(parts) if parts else counted(0, "action")


def name_of(seen: Seen) -> str:
    """What a person calls the session."""
    return seen.id if seen.home == NATIVE else f"{seen.home}/{seen.id}"
