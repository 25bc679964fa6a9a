"""How is the journal shown to a person?"""

from __future__ import annotations

from collections.abc import Iterable

from sexton.cli.terminal import Column, table
from sexton.core.session import NATIVE
from sexton.core.wording import moment_of
from sexton.operations.said import JournalEntry

_SESSION = Column("SESSION")
_COLUMNS = (
    Column("WHEN (UTC)"),
    Column("ACTION"),
    Column("RESULT"),
    _SESSION,
    Column("REASON", cut=True),
    Column("RECEIPT", spare=True),
    Column("BY", cut=True, spare=True),
)


def show_entries(entries: Iterable[JournalEntry], *, with_session: bool = True) -> None:
    """The entries as a table, newest first."""
    columns = [each for each in _COLUMNS if with_session or each is not _SESSION]
    table(columns, (_row(entry, with_session) for entry in entries))


def _row(entry: JournalEntry, with_session: bool) -> list[str]:
    session = [_name(entry)] if with_session else []
    return [
        f"{moment_of(entry['at']):%Y-%m-%d %H:%M:%S}",
        entry["action"],
        entry["result"],
        *session,
        entry["reason"]["text"],
        entry["receipt"] or "-",
        entry["actor"],
    ]


def _name(entry: JournalEntry) -> str:
    home, session = entry["home"], entry["session"]
    if session is None:
        return "-"
    return session if home in (None, NATIVE) else f"{home}/{session}"
