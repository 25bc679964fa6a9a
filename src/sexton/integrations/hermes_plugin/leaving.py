"""Tells people that something still runs, before they leave the session that has started it.

In a chat the words go out before Hermes asks whether to begin anew, and if it does not ask, before
it does so. On a terminal they are shown above the question. Hermes has no hook for either moment:
its registry of gateway hooks and its class for the terminal are asked for, and where they are not
as expected the session is left without a word, which the log then has.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import Any

from sexton.integrations.hermes_plugin.plugin_background import Background
from sexton.integrations.hermes_plugin.trying import log

COMMANDS = ("new", "reset")
"""What begins a new session in a chat; on a terminal `clear` does so, too."""
ON_TERMINAL = (*COMMANDS, "clear")
LONGEST_WAIT = 10.0
"""Seconds after which a chat that takes no message is left without the words."""

asking: ContextVar[str] = ContextVar("sexton_asking", default="")
"""The key of the conversation whose message the gateway deals with in this task."""
_warned: ContextVar[asyncio.Task[None] | None] = ContextVar("sexton_warned", default=None)


class Leaving:
    """Warns whoever is about to leave a session."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._told: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def was_told(self, session_id: str) -> bool:
        """Whether whoever leaves a session was warned already."""
        return session_id in self._told

    def dispatched(self, event: Any = None, gateway: Any = None, **_: Any) -> None:
        """A message has come to the gateway: remember whose, and warn if it begins anew."""
        try:
            source = event.source
            key = str(gateway._session_key_for_source(source))
            wanted = event.get_command() in COMMANDS and gateway._is_user_authorized(source)
            adapter = gateway._adapter_for_source(source)
            place = gateway._thread_metadata_for_source(source, None)
        except (AttributeError, TypeError, ValueError) as surprise:
            log.debug("this gateway is not as expected: %s", surprise)
            return
        asking.set(key)
        _warned.set(None)
        if wanted and adapter is not None:
            task = asyncio.get_running_loop().create_task(
                self._warn(key, adapter, source.chat_id, place)
            )
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            _warned.set(task)
            self._wait_before(gateway)

    def on_terminal(self) -> None:
        """See that the terminal shows the words above its question, if this process has one."""
        module = sys.modules.get("cli")
        asks = getattr(getattr(module, "HermesCLI", None), "_confirm_destructive_slash", None)
        if asks is not None and not hasattr(asks, "_sexton"):
            module.HermesCLI._confirm_destructive_slash = self._showing(asks)  # type: ignore[union-attr]

    async def _warn(self, key: str, adapter: Any, chat: str, place: Any) -> None:
        words = await asyncio.to_thread(
            lambda: self._background.warning(self._background.of_key(key))
        )
        if words:
            log.warning("%s", words)
            await adapter.send(chat, words, metadata=place)

    def _wait_before(self, gateway: Any) -> None:
        """Let the words arrive before Hermes deals with the command, if it has such hooks."""
        handlers = getattr(getattr(gateway, "hooks", None), "_handlers", None)
        if isinstance(handlers, dict):
            waiting = handlers.setdefault("command:new", [])
            if _wait not in waiting:
                waiting.append(_wait)

    def _showing(self, asks: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(asks)
        def ask(cli: Any, command: str = "", *rest: Any, **named: Any) -> Any:
            id = str(getattr(cli, "session_id", "") or "")
            if command in ON_TERMINAL:
                words = self._background.warning(self._background.of_conversation(id))
                if words:
                    self._told.add(id)
                    sys.stdout.write(f"{words}\n")
            return asks(cli, command, *rest, **named)

        ask._sexton = True  # type: ignore[attr-defined]
        return ask


async def _wait(_event: str, _context: Any) -> None:
    """Give the words of this task's message their time."""
    task = _warned.get()
    if task is not None:
        await asyncio.wait({task}, timeout=LONGEST_WAIT)
