"""How does a command that removes things stop between two of its steps?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

from sexton.cli.cli_files import private_file
from sexton.cli.signals import stopped_by_signals
from sexton.cli.terminal import bar
from sexton.core.plan import Outcome, Plan, Result, WarnSession
from sexton.core.record import replace as changed
from sexton.errors import InputInvalid
from sexton.keeper.apply import apply
from sexton.keeper.keeper_context import Estate
from sexton.keeper.plan_file import write_plan
from sexton.operations import values as shapes
from sexton.store.ledger import Ledger


@contextmanager
def stoppable(estate: Estate) -> Iterator[tuple[Estate, Event]]:
    """An estate whose removals end after the current step once the user wants to stop."""
    assert estate.removing is not None
    stop = Event()
    removing = replace(estate.removing, stopping=stop.is_set)
    with stopped_by_signals(stop.set):
        yield replace(estate, removing=removing), stop


def carry_out(
    estate: Estate,
    plan: Plan,
    receipt: str,
    words: str,
    tell: Callable[[Outcome], None] = lambda _: None,
    *,
    observed: bool = False,
) -> list[Outcome]:
    """Apply a plan, and show on a terminal how far it is; what was not begun has no outcome."""
    outcomes = []
    with bar(words, len(plan.actions)) as advance:
        for outcome in apply(estate, plan, receipt, observed=observed):
            outcomes.append(outcome)
            advance(1)
            tell(outcome)
    return outcomes


def report(
    plan: Plan, receipt: str, outcomes: Sequence[Outcome], rest: Path | None
) -> dict[str, Any]:
    """What came of a plan, for programs."""
    results = Counter(outcome.result for outcome in outcomes)
    return {
        "receipt": receipt,
        "plan": plan.id,
        "undo": undo_command(receipt, outcomes),
        **{result.value: results[result] for result in Result},
        "left": len(plan.actions) - len(outcomes),
        "rest": None if rest is None else str(rest),
        "outcomes": [shapes.outcome(outcome) for outcome in outcomes],
        "held": [shapes.held(held) for held in plan.held],
    }


def undo_command(receipt: str, outcomes: Sequence[Outcome]) -> str | None:
    """What takes back what was done; None where nothing was that can be taken back."""
    done = (each.action for each in outcomes if each.result is Result.DONE)
    can_be = any(not isinstance(each, WarnSession) for each in done)
    return f"sexton undo {receipt}" if can_be else None


def rest_of(plan: Plan, done: int, ledger: Ledger) -> str:
    """The text of a plan of what is left after so many actions."""
    return write_plan(changed(plan, actions=plan.actions[done:]), ledger.plan_key())


def keep_rest(text: str, name: str, ledger: Path | None) -> Path | None:
    """Write what is left of a plan to a file; None if there is no place for it here."""
    path = Path(f"sexton-{name}.json")
    try:
        with private_file(path, force=False, ledger=ledger) as file:
            file.write(text)
    except InputInvalid:
        return None
    return path


def stopped_with(left: int, rest: Path | None) -> str:
    """How to go on with what was not begun."""
    further = f"sexton apply {rest}" if rest else "the same command"
    return f"stopped with {left} left; '{further}' goes on"
