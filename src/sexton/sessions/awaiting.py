"""How does an agent that runs on asyncio use a turn? Each call waits in a thread of its own.

A thread can not be stopped: whoever is cancelled waits until it is done, and gives back what it
brought, or nobody would ever do so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from functools import partial
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
            if name != "reserve":
                return await _done(partial(method, *given, **named))
            return Awaited(await _done(partial(method, *given, **named), lambda got: got.release()))

        return call

    def tool(self, name: str, arguments: object = None) -> Awaited:
        """A tool call, for `async with`."""
        return Awaited(self._inner.tool(name, arguments))

    async def __aenter__(self) -> Awaited:
        cancelled = asyncio.CancelledError()
        await _done(
            self._inner.__enter__,
            lambda entered: entered.__exit__(type(cancelled), cancelled, None),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await _done(partial(self._inner.__exit__, kind, error, trace))


async def _done(call: Callable[[], Any], undo: Callable[[Any], object] | None = None) -> Any:
    """What a call in a thread returns; if this is cancelled meanwhile, it is undone first."""
    running = _started(call)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await _over(running)
        if undo is not None and running.exception() is None:
            await _over(_started(partial(undo, running.result())))
        raise


def _started(call: Callable[[], Any]) -> asyncio.Future[Any]:
    """A future rather than a task: a loop that shuts down cancels all tasks, these too."""
    return asyncio.get_running_loop().run_in_executor(None, copy_context().run, call)


async def _over(running: asyncio.Future[Any]) -> None:
    """Wait for a thread, however often this is cancelled meanwhile."""
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError:
            continue
    running.exception()  # looked at: whoever is cancelled is told of nothing else
