"""How does an MCP client reach the answers? Over standard input and output."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any

from sexton.errors import ExtraMissing, SextonError
from sexton.integrations.mcp.answers import Answers

INSTRUCTIONS = (
    "Sexton looks after the sessions and background processes of agents. Ask what of yours still "
    "runs before you start it again, why a session is not reset, and how your budget stands."
)
_PLACES = (("mcp.server.mcpserver", "MCPServer"), ("mcp.server.fastmcp", "FastMCP"))
"""What version 2 calls its server, and version 1."""


def serve(answers: Answers) -> None:
    """Answer until the client goes away."""
    server, failure = _library()
    _say_nothing()
    made = server("sexton", instructions=INSTRUCTIONS)
    for tool in (
        answers.my_sessions,
        answers.why,
        answers.my_processes,
        answers.my_budget,
        *answers.more(),
    ):
        words = " ".join((tool.__doc__ or "").split())
        made.add_tool(_told(tool, failure), description=words)
    made.run("stdio")
    if sys.stdout.closed:  # version 1 takes it along when it ends
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # it ends with this process


def _library() -> tuple[Any, type[Exception]]:
    for place, name in _PLACES:
        try:
            found = import_module(place)
        except ModuleNotFoundError:
            continue
        return getattr(found, name), import_module(f"{place}.exceptions").ToolError
    raise ExtraMissing(
        "the MCP library is not installed", hint="Install it with: pip install 'sexton[mcp]'"
    )


def _say_nothing() -> None:
    """Keep the library's own log to itself: it quotes what a caller asked, who is told anyway."""
    log = logging.getLogger("mcp")
    log.addHandler(logging.NullHandler())
    log.propagate = False


def _told(tool: Callable[..., dict[str, Any]], failure: type[Exception]) -> Callable[..., Any]:
    """The tool, with trouble told in words an agent can act on."""

    @wraps(tool)
    def answered(**given: Any) -> dict[str, Any]:
        try:
            return tool(**given)
        except SextonError as trouble:
            raise failure(f"{trouble}. {trouble.hint or ''}".strip()) from None

    return answered
