"""How is end-of-session work shown?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sexton.cli.terminal import Column, table
from sexton.cli.wording import ago, iso
from sexton.model.finalization import Finalization

COLUMNS = (
    Column("SESSION", cut=True),
    Column("FINALIZER"),
    Column("STATE"),
    Column("TRIES", right=True),
    Column("OWED", spare=True),
    Column("LAST ERROR", cut=True, spare=True),
)


def shape(each: Finalization) -> dict[str, Any]:
    """One finalization for programs."""
    return {
        "session": each.session,
        "home": each.home,
        "finalizer": each.finalizer,
        "state": str(each.state),
        "attempts": each.attempts,
        "last_error": each.last_error,
        "note": each.note,
        "crashes": each.crashes,
        "key": each.key,
        "since": each.since,
        "through": each.through,
        "worker": each.worker,
        "owed_at": iso(each.owed_at),
        "not_before": iso(each.not_before),
        "finished_at": iso(each.finished_at),
    }


def show(found: Iterable[Finalization], now: datetime) -> None:
    """A table for people."""
    table(
        COLUMNS,
        [
            (
                f"{each.home}/{each.session}",
                each.finalizer,
                str(each.state),
                str(each.attempts),
                ago(each.owed_at, now),
                each.last_error or "",
            )
            for each in found
        ],
    )
