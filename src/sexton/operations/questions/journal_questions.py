"""What was done, when, by whom and why?"""

from __future__ import annotations

from typing_extensions import TypedDict

from sexton.operations import said, values
from sexton.operations.asker import Asker
from sexton.operations.cursors import cut


class Journal(TypedDict):
    """A page of the journal."""

    items: list[said.JournalEntry]
    next: str | None


def journal(
    asker: Asker,
    *,
    session: str | None = None,
    receipt: str | None = None,
    after: int | None = None,
    limit: int = 50,
) -> Journal:
    """What was done, when, by whom and why, newest first; of one `session` or one `receipt`."""
    about = None if session is None else asker.find(session)
    page = asker.house.ledger.journal.page(about, receipt, after, limit + 1)
    found, rest = cut(page, limit)
    items = [
        values.journal_entry(each)
        for each in found  # those of a receipt may be about many sessions
        if about is None or (each.home, each.session) == (about.home, about.id)
    ]
    return {
        "items": items,
        "next": rest,
    }
