"""Which sessions are there, and why are they as they are?"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from sexton.operations.questions import message_questions as messages
from sexton.operations.questions import session_questions as sessions
from sexton.operations.said import Explanation
from sexton.web.api.documented import answers
from sexton.web.api.inputs import LARGEST, Cursor, Limit, Name
from sexton.web.desk import Desk


def router(desk: Desk) -> APIRouter:
    """The questions about sessions."""
    routes = APIRouter(prefix="/v1", tags=["sessions"])

    # A session of another home is named HOME/ID: the longer paths come first.
    @routes.get("/sessions/{id:path}/why", responses=answers(404, 409))
    def why(id: Name) -> Explanation:
        """Why a session is as it is, and what would change it."""
        return sessions.why(desk.asker, id)

    @routes.get("/sessions/{id:path}/lineage", responses=answers(404, 409))
    def lineage(id: Name, after: Cursor = None, limit: Limit = 50) -> sessions.Lineage:
        """From whom a session came, and a page of those that came of it."""
        return sessions.lineage(desk.asker, id, after, limit)

    @routes.get("/sessions/{id:path}/messages", responses=answers(404, 409))
    def said(
        id: Name,
        after: Annotated[int, Query(ge=0, le=LARGEST)] = 0,
        limit: Limit = 50,
    ) -> messages.Messages:
        """A page of what was said, as text. Of a shared ledger only where the settings allow it."""
        return messages.messages(desk.asker, id, after, limit)

    @routes.get("/sessions/{id:path}", responses=answers(404, 409))
    def show(id: Name) -> sessions.FullSession:
        """Everything the ledger knows about a session."""
        return sessions.session(desk.asker, id)

    return routes
