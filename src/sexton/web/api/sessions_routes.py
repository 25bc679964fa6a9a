"""Which sessions are there, and why are they as they are?"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from sexton.core.session import State
from sexton.operations.cursors import read_spot
from sexton.operations.said import Explanation
from sexton.sessions.board_ports import Order, Search
from sexton.web.answers import messages
from sexton.web.answers import sessions_answers as sessions
from sexton.web.api.documented import answers
from sexton.web.api.inputs import LARGEST, Cursor, Limit, Name, Span, Text, as_span
from sexton.web.desk import Desk


def router(desk: Desk) -> APIRouter:
    """The questions about sessions."""
    routes = APIRouter(prefix="/v1", tags=["sessions"])

    @routes.get("/sessions", responses=answers())
    def list_sessions(  # noqa: PLR0913, PLR0917  # each is a filter of its own
        home: Text = None,
        source: Text = None,
        state: State | None = None,
        text: Text = None,
        active_within: Span = None,
        idle_for: Span = None,
        everything: Annotated[bool, Query(alias="all")] = False,
        sort: Order = Order.ACTIVE,
        after: Cursor = None,
        limit: Limit = 50,
    ) -> sessions.Sessions:
        """Sessions of all homes, in an order.

        A page may hold fewer than asked for, or none, although `next` says that there is more: a
        search looks at so many sessions at a time.
        """
        now, within, idle = desk.house.clock.now(), as_span(active_within), as_span(idle_for)
        wanted = Search(
            home=home,
            source=source,
            state=state,
            text=text,
            active_since=None if within is None else now - within,
            active_before=None if idle is None else now - idle,
            folded=not everything,
        )
        place = None if after is None else read_spot(after)
        return sessions.page(desk, wanted, sort, place, limit)

    # A session of another home is named HOME/ID: the longer paths come first.
    @routes.get("/sessions/{id:path}/why", responses=answers(404, 409))
    def why(id: Name) -> Explanation:
        """Why a session is as it is, and what would change it."""
        return sessions.why(desk, id)

    @routes.get("/sessions/{id:path}/lineage", responses=answers(404, 409))
    def lineage(id: Name, after: Cursor = None, limit: Limit = 50) -> sessions.Lineage:
        """From whom a session came, and a page of those that came of it."""
        return sessions.lineage(desk, id, after, limit)

    @routes.get("/sessions/{id:path}/messages", responses=answers(404, 409))
    def said(
        id: Name,
        after: Annotated[int, Query(ge=0, le=LARGEST)] = 0,
        limit: Limit = 50,
    ) -> messages.Messages:
        """A page of what was said, as text. Of a shared ledger only where the settings allow it."""
        return messages.messages(desk, id, after, limit)

    @routes.get("/sessions/{id:path}", responses=answers(404, 409))
    def show(id: Name) -> sessions.FullSession:
        """Everything the ledger knows about a session."""
        return sessions.session(desk, id)

    return routes
