"""What stands before every path: the gate, and headers that bound what a page may do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sexton.web.access.access_keys import Keys
from sexton.web.access.gate import Asked, Refusal, refusal

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with none at all, forms name no origin
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}

_RAW = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_PRIVATE = (b"cache-control", b"no-store")

Refusing = Callable[[Refusal, Scope], Response]
Shortcut = Callable[[Asked], Response | None]


class Guard:
    """ASGI middleware: lets in whom the gate lets in.

    A `shortcut` may answer what was let in without going further: the cheap answer to what is
    asked very often.
    """

    def __init__(self, app: ASGIApp, keys: Keys, refuse: Refusing, shortcut: Shortcut) -> None:
        self._app = app
        self._keys = keys
        self._refuse = refuse
        self._shortcut = shortcut

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = _asked(scope)
        found = refusal(asked, self._keys)
        if found is not None:
            answer: Response | None = self._refuse(found, scope)
        else:
            answer = self._shortcut(asked)
        sending = _with_headers(send, is_private=not asked.path.startswith("/static/"))
        if answer is None:
            await self._app(scope, receive, sending)
        else:
            await answer(scope, receive, sending)


def _asked(scope: Scope) -> Asked:
    headers: dict[str, str] = {}
    repeated = set()
    for raw, value in scope["headers"]:  # uvicorn gives names in lower case
        name = raw.decode("latin-1")
        if name in headers:
            repeated.add(name)
        headers[name] = value.decode("latin-1")
    return Asked(scope["method"], scope["path"], headers, frozenset(repeated))


def _with_headers(send: Send, *, is_private: bool) -> Callable[[Any], Awaitable[None]]:
    """Adds what an answer does not say itself; done for every request, so in the rawest way."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            said = message.setdefault("headers", [])
            names = {name for name, _ in said}
            usual = [*_RAW, _PRIVATE] if is_private else _RAW
            message["headers"] = [*said, *(each for each in usual if each[0] not in names)]
        await send(message)

    return sending
