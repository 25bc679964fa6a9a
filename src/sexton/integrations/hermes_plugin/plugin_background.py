"""Which background processes has this Hermes started, and what do they do?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

from sexton.core.session import Session
from sexton.errors import InputInvalid, ProcessNotFound
from sexton.integrations.hermes_plugin.guests import Guests
from sexton.integrations.hermes_plugin.trying import Trying
from sexton.processes.model import Doing, Watched, cut
from sexton.sessions.visiting import GuestSession, Visitor

CONVERSATION = "agent:"
"""How the keys of a gateway's conversations begin."""
TERMINAL = "cli"
SANDBOX = "default"
"""The task that Hermes names for whatever runs in the place that all its sessions share."""
LONGEST = 120
"""So much of a command is told to somebody who leaves."""
GONE = (Doing.DEAD, Doing.ZOMBIE, Doing.FOREIGN)

SCHEMA = {
    "name": "sexton_processes",
    "description": (
        "List every background process of this conversation that is really running, also those "
        "that were started before /new, with what it does now: working, idle or listening on "
        "which ports. Use it before you start a server again, before /new, and when asked what "
        "still runs."
    ),
    "parameters": {"type": "object", "properties": {}, "required": []},
}


class Background:
    """Registers what Hermes starts, and tells the truth about it to whose it is."""

    def __init__(self, guests: Guests, trying: Trying) -> None:
        self._guests = guests
        self._trying = trying
        self._known: set[str] = set()
        self._of_terminal: set[str] = set()
        """The sessions of this process's own terminal, one after another."""

    def register(self, session_id: str, tool: str = "", result: object = None) -> None:
        """Make what Hermes has started since the last call its session's; `tool` was just called.

        Several conversations may be at it at once, and Hermes says whose a process is by its task,
        its key, or in the result of the call that has started it. Its API server uses keys that are
        of no session: what nobody can be said to have started is left to the call that did.
        """
        mine = self._guests.get(session_id)
        is_terminal = mine is not None and is_of_terminal(mine)
        if is_terminal:
            self._of_terminal.add(session_id)
        own = _named(tool, result)
        for name, pid, task, key in _started():
            if name in self._known:
                continue
            guest = self._guests.whose(task) or self._guests.whose(key)
            is_nobodys = not (task or key)
            if name == own or is_nobodys or (is_terminal and not key.startswith(CONVERSATION)):
                guest = guest or mine
            if guest is None:
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

    def of_conversation(self, session_id: str) -> list[Watched]:
        """What runs of a session's conversation, also of sessions that it has left behind."""
        visitor = self._guests.visitor
        session = None if visitor is None else self._trying(lambda: visitor.known(session_id), None)
        if visitor is None or session is None:
            return []
        return self._found(visitor, self._conversation(visitor.root(session)))

    def of_key(self, key: str) -> list[Watched]:
        """What runs of the conversation of a key."""
        if not key:
            return []
        visitor = self._trying(self._guests.come, None)
        return [] if visitor is None else self._found(visitor, lambda each: each.key == key)

    def tell(self, _args: Any = None, session_id: str = "", **_: Any) -> str:
        """The tool: what runs of the conversation that asks, and of no other."""
        asks = session_id or self._only_one()
        running = self.of_conversation(asks) if asks else []
        told: dict[str, Any] = {
            "processes": [self._shape(each, asks) for each in running],
            "count": len(running),
        }
        if self._trying.trouble:
            told["incomplete"] = self._trying.trouble
        return json.dumps(told, ensure_ascii=False)

    def warning(self, running: Sequence[Watched]) -> str | None:
        """What to say to somebody who leaves a session while something of it runs."""
        visitor = self._guests.visitor
        if not running or visitor is None:
            return None
        runs = [
            f"{each.process.name}: {self._trying(partial(visitor.leaf, each.process), '?')}"
            for each in running
        ]
        return warning(runs)

    def _conversation(self, root: Session) -> Callable[[Session], bool]:
        """Which sessions are of the same conversation as one that is nobody's subagent."""
        if root.key:
            return lambda each: each.key == root.key
        ids = {root.id} | (self._of_terminal if root.source == TERMINAL else set())
        return lambda each: each.id in ids

    def _found(self, visitor: Visitor, is_meant: Callable[[Session], bool]) -> list[Watched]:
        nothing: list[Watched] = []
        found = self._trying(lambda: visitor.running(is_meant), nothing)
        return [each for each in found if each.doing not in GONE]

    def _only_one(self) -> str:
        """The session that is held, if there is no other that might be meant."""
        held = list(self._guests)
        return held[0] if len(held) == 1 else ""

    def _shape(self, each: Watched, asks: str) -> dict[str, Any]:
        process, visitor = each.process, self._guests.visitor
        assert visitor is not None
        return {
            "session": process.session,
            "of_this_session": process.session == asks,
            "pid": process.identity.pid,
            "command": self._trying(lambda: visitor.leaf(process), process.shown),
            "started_as": process.shown,
            "cwd": process.cwd,
            "started_at": process.started_at.isoformat(),
            "doing": each.doing.value,
            "because": each.because,
            "ports": list(each.figures.ports),
        }


def is_of_terminal(guest: GuestSession) -> bool:
    """Whether somebody talks in a session at this process's own terminal."""
    return guest.source == TERMINAL and not guest.key


def warning(runs: Sequence[str]) -> str:
    """What to say to somebody who leaves a session while these processes of it run."""
    names = "; ".join(cut(each, LONGEST) for each in runs)
    count = f"{len(runs)} background process" + ("es" if len(runs) > 1 else "")
    return (
        f"sexton: {count} of the session you leave still run: {names}. "
        "'sexton processes list' shows them, 'sexton processes stop PID' ends one."
    )


def _started() -> Iterator[tuple[str, int, str, str]]:
    """What Hermes runs on this machine, by its own name, with pid, task and key of its session.

    The pids of others are numbers of a sandbox.
    """
    registry = import_module("tools.process_registry").process_registry
    for entry in registry.list_sessions():
        session = registry.get(entry["session_id"])
        if session is not None and not session.exited and session.pid_scope == "host":
            pid, task, key = session.pid, session.task_id or "", session.session_key or ""
            if type(pid) is int and pid > 0:
                yield str(entry["session_id"]), pid, "" if task == SANDBOX else str(task), str(key)


def _named(tool: str, result: object) -> str:
    """The name that Hermes gave the process which a call of its terminal has started.

    Other tools tell of the processes of others.
    """
    if tool != "terminal" or not isinstance(result, str) or '"session_id"' not in result:
        return ""
    try:
        told = json.loads(result)
    except ValueError:
        return ""
    return str(told.get("session_id") or "") if isinstance(told, dict) else ""


def _adopted(guest: GuestSession, pid: int) -> bool:
    with suppress(ProcessNotFound, InputInvalid):  # it is gone already, or nobody's
        guest.register_process(pid)
    return True
