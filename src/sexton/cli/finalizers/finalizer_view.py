"""How is end-of-session work shown?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sexton.cli.terminal import Column, table
from sexton.core.wording import ago, moment_of
from sexton.operations.said import Finalization

COLUMNS = (
    Column("SESSION", cut=True),
    Column("FINALIZER"),
    Column("STATE"),
    Column("TRIES", right=True),
    Column("OWED", spare=True),
    Column("LAST ERROR", cut=True, spare=True),
)


def show(found: Iterable[Finalization], now: datetime) -> None:
    """A table for people."""
    table(
        COLUMNS,
        [
            (
                f"{each['home']}/{each['session']}",
                each["finalizer"],
                str(each["state"]),
                str(each["attempts"]),
                ago(moment_of(each["owed_at"]), now),
                each["last_error"] or "",
            )
            for each in found
        ],
    )
