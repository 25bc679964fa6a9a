"""`sexton sessions show`: what does the ledger know about a session?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import click

from sexton.cli.arguments import session_argument
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.sessions.conversation import conversation
from sexton.cli.terminal import document, heading, pairs, say
from sexton.core.session import Session
from sexton.core.wording import number, until
from sexton.operations import values as shapes
from sexton.operations.session_facts import facts
from sexton.operations.thing_records import vault_file as shape
from sexton.retention.model import AWAY


@click.command(
    "show",
    cls=Command,
    examples=("sexton sessions show 3f0c9a", "sexton sessions show hermes/20261102_101500 --json"),
)
@session_argument
@click.pass_context
def command(ctx: click.Context, session: str) -> None:
    """Show everything the ledger knows about a session.

    Its facts, its counts and who holds it, and what its conversation has cost with all that was
    compressed before; what was said in it is written out by 'sessions
    export'. Needs a ledger that exists.
    """
    options = shared(ctx)
    with existing(options) as opened:
        found = opened.content.session(opened.find(session))
        chain = conversation(opened, found)
        file = opened.ledger.vault.of_session(found.ref) if found.state in AWAY else None
        now = opened.clock.now()
    if options.json:
        workers = [shapes.holder(holder) for holder in found.holders]
        whole = {
            "sessions": [each.id for each in chain],
            "tokens": sum(each.usage.tokens for each in chain),
            "cost_micros": sum(each.usage.cost_micros for each in chain),
        }
        vault = None if file is None else shape(file)
        more = {"workers": workers, "conversation": whole, "vault": vault}
        document(shapes.session(found) | more)
        return
    heading(found.name)
    pairs(_facts(found, now))
    if file is not None:
        say(f"in the {file.kind} under receipt {file.receipt}: {file.place}/{file.name}")
    if len(chain) > 1:
        tokens = number(sum(each.usage.tokens for each in chain))
        cost = sum(each.usage.cost_micros for each in chain) / 1_000_000
        say(f"with what was compressed: {len(chain)} sessions, {tokens} tokens, {cost:.2f} $; the "
            f"first is {chain[0].id}")  # fmt: skip
    for holder in found.holders:
        identity = holder.worker.identity
        busy = ", in a turn" if holder.busy_since else ""
        say(f"held by {holder.worker.kind} {holder.worker.id}: pid {identity.pid} on "
            f"{identity.host} since {until(holder.joined_at, now)}{busy}")  # fmt: skip


def _facts(session: Session, now: datetime) -> Iterator[tuple[str, str | None]]:
    yield "title", session.title
    yield "preview", session.preview
    yield "state", f"{session.state}, pinned" if session.pinned else session.state
    yield from facts(session, now)
    yield "tokens", number(session.usage.tokens) if session.usage.tokens else None
    spent = session.usage.cost_micros / 1_000_000
    yield "cost", f"{spent:.2f} $" if spent else None
