"""How does systemd hear that a service is ready, at work, or about to end?"""

from __future__ import annotations

import socket
from collections.abc import MutableMapping
from contextlib import suppress


class Supervisor:
    """Tells whoever started this process how it is doing; without one every word is lost.

    The address is taken out of the environment, so that no program started from here speaks for us.
    """

    def __init__(self, environ: MutableMapping[str, str]) -> None:
        address = environ.pop("NOTIFY_SOCKET", "")
        environ.pop("WATCHDOG_USEC", None)
        environ.pop("WATCHDOG_PID", None)
        # A name that begins with @ is in the kernel's own place for names.
        self._address = f"\0{address[1:]}" if address.startswith("@") else address

    def ready(self) -> None:
        """It has begun its work."""
        self._tell("READY=1\nWATCHDOG=1")

    def alive(self, words: str = "") -> None:
        """It goes on; what it last did, in a few words."""
        line = " ".join(words.split())
        self._tell(f"WATCHDOG=1\nSTATUS={line}" if line else "WATCHDOG=1")

    def stopping(self) -> None:
        """It was asked to end and does so."""
        self._tell("STOPPING=1")

    def _tell(self, text: str) -> None:
        if not self._address:
            return
        # Whoever does not listen any more is not a reason to stop working.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as teller:
            teller.connect(self._address)
            teller.send(text.encode())
