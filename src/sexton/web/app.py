"""What is at which path? Joins access, the API, events, metrics and the pages."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Scope

from sexton.errors import SextonError
from sexton.web import pages
from sexton.web import web_problems as problems
from sexton.web.access import login
from sexton.web.access.bodies import Bounded
from sexton.web.access.gate import Asked, Refusal
from sexton.web.access.web_guard import Guard
from sexton.web.api import plans_routes as plans
from sexton.web.api import server_routes as server
from sexton.web.api import sessions_routes as sessions
from sexton.web.api import things_routes as things
from sexton.web.api.documented import document
from sexton.web.desk import Desk

_FOR_PROGRAMS = ("/v1/", "/metrics", "/healthz")


def create_app(desk: Desk) -> ASGIApp:
    """The whole site of one ledger."""
    app = FastAPI(openapi_url="/v1/openapi.json", docs_url=None, redoc_url=None)
    for part in (sessions, things, plans, server):
        app.include_router(part.router(desk))
    app.include_router(login.router(desk.keys, desk.templates))
    app.include_router(pages.router(desk))
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"), name="static")
    document(app)
    _tell_troubles(app, desk)
    return Guard(
        Bounded(app),
        desk.keys,
        lambda found, scope: _refuse(desk, found, scope),
        lambda asked: _unchanged(desk, asked),
    )


def _unchanged(desk: Desk, asked: Asked) -> Response | None:
    """The answer to those who ask all the time whether anything has changed, if nothing has."""
    if asked.path != "/v1/activity" or asked.method != "GET":
        return None
    snapshot, known = desk.activity.peek(), asked.headers.get("if-none-match")
    if snapshot is None or not things.matches(known, snapshot.etag):
        return None
    return Response(status_code=304, headers={"etag": snapshot.etag, "cache-control": "no-cache"})


def _tell_troubles(app: FastAPI, desk: Desk) -> None:
    @app.exception_handler(SextonError)
    def ours(request: Request, trouble: SextonError) -> Response:
        if is_for_programs(request.scope):
            return problems.of_error(trouble)
        status = problems.status_of(trouble)
        return problem_page(desk, status, str(trouble), trouble.hint, type(trouble).__name__)

    @app.exception_handler(RequestValidationError)
    def misunderstood(request: Request, trouble: RequestValidationError) -> Response:
        wrong = [
            {"where": ".".join(map(str, each["loc"])), "what": each["msg"]}
            for each in trouble.errors()
        ]
        if is_for_programs(request.scope):
            return problems.problem(422, "the request is not understood", wrong=wrong)
        return problem_page(desk, 422, "The address or the form is not understood.", "")

    @app.exception_handler(HTTPException)
    def other(request: Request, trouble: HTTPException) -> Response:
        if is_for_programs(request.scope):
            return problems.problem(trouble.status_code, str(trouble.detail))
        return problem_page(desk, trouble.status_code, str(trouble.detail), "")


def is_for_programs(scope: Scope) -> bool:
    """Whether whoever asks gets JSON rather than a page."""
    return str(scope["path"]).startswith(_FOR_PROGRAMS)


def problem_page(desk: Desk, status: int, detail: str, hint: str, error: str = "") -> Response:
    """What a person gets to see when something is wrong; scripts find the name of the error."""
    return desk.templates.page(
        "problem.html",
        status=status,
        title=problems.title_of(status),
        detail=detail,
        hint=hint,
        error=error,
    )


def _refuse(desk: Desk, found: Refusal, scope: Scope) -> Response:
    if is_for_programs(scope):
        return problems.problem(found.status, found.detail)
    if found.status == 401:
        return login.login_page(desk.keys, desk.templates, status=401)
    return problem_page(desk, found.status, found.detail, "")
