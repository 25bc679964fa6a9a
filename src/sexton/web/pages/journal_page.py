"""What was done, when, by whom and why?"""

from __future__ import annotations

from starlette.responses import Response

from sexton.operations.questions.journal_questions import journal
from sexton.web.desk import Desk
from sexton.web.pages.showing import show

LIMIT = 50


def journal_page(desk: Desk, after: int | None = None) -> Response:
    """The entries, newest first."""
    found = journal(desk.asker, after=after, limit=LIMIT)
    older = f"/journal?before={found['next']}" if found["next"] else None
    return show(
        desk, "journal.html", page="journal", journal=found["items"], older=older, before=after
    )
