"""How many may be connected? So many that files stay free for the keeper in the same process."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 256
SOON = 15.0
"""Seconds within which somebody who has connected asks for something."""


class Connection(H11Protocol):
    """One that is closed if there are too many, or if nothing is asked for."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        if len(self.connections) > MOST:
            transport.close()
        self.loop.call_later(SOON, self._ask_or_go)

    def _ask_or_go(self) -> None:
        if self.cycle is None:
            self.transport.close()  # type: ignore[unreachable]  # nothing until it is asked
