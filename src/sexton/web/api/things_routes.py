"""What is there beside sessions?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, get_type_hints

from fastapi import APIRouter, Request
from starlette.responses import Response

from sexton.operations.question_registry import QUESTIONS
from sexton.operations.registry import said_of
from sexton.web.answers import overview_answers as overview
from sexton.web.answers.activity import AllActive
from sexton.web.api.documented import answers
from sexton.web.api.inputs import Span, as_span
from sexton.web.desk import Desk
from sexton.web.verb_routes import with_query


def router(desk: Desk) -> APIRouter:
    """The questions about everything else."""
    routes = APIRouter(prefix="/v1", tags=["ledger"])
    _now(routes, desk)
    _questions(routes, desk)
    return routes


def _now(routes: APIRouter, desk: Desk) -> None:
    @routes.get(
        "/activity",
        responses=answers()
        | {
            200: {"model": AllActive},
            304: {"description": "Nothing has changed since that tag."},
        },
    )
    def activity(request: Request) -> Response:
        """The open sessions of all homes and hosts, in one cheap call.

        Send the ETag of the last answer as If-None-Match: while nothing has changed, the answer is
        304 without content.
        """
        snapshot = desk.activity.current()
        headers = {"etag": snapshot.etag, "cache-control": "no-cache"}
        if matches(request.headers.get("if-none-match"), snapshot.etag):
            return Response(status_code=304, headers=headers)
        return Response(snapshot.body, media_type="application/json", headers=headers)

    @routes.get("/overview", responses=answers())
    def figures() -> overview.Overview:
        """How the ledger does now."""
        return desk.counts.current(desk)

    @routes.get("/history", responses=answers())
    def history(span: Span = "7d") -> overview.History:
        """What was counted over a time, as lines of a few points."""
        return overview.history(desk, min(as_span(span) or timedelta(days=7), timedelta(days=400)))


def _questions(routes: APIRouter, desk: Desk) -> None:
    """A path for each question, by its name."""
    for name, question in QUESTIONS.items():
        answer = partial(_answered, desk, question)
        gives = get_type_hints(question)["return"]
        routes.add_api_route(
            f"/{name}", with_query(question, answer, gives), responses=answers(404, 409)
        )


def _answered(
    desk: Desk, question: Callable[..., Mapping[str, Any]], given: Mapping[str, Any]
) -> Mapping[str, Any]:
    return question(desk.asker, **said_of(question, given))


def matches(header: str | None, etag: str) -> bool:
    """Whether a tag is among those that a client has."""
    if header is None:
        return False
    tags = (each.strip().removeprefix("W/") for each in header.split(","))
    return any(each in (etag, "*") for each in tags)
