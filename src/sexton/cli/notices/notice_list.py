"""`sexton notices list`: what were people told, and did it reach them?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

import click

from sexton.cli.arguments import limit_option
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.terminal import Column, array, note, table
from sexton.core.wording import ago, iso
from sexton.notifications.model import Letter, LetterState
from sexton.wiring import Sexton

CHUNK = 500
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
@click.pass_context
def command(ctx: click.Context, state: str | None, limit: int) -> None:
    """List what people were told, newest first.

    Each is listed once for each way of reaching them. A pending one waits for its time, a failed
    one was given up after the last try, a folded one was told together with others.
    """
    options = shared(ctx)
    with existing(options) as opened:
        wanted = None if state is None else LetterState(state)
        found = map(opened.content.letter, _letters(opened, wanted))
        first = islice(found, limit)
        if options.json:
            array(_shape(each) for each in first)
        elif listed := list(first):
            _show(listed, opened.clock.now())
        else:
            note("nobody was told anything" if state is None else f"no notice is {state}")
        if next(found, None):
            note(f"there is more than {limit}: see --limit")
        note_keeper(opened.ledger, opened.clock)


def _letters(opened: Sexton, state: LetterState | None) -> Iterator[Letter]:
    after: int | None = None
    while page := opened.ledger.outbox.page(state, after, CHUNK):
        yield from page
        after = page[-1].ref


def _shape(each: Letter) -> dict[str, Any]:
    return {
        "target": each.target,
        "event": str(each.notice.event),
        "state": str(each.state),
        "attempts": each.attempts,
        "last_error": each.last_error,
        "title": each.notice.title,
        "text": each.notice.text,
        "home": each.notice.home,
        "session": each.notice.session,
        "key": each.notice.key,
        "posted_at": iso(each.posted_at),
        "not_before": iso(each.not_before),
        "finished_at": iso(each.finished_at),
    }


def _show(letters: list[Letter], now: datetime) -> None:
    table(
        COLUMNS,
        [
            (
                each.target,
                str(each.notice.event),
                str(each.state),
                str(each.attempts),
                ago(each.posted_at, now),
                each.notice.title,
                each.last_error or "",
            )
            for each in letters
        ],
    )
