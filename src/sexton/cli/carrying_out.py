"""How does a command carry out a verb? It shows what would be done, asks, does it and tells."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Any

import click

from sexton.cli.cli_files import private_file
from sexton.cli.cli_opening import chosen_url, ledger_file, reaching
from sexton.cli.command import Shared, shared
from sexton.cli.confirming import confirm
from sexton.cli.signals import stopped_by_signals
from sexton.cli.terminal import bar, document, note, say
from sexton.cli.trouble import DECLINED
from sexton.core.plan import Plan, Result
from sexton.core.session import NATIVE
from sexton.core.wording import counted, number
from sexton.errors import InputInvalid, SessionBusy
from sexton.keeper.plan_file import write_plan
from sexton.operations import said
from sexton.operations.asker import Asker
from sexton.operations.registry import VERBS
from sexton.operations.verb_proposal import Going, Proposal, Receipt
from sexton.wiring import Sexton

Opening = Callable[[Shared], AbstractContextManager[Sexton]]

ATTEMPTS = 20
MOST_TOLD = 50


def act(
    ctx: click.Context,
    propose: Callable[[Asker], Proposal],
    *,
    ask: bool = False,
    dry_run: bool = False,
    until_done: bool = False,
    opening: Opening = reaching,
) -> None:
    """Carry out a verb of one command.

    With `ask` a person has to agree first. With `until_done` it is proposed anew when what it is
    about has moved on, as it may while an agent writes.
    """
    options = shared(ctx)
    with opening(options) as opened:
        asker = Asker(house=opened, is_confirming=ask)
        proposal = propose(asker)
        if dry_run and options.json:
            document(proposal.shown)
        elif dry_run or (ask and not options.json):
            show_steps(proposal)
        if dry_run:
            return
        if ask and proposal.steps:
            confirm(f"{proposal.title}?", ask=not options.json)
        begin = _begin(options)
        receipt = carry_out(proposal, begin=begin)
        for _ in range(ATTEMPTS if until_done else 0):
            if not receipt.shown["skipped"]:
                break
            receipt = carry_out(propose(asker), begin=begin)
        else:
            if until_done:
                words = f"{proposal.title}: it is written to all the time"
                raise SessionBusy(words, hint="Try again.")
    tell(ctx, receipt)


def carry_out(
    proposal: Proposal,
    *,
    observed: bool = False,
    tell: Callable[[said.Outcome], None] | None = None,
    begin: Callable[[str], None] = lambda _: None,
) -> Receipt:
    """Do it until the user wants to stop, and show on a terminal how far it is."""
    with bar(proposal.title, len(proposal.steps)) as advance, stoppable() as stop:

        def on_step(outcome: said.Outcome) -> None:
            advance(1)
            if tell is not None:
                tell(outcome)

        going = Going(observed=observed, stopping=stop.is_set, tell=on_step, begin=begin)
        return proposal.carry_out(going)


def say_receipt(id: str) -> None:
    """The receipt, said before anything is done: whoever kills the command has it."""
    say(f"receipt {id}")
    sys.stdout.flush()


def _begin(options: Shared) -> Callable[[str], None]:
    return (lambda _: None) if options.json else say_receipt


@contextmanager
def stoppable() -> Iterator[Event]:
    """Set when the user wants to stop: the current step is finished first."""
    stop = Event()
    with stopped_by_signals(stop.set):
        yield stop


def show_steps(proposal: Proposal) -> None:
    """What would be done to what, and why, for a person."""
    if proposal.says:
        say(proposal.says)
    if not proposal.steps:
        say("there is nothing to do")
        return
    for each in islice(proposal.steps, MOST_TOLD):
        say(f"{each.verb} {each.what} ({each.why})")  # whole: a yes is for what was shown
    if len(proposal.steps) > MOST_TOLD:
        note(f"and {number(len(proposal.steps) - MOST_TOLD)} more")
    note(proposal.undoing)


def tell(ctx: click.Context, receipt: Receipt, more: dict[str, Any] | None = None) -> None:
    """The receipt; then the trouble, if there was any, as the error of the command."""
    options = shared(ctx)
    if options.json:
        document({**receipt.shown, **(more or {})})
    else:
        for each in receipt.outcomes[:MOST_TOLD]:
            say(line_of(each))
        if len(receipt.outcomes) > MOST_TOLD:
            note(f"and {number(len(receipt.outcomes) - MOST_TOLD)} more like these")
        if not receipt.outcomes:
            say("there was nothing to do")
        elif len(receipt.outcomes) > 1:
            say(tally_of(receipt.outcomes))
        for remark in receipt.shown.get("remarks", ()):
            note(f"{remark['session']} {remark['says']}")
        tell_undoing(receipt)
    finish(ctx, receipt)


def tell_undoing(receipt: Receipt) -> None:
    """What to type to take it back."""
    command = undo_command(receipt)
    if command:
        note(f"'{command}' takes it back")


def undo_command(receipt: Receipt) -> str | None:
    """What takes back what was done; None where nothing was that can be taken back by a command."""
    undo = receipt.shown["undo"]
    about = None if undo is None else undo.get("receipt") or undo.get("session")
    if undo is None or about is None:
        return None
    return " ".join(("sexton", *VERBS[undo["verb"]].command, about.removeprefix(f"{NATIVE}/")))


def finish(ctx: click.Context, receipt: Receipt, rest: Path | None = None) -> None:
    """End with the trouble, or with what is left, if there is any."""
    left = receipt.shown["left"]
    if left:
        further = f"sexton apply {rest}" if rest else "the same command"
        note(f"stopped with {left} left; '{further}' goes on")
        ctx.exit(DECLINED)
    if receipt.trouble is not None:
        raise receipt.trouble


def line_of(outcome: said.Outcome) -> str:
    """One line about what came of one step."""
    home, session = outcome["home"], outcome["session"]
    name = session if home in (None, NATIVE) else f"{home}/{session}"
    about = outcome.get("target") or name
    return f"{outcome['result']}: {outcome['action']} {about}: {outcome['detail']}"


def tally_of(outcomes: Any) -> str:
    """How many steps came to what."""
    results = Counter(each["result"] for each in outcomes)
    parts = [f"{results[result]} {result}" for result in Result if results[result]]
    return ", ".join(parts) if parts else counted(0, "action")


def keep_rest(ctx: click.Context, opened: Sexton, plan: Plan | None, name: str) -> Path | None:
    """Write what is left of a plan to a file; None if there is nothing, or no place for it."""
    if plan is None:
        return None
    path = Path(f"sexton-{name}.json")
    text = write_plan(plan, opened.ledger.plan_key())
    try:
        with private_file(path, force=False, ledger=ledger_file(chosen_url(shared(ctx)))) as file:
            file.write(text)
    except InputInvalid:
        return None
    return path
