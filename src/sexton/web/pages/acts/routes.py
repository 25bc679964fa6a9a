"""At which path is what asked for? A GET shows what would be done, a POST does it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from sexton.web.desk import Desk
from sexton.web.pages import planning
from sexton.web.pages.acts import processes, sessions, undoing, work
from sexton.web.pages.deeds import Deeds
from sexton.web.pages.forms import form, whole

Given = Annotated[dict[str, str], Depends(form)]


def router(desk: Desk, deeds: Deeds) -> APIRouter:
    """Everything that can be asked for."""
    routes = APIRouter(include_in_schema=False)
    _plans(routes, desk, deeds)
    _sessions(routes, desk, deeds)
    _processes(routes, desk, deeds)
    return routes


def _plans(routes: APIRouter, desk: Desk, deeds: Deeds) -> None:
    @routes.post("/apply")
    def apply(given: Given) -> Response:
        return planning.applied(desk, deeds, given.get("digest", ""))

    @routes.get("/act/undo")
    def ask_undo(receipt: str) -> Response:
        return undoing.undoing(desk, receipt)

    @routes.post("/act/undo")
    def undo(given: Given) -> Response:
        return undoing.undone(desk, deeds, given.get("receipt", ""))

    @routes.get("/act/retry")
    def ask_retry(ref: int | None = None) -> Response:
        return work.retrying(desk, ref)

    @routes.post("/act/retry")
    def retry(given: Given) -> Response:
        return work.retry(desk, deeds, whole(given, "ref") if given.get("ref") else None)


def _sessions(routes: APIRouter, desk: Desk, deeds: Deeds) -> None:
    @routes.get("/act/end")
    def ask_end(home: str, id: str) -> Response:
        return sessions.ending(desk, home, id)

    @routes.get("/act/pin")
    def ask_pin(home: str, id: str) -> Response:
        return sessions.pinning(desk, home, id, pinned=True)

    @routes.get("/act/unpin")
    def ask_unpin(home: str, id: str) -> Response:
        return sessions.pinning(desk, home, id, pinned=False)

    @routes.post("/act/pin")
    def pin(given: Given) -> Response:
        return sessions.pin(desk, deeds, given["home"], given["id"], pinned=True)

    @routes.post("/act/unpin")
    def unpin(given: Given) -> Response:
        return sessions.pin(desk, deeds, given["home"], given["id"], pinned=False)

    @routes.get("/act/restore")
    def ask_restore(home: str, id: str) -> Response:
        return sessions.restoring(desk, home, id)

    @routes.post("/act/restore")
    def restore(given: Given) -> Response:
        return sessions.restore(desk, deeds, given["home"], given["id"])


def _processes(routes: APIRouter, desk: Desk, deeds: Deeds) -> None:
    @routes.get("/act/stop")
    def ask_stop(ref: int) -> Response:
        return processes.stopping(desk, ref)

    @routes.post("/act/stop")
    def stop(given: Given) -> Response:
        return processes.stop(desk, deeds, whole(given, "ref"), given.get("command", ""))

    @routes.get("/act/keep")
    def ask_keep(ref: int) -> Response:
        return processes.keeping(desk, ref, kept=True)

    @routes.get("/act/release")
    def ask_release(ref: int) -> Response:
        return processes.keeping(desk, ref, kept=False)

    @routes.post("/act/keep")
    def keep(given: Given) -> Response:
        return processes.keep(desk, deeds, whole(given, "ref"), kept=True)

    @routes.post("/act/release")
    def release(given: Given) -> Response:
        return processes.keep(desk, deeds, whole(given, "ref"), kept=False)
