"""Which background processes has this Hermes started, and what do they do?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

from sexton.agent.visiting import GuestSession
from sexton.errors import InputInvalid, ProcessNotFound
from sexton.integrations.hermes_plugin.guests import Guests
from sexton.integrations.hermes_plugin.trying import Trying
from sexton.model.process import Doing, Watched

CONVERSATION = "agent:"
"""How the keys of a gateway's conversations begin."""
GONE = (Doing.DEAD, Doing.ZOMBIE, Doing.FOREIGN)

SCHEMA = {
    "name": "sexton_processes",
    "description": (
        "List every background process of this Hermes process's sessions that is really running, "
        "with what it does now: working, idle or listening on which ports. Use it before you "
        "start a server again, before /new, and when asked what still runs."
    ),
    "parameters": {"type": "object", "properties": {}, "required": []},
}


class Background:
    """Registers what Hermes starts, and tells the truth about it."""

    def __init__(self, guests: Guests, trying: Trying) -> None:
        self._guests = guests
        self._trying = trying
        self._known: set[str] = set()

    def register(self, session_id: str) -> None:
        """Make what Hermes has started since the last call its session's, by default this one's.

        Several conversations of a gateway may be at it at once: Hermes says whose key it was.
        """
        for name, pid, key in _started():
            guest = self._guests.whose(key) or self._guests.get(session_id)
            if name in self._known or guest is None or _is_of_others(key, guest):
                continue
            if self._trying(lambda guest=guest, pid=pid: _adopted(guest, pid), False):  # type: ignore[misc]
                self._known.add(name)

    def running(self, session_id: str) -> list[Watched]:
        """The processes of a session that are there."""
        guest = self._guests.get(session_id)
        if guest is None:
            return []
        nothing: Sequence[Watched] = ()
        found = self._trying(guest.processes, nothing)
        return [each for each in found if each.doing not in GONE]

    def tell(self, _args: Any = None, **_: Any) -> str:
        """The tool: what runs, of every session this process holds."""
        found = [self._shape(id, each) for id in self._guests for each in self.running(id)]
        told: dict[str, Any] = {"processes": found, "count": len(found)}
        if self._trying.trouble:
            told["incomplete"] = self._trying.trouble
        return json.dumps(told, ensure_ascii=False)

    def _shape(self, session_id: str, each: Watched) -> dict[str, Any]:
        return {
            "session": session_id,
            "pid": each.process.identity.pid,
            "command": each.process.shown,
            "cwd": each.process.cwd,
            "started_at": each.process.started_at.isoformat(),
            "doing": each.doing.value,
            "because": each.because,
            "ports": list(each.figures.ports),
        }


def warning(running: list[Watched]) -> str | None:
    """What to say to somebody who leaves a session while something of it runs."""
    if not running:
        return None
    names = "; ".join(f"{each.process.name}: {each.process.program}" for each in running)
    count = f"{len(running)} background process" + ("es" if len(running) > 1 else "")
    return (
        f"sexton: {count} of the session you leave still run: {names}. "
        "'sexton processes list' shows them, 'sexton processes stop PID' ends one."
    )


def _started() -> Iterator[tuple[str, int, str]]:
    """What Hermes runs on this machine, by its own name, with pid and key of its session.

    The pids of others are numbers of a sandbox.
    """
    registry = import_module("tools.process_registry").process_registry
    for entry in registry.list_sessions():
        session = registry.get(entry["session_id"])
        if session is not None and not session.exited and session.pid_scope == "host":
            pid = session.pid
            if type(pid) is int and pid > 0:
                yield str(entry["session_id"]), pid, str(session.session_key or "")


def _is_of_others(key: str, guest: GuestSession) -> bool:
    """Whether it belongs to a conversation that is not held here; other keys may be anything."""
    return key.startswith(CONVERSATION) and key != guest.key


def _adopted(guest: GuestSession, pid: int) -> bool:
    with suppress(ProcessNotFound, InputInvalid):  # it is gone already, or nobody's
        guest.register_process(pid)
    return True
