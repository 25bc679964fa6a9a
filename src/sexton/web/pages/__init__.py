"""The dashboard: which pages are there?"""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from sexton.web.api.inputs import Ref
from sexton.web.desk import Desk
from sexton.web.pages import finalizers_page as finalizers
from sexton.web.pages import journal_page as journal
from sexton.web.pages import overview_page as overview
from sexton.web.pages import planning, receipts, verb_pages, workers
from sexton.web.pages import processes_page as processes
from sexton.web.pages import session_page as session
from sexton.web.pages import sessions_page as sessions
from sexton.web.pages.asking import Word
from sexton.web.pages.deeds import Deeds
from sexton.web.pages.forms import storable
from sexton.web.pages.glance import Glance
from sexton.web.pages.settings_page import Findings
from sexton.web.pages.vault import Vaults


def router(desk: Desk) -> APIRouter:
    """All pages; none of them is part of the API."""
    routes = APIRouter(include_in_schema=False)
    deeds = Deeds()
    _standing(routes, desk)
    _looking(routes, desk, deeds)
    routes.include_router(verb_pages.router(desk, deeds))
    return routes


def _standing(routes: APIRouter, desk: Desk) -> None:
    """How things stand."""
    glance, findings, vaults = Glance(desk), Findings(desk), Vaults(desk)

    @routes.get("/")
    def first_page() -> Response:
        return overview.overview(desk, glance)

    @routes.get("/settings")
    def settings_page() -> Response:
        return findings.page()

    @routes.get("/vault")
    def vault_page(kind: str | None = None, before: Ref = None) -> Response:
        return vaults.page(kind, before)

    @routes.get("/workers")
    def workers_page() -> Response:
        return workers.workers_page(desk)

    @routes.get("/processes")
    def processes_page() -> Response:
        return processes.processes_page(desk)


def _looking(routes: APIRouter, desk: Desk, deeds: Deeds) -> None:
    """One thing, or a list of things."""

    @routes.get("/sessions")
    def sessions_page(request: Request) -> Response:
        return sessions.sessions(desk, sessions.asked_by(request.query_params))

    @routes.get("/session")
    def session_page(home: Word, id: Word, messages: Ref = None) -> Response:
        return session.session(desk, home, id, messages)

    @routes.get("/finalizers")
    def finalizers_page(
        state: str | None = None, finalizer: str | None = None, after: Ref = None
    ) -> Response:
        return finalizers.finalizers_page(desk, state, storable(finalizer or ""), after)

    @routes.get("/journal")
    def journal_page(before: Ref = None) -> Response:
        return journal.journal_page(desk, before)

    @routes.get("/receipt")
    def receipt_page(id: Word, before: Ref = None) -> Response:
        return receipts.receipt(desk, deeds, id, before)

    @routes.get("/plan")
    def plan_page(what: str = "due", home: str | None = None, id: str | None = None) -> Response:
        return planning.planned(desk, what, storable(home or ""), storable(id or ""))
