"""What was done, when, by whom and why?"""

from __future__ import annotations

from starlette.responses import Response

from sexton.web.desk import Desk
from sexton.web.pages.showing import show

LIMIT = 50


def journal(desk: Desk, before: int | None = None) -> Response:
    """The entries, newest first."""
    found = desk.house.ledger.journal.page(None, None, before, LIMIT + 1)
    older = f"/journal?before={found[LIMIT - 1].ref}" if len(found) > LIMIT else None
    return show(
        desk, "journal.html", page="journal", journal=found[:LIMIT], older=older, before=before
    )
