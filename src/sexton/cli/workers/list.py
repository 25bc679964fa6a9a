"""`sexton workers list`: which processes hold sessions, and do they live?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import click

from sexton.cli.command import Command, shared
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.opening import existing
from sexton.cli.terminal import Column, array, note, table
from sexton.cli.wording import ago, iso, span
from sexton.engine.estate import Estate
from sexton.model.evidence import Evidence, Verdict
from sexton.model.session import Session
from sexton.model.worker import Holder, Worker
from sexton.policies.liveness import stalled_for

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A worker, what is known of it, and what it is doing; `stalls` say for how long."""

    worker: Worker
    evidence: Evidence
    sessions: int
    busy: int
    stalls: tuple[timedelta, ...]


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
        seen = list(_seen(opened.estate()))
        now = opened.clock.now()
        if options.json:
            array(_shape(each) for each in seen)
        elif seen:
            table(_COLUMNS, (_row(each, now) for each in seen))
        else:
            note("no worker is registered")
        note_keeper(opened.ledger, opened.clock)


def _seen(estate: Estate) -> Iterator[_Seen]:
    workers = estate.ledger.reaping.suspects()
    evidence = estate.evidence(workers)
    policy, now = estate.rules(None).rules.liveness, estate.clock.now()
    held = _held(estate, workers)
    for worker in workers:
        holdings = held[worker.id]
        # No turn runs in a dead process.
        dead = evidence[worker.id].verdict is Verdict.DEAD
        turns = [] if dead else [each for each in holdings if each[1].busy_since is not None]
        stalls = (stalled_for(*turn, policy, now) for turn in turns)
        yield _Seen(
            worker=worker,
            evidence=evidence[worker.id],
            sessions=len(holdings),
            busy=len(turns),
            stalls=tuple(each for each in stalls if each is not None),
        )


def _held(estate: Estate, workers: Sequence[Worker]) -> Mapping[str, list[tuple[Session, Holder]]]:
    """What each worker holds, and how, by its id."""
    found: defaultdict[str, list[tuple[Session, Holder]]] = defaultdict(list)
    for session in estate.ledger.reaping.sessions_of(*(worker.id for worker in workers)):
        for holder in session.holders:
            found[holder.worker.id].append((session, holder))
    return found


def _row(each: _Seen, now: datetime) -> tuple[str, ...]:
    worker = each.worker
    return (
        worker.id,
        worker.kind,
        worker.identity.host,
        str(worker.identity.pid),
        ago(worker.registered_at, now),
        str(worker.beat),
        each.evidence.verdict.value,
        str(each.sessions),
        _turns(each),
        "; ".join(each.evidence.signals),
    )


def _turns(each: _Seen) -> str:
    if not each.busy:
        return "idle"
    if not each.stalls:
        return f"{each.busy} busy"
    longest = span(max(each.stalls))
    return f"{each.busy} busy, {len(each.stalls)} stalled for up to {longest}"


def _shape(each: _Seen) -> dict[str, Any]:
    worker = each.worker
    return {
        "id": worker.id,
        "kind": worker.kind,
        "version": worker.version,
        "host": worker.identity.host,
        "pid": worker.identity.pid,
        "registered_at": iso(worker.registered_at),
        "beat": worker.beat,
        "verdict": each.evidence.verdict.value,
        "because": list(each.evidence.signals),
        "sessions": each.sessions,
        "busy": each.busy,
        "stalled": len(each.stalls),
        "stalled_seconds": int(max(each.stalls, default=timedelta(0)).total_seconds()),
    }
