"""`sexton finalizers show`: what is owed and done for one session?"""

from __future__ import annotations

import click

from sexton.cli.arguments import session_argument
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.finalizers.finalizer_choosing import pages, wanted
from sexton.cli.terminal import array, heading, note, pairs, say
from sexton.core.wording import until
from sexton.finalizers.model import FinalizationState
from sexton.operations.values import finalization as shape


@click.command("show", cls=Command, examples=("sexton finalizers show 3f0c9a",))
@session_argument
@click.pass_context
def command(ctx: click.Context, session: str) -> None:
    """Show the end-of-session work of one session.

    With all that is known about it: what it covers, its tries, and why it last failed.
    """
    options = shared(ctx)
    with existing(options) as opened:
        found = list(map(opened.content.job, pages(opened, wanted(opened, session, None))))
        if options.json:
            array(shape(each) for each in found)
            return
        if not found:
            note("the session owes no end-of-session work")
        now = opened.clock.now()
        for place, each in enumerate(found):
            if place:
                say()
            heading(f"{each.finalizer}: {each.state}")
            waits = each.state is FinalizationState.PENDING
            pairs(
                (
                    ("key", each.key),
                    ("messages", f"after {each.since}, through {each.through}"),
                    ("tries", str(each.attempts)),
                    ("keepers that died", str(each.crashes) if each.crashes else None),
                    ("owed", until(each.owed_at, now)),
                    ("next try", until(each.not_before, now) if waits else None),
                    ("in the hands of", each.worker),
                    ("finished", until(each.finished_at, now) if each.finished_at else None),
                    ("what came of it", each.note),
                    ("last error", each.last_error),
                )
            )
