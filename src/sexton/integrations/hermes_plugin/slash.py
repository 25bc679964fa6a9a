"""What does `/sexton` say?"""

from __future__ import annotations

from sexton.integrations.hermes_plugin.guests import Guests
from sexton.integrations.hermes_plugin.leaving import asking
from sexton.integrations.hermes_plugin.plugin_background import Background, is_of_terminal
from sexton.integrations.hermes_plugin.trying import Trying
from sexton.processes.model import Watched
from sexton.sessions.visiting import GuestSession
from sexton.version import __version__

USAGE = "/sexton [status|processes]"


class Slash:
    """The slash command of a Hermes process."""

    def __init__(self, guests: Guests, background: Background, trying: Trying) -> None:
        self._guests = guests
        self._background = background
        self._trying = trying

    def __call__(self, raw: str = "") -> str:
        """The answer to what was typed behind the command."""
        word = (raw or "").strip().lower()
        if word in ("", "status"):
            return "\n".join(self._status())
        if word == "processes":
            return "\n".join(self._processes()) or "no background process runs"
        return f"usage: {USAGE}"

    def _status(self) -> list[str]:
        visitor = self._guests.visitor
        lines = [f"sexton {__version__}"]
        if visitor is None:
            lines.append("no session was used yet")
        else:
            lines.append(f"home {visitor.home.name}, worker {visitor.id[:8]}")
        for id in self._mine():
            running = len(self._background.running(id))
            lines.append(f"session {id}: held, {running} background processes")
        if self._trying.trouble:
            lines.append(f"trouble: {self._trying.trouble}")
        lines.append("'sexton why ID' in a shell says more; /sexton processes lists what runs")
        return lines

    def _processes(self) -> list[str]:
        """What runs of the conversation that asks; on a terminal, of every session it has held."""
        return [
            f"{each.process.name}  {each.doing}  {each.process.shown}"
            for each in self._running().values()
        ]

    def _running(self) -> dict[int, Watched]:
        key = asking.get()
        found = (
            self._background.of_key(key)
            if key
            else [each for id in self._mine() for each in self._background.of_conversation(id)]
        )
        return {each.process.ref: each for each in found}

    def _mine(self) -> list[str]:
        """The sessions held here that may be told of: a gateway tells nobody of another's chat."""
        key = asking.get()
        return [id for id, guest in self._guests.all() if _may_hear(guest, key)]


def _may_hear(guest: GuestSession, key: str) -> bool:
    """Whether the conversation that asks is the session's; without a key a terminal asks."""
    return guest.key == key if key else is_of_terminal(guest)
