"""How is what lies in the vault shown?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sexton.cli.terminal import Column, table
from sexton.core.wording import ago, ahead, moment_of, number, remaining, size
from sexton.operations.questions.vault_questions import KeptFile
from sexton.retention.model import VaultState
from sexton.retention.removal_context import Means
from sexton.wiring import Sexton

_COLUMNS = (
    Column("RECEIPT"),
    Column("MADE"),
    Column("UNTIL"),
    Column("SOURCE", cut=True),
    Column("SESSIONS", right=True),
    Column("FILES", right=True, spare=True),
    Column("SIZE", right=True),
    Column("STATE", cut=True),
    Column("NAME", spare=True),
)


def means_of(opened: Sexton) -> Means:
    """What a command removes and restores with."""
    found = opened.estate().removing
    assert found is not None
    return found


def show_files(opened: Sexton, found: Iterable[KeptFile]) -> None:
    """A table of vault files."""
    host, now = means_of(opened).host, opened.clock.now()
    table(_COLUMNS, (_row(each, host, now) for each in found))


def _row(each: KeptFile, host: str, now: datetime) -> tuple[str, ...]:
    state = each["state"].value if each["state"] is not VaultState.KEPT else ""
    elsewhere = "" if each["host"] == host else f"on {each['host']}"
    until = each["expires_at"]
    return (
        each["receipt"],
        ago(moment_of(each["made_at"]), now),
        "-" if until is None else ahead(moment_of(until), now),
        each["source"],
        remaining(each["left"], each["sessions"]) if each["holds"] == "sessions" else "-",
        number(each["files"]),
        size(each["bytes"]),
        " ".join(filter(None, (state, elsewhere))) or "kept",
        each["name"][:8],
    )
