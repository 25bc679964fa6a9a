"""How is a person's word about end-of-session work carried out?"""

from __future__ import annotations

from collections.abc import Sequence

from sexton.bootstrap import Sexton
from sexton.cli.confirming import confirm
from sexton.cli.finalizers.view import shape
from sexton.cli.terminal import document, say
from sexton.cli.wording import counted
from sexton.engine.apply import new_receipt
from sexton.model.finalization import Finalization, FinalizationState
from sexton.model.plan import Reason
from sexton.ports import Entry


def decide(
    opened: Sexton,
    found: Sequence[Finalization],
    state: FinalizationState,
    *,
    verb: str,
    yes: bool,
    as_json: bool,
) -> None:
    """Ask, change each, and tell; what moved on meanwhile is left alone."""
    if found and not yes:
        confirm(f"{verb.capitalize()} {counted(len(found), 'piece')} of work?", ask=not as_json)
    receipt = new_receipt()
    done = [each for each in found if _decided(opened, each, state, verb, receipt)]
    if as_json:
        document({"receipt": receipt, "changed": [shape(each) for each in done]})
    elif not found:
        say("there is no such work")
    else:
        left = len(found) - len(done)
        rest = f"; {left} had moved on meanwhile" if left else ""
        say(f"{verb}: {counted(len(done), 'piece')} of work{rest} (receipt {receipt})")


def _decided(
    opened: Sexton, each: Finalization, state: FinalizationState, verb: str, receipt: str
) -> bool:
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
    return opened.ledger.finalizing.decide(each.ref, state, opened.clock.now(), entry)
