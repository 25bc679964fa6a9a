"""Which session does a client of Hermes's API server go on with?

The server derives the id of a session from how its conversation opens, so one that was ended would
be the only one for ever. Hermes has no hook for that moment: its function is asked for, and where
it is not as expected a client that goes on is told to open another conversation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

from sexton.errors import HomeError
from sexton.integrations.hermes_plugin import plugin_rows as rows

SERVER = "gateway.platforms.api_server"
NAME = "_derive_chat_session_id"


def begin_anew_after_ends() -> None:
    """See that an opening whose session has ended begins another one, if this process serves."""
    module = sys.modules.get(SERVER)
    derive = getattr(module, NAME, None)
    if derive is not None and not hasattr(derive, "_sexton"):
        setattr(module, NAME, _open(derive))


def _open(derive: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(derive)
    def derived(*told: Any, **named: Any) -> Any:
        id = derive(*told, **named)
        try:
            return rows.successor(id)
        except HomeError:  # then the session says itself that it has ended
            return id

    derived._sexton = True  # type: ignore[attr-defined]
    return derived
