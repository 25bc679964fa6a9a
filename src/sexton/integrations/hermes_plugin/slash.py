"""What does `/sexton` say?"""

from __future__ import annotations

from sexton.integrations.hermes_plugin.background import Background
from sexton.integrations.hermes_plugin.guests import Guests
from sexton.integrations.hermes_plugin.trying import Trying
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
        for id in self._guests:
            running = len(self._background.running(id))
            lines.append(f"session {id}: held, {running} background processes")
        if self._trying.trouble:
            lines.append(f"trouble: {self._trying.trouble}")
        lines.append("'sexton why ID' in a shell says more; /sexton processes lists what runs")
        return lines

    def _processes(self) -> list[str]:
        return [
            f"{each.process.name}  {each.doing}  {each.process.shown}"
            for id in self._guests
            for each in self._background.running(id)
        ]
