"""`sexton sessions show`: what does the ledger know about a session?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import click

from sexton.cli.arguments import session_argument
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.terminal import document, heading, pairs, say
from sexton.core.wording import moment_of, number, until
from sexton.operations.asker import Asker
from sexton.operations.questions.session_questions import FullSession
from sexton.operations.questions.session_questions import session as session_record
from sexton.operations.session_facts import facts


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
        found, now = session_record(Asker(house=opened), session), opened.clock.now()
    if options.json:
        document(found)
        return
    heading(found["name"])
    pairs(_facts(found, now))
    file, chain = found["vault"], found["conversation"]
    if file is not None:
        place = f"{file['place']}/{file['name']}"
        say(f"in the {file['kind']} under receipt {file['receipt']}: {place}")
    if len(chain["sessions"]) > 1:
        tokens, cost = number(chain["tokens"]), chain["cost_micros"] / 1_000_000
        say(f"with what was compressed: {len(chain['sessions'])} sessions, {tokens} tokens, "
            f"{cost:.2f} $; the first is {chain['sessions'][0]}")  # fmt: skip
    for holder in found["workers"]:
        busy = ", in a turn" if holder["busy_since"] else ""
        since = until(moment_of(holder["joined_at"]), now)
        say(f"held by {holder['kind']} {holder['worker']}: pid {holder['pid']} on "
            f"{holder['host']} since {since}{busy}")  # fmt: skip


def _facts(session: FullSession, now: datetime) -> Iterator[tuple[str, str | None]]:
    yield "title", session["title"]
    yield "preview", session["preview"]
    yield "state", f"{session['state']}, pinned" if session["pinned"] else session["state"]
    yield from facts(session, now)
    kinds = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")
    tokens = sum(session[each] for each in kinds)  # type: ignore[literal-required]
    yield "tokens", number(tokens) if tokens else None
    spent = session["cost_micros"] / 1_000_000
    yield "cost", f"{spent:.2f} $" if spent else None
