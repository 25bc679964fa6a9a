"""What is there beside sessions?"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sexton.finalizers.model import FinalizationState
from sexton.retention.vault_ports import VaultKind
from sexton.web.answers import overview_answers as overview
from sexton.web.answers import settings_answers as settings
from sexton.web.answers import things_answers as things
from sexton.web.answers.activity import AllActive
from sexton.web.api.documented import answers
from sexton.web.api.inputs import Limit, Ref, Span, Text, as_span
from sexton.web.desk import Desk


def router(desk: Desk) -> APIRouter:
    """The questions about everything else."""
    routes = APIRouter(prefix="/v1", tags=["ledger"])
    _now(routes, desk)
    _lists(routes, desk)
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

    @routes.get("/settings", responses=answers())
    def say_settings() -> settings.SettingsInForce:
        """The settings, and what in them has no effect."""
        return settings.settings(desk)

    @routes.get("/homes", responses=answers())
    def homes() -> things.Homes:
        """Where agents keep sessions, and the sources these come from."""
        return things.homes(desk)

    @routes.get("/workers", responses=answers())
    def workers() -> things.Workers:
        """The processes that hold sessions, and the hosts they are on."""
        return things.workers(desk)


def _lists(routes: APIRouter, desk: Desk) -> None:
    @routes.get("/processes", responses=answers())
    def processes(ended: bool = False, after: Ref = None, limit: Limit = 100) -> things.Processes:
        """The background processes of sessions; with `ended` all of the last week, in pages."""
        return things.processes(desk, ended=ended, before=after, limit=limit)

    @routes.get("/finalizers", responses=answers())
    def finalizers(
        state: FinalizationState | None = None,
        finalizer: Text = None,
        after: Ref = None,
        limit: Limit = 50,
    ) -> things.Finalizers:
        """End-of-session work, newest first."""
        return things.finalizers(desk, state, finalizer, after, limit)

    @routes.get("/journal", responses=answers(404, 409))
    def journal(
        session: Text = None, receipt: Text = None, after: Ref = None, limit: Limit = 50
    ) -> things.Journal:
        """What was done, when, by whom and why, newest first."""
        return things.journal(desk, session, receipt, after, limit)

    @routes.get("/vault", responses=answers())
    def vault(
        kind: VaultKind | None = None,
        after: Annotated[int, Query(ge=0, le=2**62)] = 0,
        limit: Limit = 50,
    ) -> things.Vault:
        """What lies in the trash and the archive."""
        return things.vault(desk, kind, after, limit)


def matches(header: str | None, etag: str) -> bool:
    """Whether a tag is among those that a client has."""
    if header is None:
        return False
    tags = (each.strip().removeprefix("W/") for each in header.split(","))
    return any(each in (etag, "*") for each in tags)
