"""`sexton workers list`: which processes hold sessions, and do they live?"""

from __future__ import annotations

from datetime import datetime

import click

from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.terminal import Column, document, note, table
from sexton.core.wording import ago, moment_of
from sexton.operations.asker import Asker
from sexton.operations.questions.worker_questions import turns_of, workers
from sexton.operations.said import Worker

_COLUMNS = (
    Column("WORKER", cut=True),
    Column("KIND"),
    Column("HOST", cut=True, spare=True),
    Column("PID", right=True),
    Column("SINCE", spare=True),
    Column("BEAT", right=True, spare=True),
    Column("VERDICT"),
    Column("SESSIONS", right=True),
    Column("TURNS"),
    Column("BECAUSE", cut=True),
)


@click.command(
    "list",
    cls=Command,
    examples=(
        "sexton workers list",
        "sexton workers list --json | jq -r '.items[] | select(.verdict == \"dead\").id'",
    ),
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the processes that hold sessions.

    Agents and keepers that have not left, oldest first, and dead ones whose sessions nobody has
    seen to yet. The verdict is what can be told from here: of a process on this machine the kernel
    knows whether it lives; of one elsewhere only a keeper knows, which has listened to its beats
    for a while. A turn that makes no progress is shown as stalled; its process lives all the same.
    Needs a ledger that exists.
    """
    options = shared(ctx)
    with existing(options) as opened:
        found, now = workers(Asker(house=opened)), opened.clock.now()
        if options.json:
            document(found)
        elif found["items"]:
            table(_COLUMNS, (_row(each, now) for each in found["items"]))
        else:
            note("no worker is registered")
        note_keeper(opened.ledger, opened.clock)


def _row(each: Worker, now: datetime) -> tuple[str, ...]:
    return (
        each["id"],
        each["kind"],
        each["host"],
        str(each["pid"]),
        ago(moment_of(each["registered_at"]), now),
        str(each["beat"]),
        each["verdict"].value,
        str(each["sessions"]),
        turns_of(each),
        "; ".join(each["because"]),
    )
