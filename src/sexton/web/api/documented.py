"""Which answers does the API document?"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from sexton.version import __version__
from sexton.web.web_problems import MEDIA_TYPE, title_of

_PROBLEM = {
    "type": "object",
    "title": "Problem",
    "description": "What is wrong, in the form of RFC 9457.",
    "required": ["type", "title", "status", "detail", "hint"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "hint": {"type": "string"},
        "error": {"type": "string"},
        "wrong": {"type": "array", "items": {"type": "object"}},
    },
}
_REFUSALS = (400, 401, 403)
_ABOUT = (
    "What Sexton knows about the sessions of long-running AI agents, and what can be done about "
    "them. Pages are asked for by `after`, the `next` of the page before; `next` is null at the "
    "end. What is wrong is said as application/problem+json."
)


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems a path may answer with, beside those that any path has."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        status: {"description": title_of(status), "content": content}
        for status in (*_REFUSALS, *statuses, 422, 503)
    }


def document(app: FastAPI) -> None:
    """Let the app describe itself with the token it wants and the problems it tells."""

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title="Sexton", version=__version__, description=_ABOUT, routes=app.routes
            )
            parts = schema.setdefault("components", {})
            parts.setdefault("schemas", {})["Problem"] = _PROBLEM
            parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            schema["security"] = [{"token": []}]
            schema["paths"]["/healthz"]["get"]["security"] = []
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = described  # type: ignore[method-assign]  # the way FastAPI provides for it
