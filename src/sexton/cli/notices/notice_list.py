"""`sexton notices list`: what were people told, and did it reach them?"""

from __future__ import annotations

from datetime import datetime

import click

from sexton.cli.arguments import limit_option
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.paging import Pages, after_option, by_ref, tell_pages
from sexton.cli.terminal import Column, table
from sexton.core.wording import ago, moment_of
from sexton.notifications.model import LetterState
from sexton.operations.asker import Asker
from sexton.operations.questions.notification_questions import Notification, notifications

COLUMNS = (
    Column("TARGET"),
    Column("EVENT"),
    Column("STATE"),
    Column("TRIES", right=True),
    Column("POSTED", spare=True),
    Column("TITLE", cut=True),
    Column("LAST ERROR", cut=True, spare=True),
)


@click.command(
    "list",
    cls=Command,
    examples=("sexton notices list", "sexton notices list --state failed --json"),
)
@click.option(
    "--state",
    type=click.Choice([state.value for state in LetterState]),
    help="Only in this state.",
)
@limit_option
@after_option
@click.pass_context
def command(ctx: click.Context, state: str | None, limit: int, after: str | None) -> None:
    """List what people were told, newest first.

    Each is listed once for each way of reaching them. A pending one waits for its time, a failed
    one was given up after the last try, a folded one was told together with others.
    """
    options = shared(ctx)
    with existing(options) as opened:
        asker, wanted = Asker(house=opened), None if state is None else LetterState(state)
        found = Pages(
            lambda rest, most: notifications(asker, state=wanted, after=by_ref(rest), limit=most),
            limit,
            after,
        )
        nothing = "nobody was told anything" if state is None else f"no notice is {state}"
        now = opened.clock.now()
        tell_pages(found, lambda shown: _show(shown, now), nothing, as_json=options.json)
        note_keeper(opened.ledger, opened.clock)


def _show(shown: list[Notification], now: datetime) -> None:
    table(
        COLUMNS,
        [
            (
                each["target"],
                each["event"].value,
                each["state"].value,
                str(each["attempts"]),
                ago(moment_of(each["posted_at"]), now),
                each["title"],
                each["last_error"] or "",
            )
            for each in shown
        ],
    )
