"""At which path is what asked for? A GET shows what would be done, a POST does it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from sexton.web.api.inputs import Ref
from sexton.web.desk import Desk
from sexton.web.pages import planning
from sexton.web.pages.acts import processes_acts as processes
from sexton.web.pages.acts import sessions_acts as sessions
from sexton.web.pages.acts import undoing, work
from sexton.web.pages.asking import Row, Word
from sexton.web.pages.deeds import Deeds
from sexton.web.pages.forms import form, text

Given = Annotated[dict[str, str], Depends(form)]


def router(desk: Desk, deeds: Deeds) -> APIRouter:
    """Everything that can be asked for."""
    routes = APIRouter(include_in_schema=False)
    _plans(routes, desk, deeds)
    _sessions(routes, desk, deeds)
    _processes(routes, desk)
    return routes


def _plans(routes: APIRouter, desk: Desk, deeds: Deeds) -> None:
    @routes.post("/apply")
    def apply(given: Given) -> Response:
        observed = given.get("allow_observed") == "yes"
        return planning.applied(desk, deeds, given.get("digest", ""), observed=observed)

    @routes.get("/act/undo")
    def ask_undo(receipt: Word) -> Response:
        return undoing.undoing(desk, receipt)

    @routes.post("/act/undo")
    def undo(given: Given) -> Response:
        return undoing.undone(desk, deeds, text(given, "receipt"))

    @routes.get("/act/retry")
    def ask_retry(ref: Ref = None) -> Response:
        return work.retrying(desk, ref)


def _sessions(routes: APIRouter, desk: Desk, deeds: Deeds) -> None:
    @routes.get("/act/end")
    def ask_end(home: Word, id: Word, force: bool = False) -> Response:
        return sessions.ending(desk, home, id, force=force)

    @routes.get("/act/pin")
    def ask_pin(home: Word, id: Word) -> Response:
        return sessions.pinning(desk, home, id, pinned=True)

    @routes.get("/act/unpin")
    def ask_unpin(home: Word, id: Word) -> Response:
        return sessions.pinning(desk, home, id, pinned=False)

    @routes.get("/act/restore")
    def ask_restore(home: Word, id: Word) -> Response:
        return sessions.restoring(desk, home, id)

    @routes.post("/act/restore")
    def restore(given: Given) -> Response:
        return sessions.restore(desk, deeds, text(given, "home"), text(given, "id"))


def _processes(routes: APIRouter, desk: Desk) -> None:
    @routes.get("/act/stop")
    def ask_stop(ref: Row) -> Response:
        return processes.stopping(desk, ref)

    @routes.get("/act/keep")
    def ask_keep(ref: Row) -> Response:
        return processes.keeping(desk, ref, kept=True)

    @routes.get("/act/release")
    def ask_release(ref: Row) -> Response:
        return processes.keeping(desk, ref, kept=False)
