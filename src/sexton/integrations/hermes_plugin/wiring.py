"""Which of Hermes's hooks lead where?"""

from __future__ import annotations

import atexit
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from sexton.core.clock import SystemClock
from sexton.errors import SextonError
from sexton.integrations.hermes_plugin import plugin_background as background
from sexton.integrations.hermes_plugin import slash
from sexton.integrations.hermes_plugin.guests import Guests
from sexton.integrations.hermes_plugin.leaving import Leaving
from sexton.integrations.hermes_plugin.plugin_ending import heed_signals
from sexton.integrations.hermes_plugin.plugin_openings import begin_anew_after_ends
from sexton.integrations.hermes_plugin.plugin_turns import Turns
from sexton.integrations.hermes_plugin.trying import Trying, log, tell
from sexton.sessions.visiting import Visitor
from sexton.spending.policy import SpendRules
from sexton.wiring.choosing_ledger import load_settings
from sexton.wiring.visitor import open_patiently, visit

PATIENCE = 3.0
"""So many seconds an agent waits for a locked ledger, once."""
KIND = "hermes"
SHUTDOWN, GATEWAY = "shutdown", "gateway"


def wire(ctx: Any) -> None:
    """Put a companion of this Hermes process behind its hooks."""
    clock = SystemClock()
    guests = Guests(_come, clock.now)
    trying = Trying(clock, guests.part)
    companion = Companion(guests, Turns(guests, trying, _usual), trying)
    for name, act in companion.hooks().items():
        ctx.register_hook(name, act)
    ctx.register_middleware("llm_execution", companion.turns.around_model)
    ctx.register_tool(
        name="sexton_processes",
        toolset="terminal",
        schema=background.SCHEMA,
        handler=companion.background.tell,
        emoji="⚰️",
    )
    command = slash.Slash(guests, companion.background, trying)
    ctx.register_command("sexton", command, "What Sexton knows of this session", "[processes]")
    atexit.register(companion.settle)
    heed_signals(lambda: bool(list(guests)), companion.settle)


class Companion:
    """What a Hermes process does about its sessions beside working on them."""

    def __init__(self, guests: Guests, turns: Turns, trying: Trying) -> None:
        self.guests = guests
        self.turns = turns
        self.background = background.Background(guests, trying)
        self.leaving = Leaving(self.background)
        self._trying = trying

    def hooks(self) -> dict[str, Any]:
        """What is to be done at which of Hermes's moments."""
        turns = self.turns
        return {
            "pre_llm_call": self.begin,
            "pre_api_request": turns.progress,
            "post_api_request": turns.after_model,
            "pre_tool_call": turns.before_tool,
            "post_tool_call": self.after_tool,
            "transform_tool_result": turns.advised,
            "on_session_end": turns.end,
            "on_session_finalize": self.finalize,
            "on_session_reset": self.look_back,
            "pre_gateway_dispatch": self.leaving.dispatched,
        }

    def begin(self, **told: Any) -> None:
        """A turn begins: by now this process's terminal or server is there, if it has one."""
        self.leaving.on_terminal()
        begin_anew_after_ends()
        self.turns.begin(**told)

    def after_tool(
        self, tool_name: str = "", result: Any = None, session_id: str = "", **told: Any
    ) -> None:
        """A tool was called: it may have started something that goes on."""
        of = session_id or self.turns.session_of(str(told.get("task_id") or ""))
        told["session_id"] = session_id
        self.turns.after_tool(tool_name=tool_name, result=result, **told)
        self.background.register(of, tool_name, result)
        self.turns.progress(**told)

    def finalize(
        self, session_id: str | None = None, platform: str = "", reason: str = "", **_: Any
    ) -> None:
        """A conversation is over: with its process, or because somebody begins another one."""
        if not session_id:
            return
        self.turns.end(session_id)
        if reason == SHUTDOWN and platform != GATEWAY:
            self._trying(lambda: self.guests.settle(session_id), None)
            return
        words = self.background.warning(self.background.running(session_id))
        if words:
            log.warning("%s", words)
            if sys.stdout.isatty() and not self.leaving.was_told(session_id):
                sys.stdout.write(f"{words}\n")

    def look_back(self, **_: Any) -> None:
        """A new conversation has begun: the last one has its end by now."""
        for id in self.guests:
            self._trying(lambda id=id: self.guests.tell(id), None)  # type: ignore[misc]

    def settle(self) -> None:
        """This process ends: so do the sessions that end with it, where Hermes left them open."""
        for id, _ in self.guests.all():
            self.turns.end(id)
            self._trying(lambda id=id: self.guests.settle(id), None)  # type: ignore[misc]
        self.guests.uncounted.close()
        self._trying(self.guests.catch_up, None, rests=False)
        for id, tokens in self.guests.uncounted.left().items():
            tell(f"sexton could not count {tokens} tokens that the session {id} took")
        self._trying(self.guests.leave, None)


def _usual() -> SpendRules:
    """What bounds turns of which the ledger has said nothing yet."""
    try:
        settings = load_settings(None, os.environ)
    except (SextonError, OSError):
        return SpendRules()
    return SpendRules() if settings is None else settings.rulebook.spend


def _come(*, create: bool = True) -> Visitor:
    home = import_module("hermes_constants").get_hermes_home()
    return visit(open_patiently(os.environ, PATIENCE, create=create), Path(home), KIND)
