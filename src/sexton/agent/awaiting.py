"""How does an agent that runs on asyncio use a turn? Each call waits in a thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any


class Awaited:
    """A turn, a grant or a tool call whose methods are awaited; the event loop goes on meanwhile.

    `tool` is the exception: it only names a call, which `async with` then makes.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        method = getattr(self._inner, name)

        async def call(*given: Any, **named: Any) -> Any:
            result = await asyncio.to_thread(method, *given, **named)
            return Awaited(result) if name == "reserve" else result

        return call

    def tool(self, name: str, arguments: object = None) -> Awaited:
        """A tool call, for `async with`."""
        return Awaited(self._inner.tool(name, arguments))

    async def __aenter__(self) -> Awaited:
        await asyncio.to_thread(self._inner.__enter__)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Also when the task was cancelled: what was begun has to be given back.
        await asyncio.shield(asyncio.to_thread(self._inner.__exit__, kind, error, trace))
