"""How is a plan, and what came of it, shown to a person?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from sexton.cli.terminal import Column, say, table
from sexton.core.plan import Action, Held, Outcome, Plan, Result, Seen
from sexton.core.session import NATIVE
from sexton.core.wording import counted
from sexton.operations.outlook import job_lines
from sexton.operations.planned import Outlook

_COLUMNS = (
    Column("SESSION"),
    Column("REASON", cut=True),
)
_HELD = (Column("HELD BACK"), Column("WANTED", cut=True), Column("BECAUSE", cut=True))


def show_plan(plan: Plan, outlook: Outlook) -> None:
    """What will be done, what would be if allowed, what is held back, the jobs, and a summary."""
    _show_actions("ACTION", plan.will_do())
    _show_actions("IF ALLOWED", plan.would_do())
    show_held(plan.held)
    for line in job_lines(outlook["will"]["jobs"]):
        say(f"starts {line}")
    for line in job_lines(outlook["if_allowed"]["jobs"]):
        say(f"if allowed, starts {line}")
    say(summary(plan))


def _show_actions(heading: str, actions: Sequence[Action]) -> None:
    if actions:
        rows = ((each.kind, name_of(each.seen), each.reason.text) for each in actions)
        table((Column(heading), *_COLUMNS), rows)


def show_held(held: Iterable[Held]) -> None:
    """What would be done if nothing held it back."""
    rows = [(name_of(each.seen), each.wanted.text, each.holding.text) for each in held]
    if rows:
        table(_HELD, rows)


def summary(plan: Plan) -> str:
    """The plan in one line."""
    would = plan.would_do()
    parts = [*_counts(plan.will_do())]
    if plan.held:
        parts.append(f"{len(plan.held)} held back")
    if not parts and not would:
        return "nothing is due"
    line = ", ".join(parts) or "nothing is done without a person's word"
    return f"{line}; if allowed, {', '.join(_counts(would))} in {_homes(would)}" if would else line


def _counts(actions: Iterable[Action]) -> list[str]:
    kinds = Counter(action.kind for action in actions)
    return [f"{number} to {kind}" for kind, number in sorted(kinds.items())]


def _homes(actions: Iterable[Action]) -> str:
    """The homes of actions, which are only observed."""
    homes = sorted({each.seen.home for each in actions})
    return f"{', '.join(homes)} (only observed)"


def question(plan: Plan, *, observed: bool) -> str:
    """What a person is asked before some actions of a plan are carried out."""
    would = plan.would_do()
    if observed:
        return f"Also carry out {counted(len(would), 'action')} in {_homes(would)}?"
    return f"Carry out {counted(len(plan.will_do()), 'action')}?"


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
