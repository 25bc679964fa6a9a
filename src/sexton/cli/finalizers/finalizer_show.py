"""`sexton finalizers show`: what is owed and done for one session?"""

from __future__ import annotations

from datetime import datetime

import click

from sexton.cli.arguments import session_argument
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.paging import Pages, by_ref, tell_pages
from sexton.cli.terminal import heading, pairs, say
from sexton.core.wording import moment_of, until
from sexton.finalizers.model import FinalizationState
from sexton.operations.asker import Asker
from sexton.operations.questions.job_questions import finalizers
from sexton.operations.said import Finalization

ALL = 1_000_000_000


@click.command("show", cls=Command, examples=("sexton finalizers show 3f0c9a",))
@session_argument
@click.pass_context
def command(ctx: click.Context, session: str) -> None:
    """Show the end-of-session work of one session.

    With all that is known about it: what it covers, its tries, and why it last failed.
    """
    options = shared(ctx)
    with existing(options) as opened:
        asker, now = Asker(house=opened), opened.clock.now()
        found = Pages(
            lambda rest, most: finalizers(asker, session=session, after=by_ref(rest), limit=most),
            ALL,
        )
        tell_pages(
            found,
            lambda shown: _show(shown, now),
            "the session owes no end-of-session work",
            as_json=options.json,
        )


def _show(found: list[Finalization], now: datetime) -> None:
    for place, each in enumerate(found):
        if place:
            say()
        heading(f"{each['finalizer']}: {each['state']}")
        waits = each["state"] is FinalizationState.PENDING
        finished = each["finished_at"]
        pairs(
            (
                ("key", each["key"]),
                ("messages", f"after {each['since']}, through {each['through']}"),
                ("tries", str(each["attempts"])),
                ("keepers that died", str(each["crashes"]) if each["crashes"] else None),
                ("owed", until(moment_of(each["owed_at"]), now)),
                ("next try", until(moment_of(each["not_before"]), now) if waits else None),
                ("in the hands of", each["worker"]),
                ("finished", until(moment_of(finished), now) if finished else None),
                ("what came of it", each["note"]),
                ("last error", each["last_error"]),
            )
        )
