"""What does a caller get when something is wrong? A status, a sentence and a hint."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from sexton.errors import (
    HomeError,
    InputInvalid,
    InvalidName,
    LedgerError,
    NoSuchHome,
    NothingToUndo,
    PlanEdited,
    PlanForeign,
    PlanInvalid,
    ProcessNotFound,
    SessionError,
    SessionNotFound,
    SextonError,
    UsageInvalid,
    VaultError,
)

MEDIA_TYPE = "application/problem+json"
_STATUS: tuple[tuple[type[SextonError], int], ...] = (
    (SessionNotFound, 404),
    (ProcessNotFound, 404),
    (NoSuchHome, 404),
    (NothingToUndo, 404),
    (InputInvalid, 422),
    (InvalidName, 422),
    (UsageInvalid, 422),
    (PlanInvalid, 422),
    (PlanEdited, 422),
    (PlanForeign, 422),
    (SessionError, 409),
    (HomeError, 409),
    (VaultError, 409),
    (LedgerError, 503),
)
_TITLES = {
    400: "Bad request",
    401: "Not authenticated",
    403: "Cross-site request",
    404: "Not found",
    405: "Not allowed",
    409: "Conflict",
    413: "Too large",
    422: "Not understood",
    429: "Too many attempts",
    503: "Ledger unavailable",
}


def status_of(trouble: SextonError) -> int:
    """The HTTP status that says what kind of trouble it is."""
    return next((status for kind, status in _STATUS if isinstance(trouble, kind)), 500)


def title_of(status: int) -> str:
    """What a status means, in a few words."""
    return _TITLES.get(status, "Trouble")


def problem(status: int, detail: str, *, hint: str = "", **more: Any) -> Response:
    """An answer in the form of RFC 9457; `more` are members beside the usual ones."""
    said = {
        "type": "about:blank",
        "title": title_of(status),
        "status": status,
        "detail": detail,
        "hint": hint,
        **more,
    }
    headers = {}
    if status == 401:
        headers["www-authenticate"] = 'Bearer realm="sexton"'
    if status == 503:
        headers["retry-after"] = "5"
    content = json.dumps(said).encode()
    return Response(content, status_code=status, media_type=MEDIA_TYPE, headers=headers)


def of_error(trouble: SextonError) -> Response:
    """The answer for an error that a user can understand and mend."""
    return problem(
        status_of(trouble), str(trouble), hint=trouble.hint, error=type(trouble).__name__
    )
