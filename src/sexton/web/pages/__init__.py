"""The dashboard: which pages are there?"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from sexton.web.desk import Desk


def router(desk: Desk) -> APIRouter:
    """All pages; none of them is part of the API."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/")
    def overview() -> Response:
        return desk.templates.page("overview.html", house=desk.house)

    return routes
