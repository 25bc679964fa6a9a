"""`sexton workers list`: which processes hold sessions, and do they live?"""

from __future__ import annotations

from datetime import datetime

import click

from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.terminal import Column, array, note, table
from sexton.core.wording import ago, span
from sexton.liveness.worker_view import SeenWorker, look_at_workers
from sexton.operations.thing_records import worker

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
        "sexton workers list --json | jq -r '.[] | select(.verdict == \"dead\").id'",
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
        seen = list(look_at_workers(opened.estate()))
        now = opened.clock.now()
        if options.json:
            array(worker(each) for each in seen)
        elif seen:
            table(_COLUMNS, (_row(each, now) for each in seen))
        else:
            note("no worker is registered")
        note_keeper(opened.ledger, opened.clock)


def _row(each: SeenWorker, now: datetime) -> tuple[str, ...]:
    who = each.worker
    return (
        who.id,
        who.kind,
        who.identity.host,
        str(who.identity.pid),
        ago(who.registered_at, now),
        str(who.beat),
        each.evidence.verdict.value,
        str(each.sessions),
        _turns(each),
        "; ".join(each.evidence.signals),
    )


def _turns(each: SeenWorker) -> str:
    if not each.busy:
        return "idle"
    if not each.stalls:
        return f"{each.busy} busy"
    longest = span(max(each.stalls))
    return f"{each.busy} busy, {len(each.stalls)} stalled for up to {longest}"
