"""How is a person's word about end-of-session work carried out?"""

from __future__ import annotations

from collections.abc import Sequence

import click

from sexton.cli.cli_opening import existing
from sexton.cli.command import shared
from sexton.cli.confirming import confirm
from sexton.cli.finalizers.finalizer_choosing import pages, wanted
from sexton.cli.terminal import document, say
from sexton.core.plan import Reason
from sexton.core.record import record
from sexton.core.wording import counted
from sexton.finalizers.model import Finalization, FinalizationState
from sexton.keeper.apply import new_receipt
from sexton.operations.values import finalization as shape
from sexton.operations.verbs import DECIDABLE, Verb
from sexton.store.journal import Entry
from sexton.wiring import Sexton


@record
class Decision:
    """A person's word: its verb, and the state it leads to."""

    verb: Verb
    leads_to: FinalizationState


def decide(
    ctx: click.Context,
    decision: Decision,
    *,
    session: str | None,
    finalizer: str | None,
    everything: bool,
    yes: bool,
) -> None:
    """Ask, change each piece of work that is meant, and tell; what moved on is left alone."""
    options = shared(ctx)
    if not (session or finalizer or everything):
        raise click.UsageError("say which: --session, --finalizer, or --all")
    with existing(options) as opened:
        found = [
            each
            for state in DECIDABLE[decision.verb]
            for each in pages(opened, wanted(opened, session, finalizer, state))
        ]
        if found and not yes:
            question = f"{decision.verb.capitalize()} {counted(len(found), 'piece')} of work?"
            confirm(question, ask=not options.json)
        receipt = new_receipt()
        decided = [each for each in found if _decided(opened, each, decision, receipt)]
        done = [opened.content.job(each) for each in decided]
    _tell(decision.verb, receipt, found, done, as_json=options.json)


def _tell(
    verb: str,
    receipt: str,
    found: Sequence[Finalization],
    done: Sequence[Finalization],
    *,
    as_json: bool,
) -> None:
    if as_json:
        document({"receipt": receipt, "changed": [shape(each) for each in done]})
    elif not found:
        say("there is no such work")
    else:
        left = len(found) - len(done)
        rest = f"; {left} had moved on meanwhile" if left else ""
        say(f"{verb}: {counted(len(done), 'piece')} of work{rest} (receipt {receipt})")


def _decided(opened: Sexton, each: Finalization, decision: Decision, receipt: str) -> bool:
    verb = decision.verb
    words = f"asked for with 'sexton finalizers {verb}': {each.finalizer} through {each.through}"
    entry = Entry(
        actor=opened.actor,
        receipt=receipt,
        home=each.home,
        session=each.session,
        action=f"{verb}_finalizer",
        result="done",
        reason=Reason("asked", words),
    )
    return opened.ledger.finalizing.decide(each.ref, decision.leads_to, opened.clock.now(), entry)
