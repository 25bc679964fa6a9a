"""How much may somebody send? What is longer is refused before it fills the memory."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 32 * 1024 * 1024
"""Room for a plan of a hundred thousand actions; a longer one is confirmed by its digest."""


class Bounded:
    """ASGI middleware: hands on what is sent, up to a bound."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        got = 0

        async def receiving() -> Message:
            nonlocal got
            message = await receive()
            got += len(message.get("body", b""))
            if got > MOST_BYTES:
                raise HTTPException(413, f"more than {MOST_BYTES} bytes were sent")
            return message

        await self._app(scope, receiving, send)
