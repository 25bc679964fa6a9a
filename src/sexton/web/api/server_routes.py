"""Is the server well, what happens, and how does it do over time?"""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request
from starlette.responses import Response
from typing_extensions import TypedDict

from sexton.core.wording import iso
from sexton.operations.said import Moment
from sexton.web import events, metrics
from sexton.web import web_problems as problems
from sexton.web.api.documented import answers
from sexton.web.api.inputs import LARGEST, Ref
from sexton.web.desk import Desk


class Health(TypedDict):
    """That the server answers, and when any keeper of its ledger last swept."""

    status: Literal["ok"]
    last_sweep: Moment | None


class Link(TypedDict):
    """A link that opens the dashboard once."""

    link: str


def router(desk: Desk) -> APIRouter:
    """What is about the server rather than about sessions."""
    routes = APIRouter(tags=["server"])
    counted = metrics.Metrics(desk)

    @routes.get("/healthz", responses={503: answers()[503], 400: answers()[400]})
    def healthz() -> Health:
        """Whether the server answers and reaches its ledger; needs no token."""
        last = desk.house.ledger.workers.last_sweep()
        return {"status": "ok", "last_sweep": iso(last.at) if last else None}

    @routes.get(
        "/metrics",
        responses=answers() | {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
        response_class=Response,
    )
    def measured() -> Response:
        """The metrics, as Prometheus reads them."""
        return Response(counted.text(), headers={"content-type": metrics.MEDIA_TYPE})

    @routes.get(
        "/v1/events",
        responses=answers(429)
        | {200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
        response_class=Response,
    )
    def happening(request: Request, after: Ref = None) -> Response:
        """Server-sent events: `journal` with an id, and `activity` when something has changed.

        Whoever sends `Last-Event-ID`, or `after`, is told first what came since. `reset` means that
        so much was missed that it is better to ask for everything anew.
        """
        last = request.headers.get("last-event-id", "")
        known = int(last) if last.isdecimal() and len(last) < 19 else after
        if not desk.news.enter():
            return problems.problem(429, "too many listen already", hint="Close other pages.")
        return events.stream(desk.news, None if known is None else min(known, LARGEST))

    @routes.post("/v1/links", tags=["server"], responses=answers())
    def new_link() -> Link:
        """A link that opens the dashboard once."""
        return {"link": desk.keys.new_link()}

    return routes
