"""How does a browser get in without typing a token? By a link that works once."""

from __future__ import annotations

import hashlib
import secrets
import threading
from datetime import timedelta

from sexton.core.machine_ports import Clock

VALID = timedelta(hours=1)
MOST = 100
"""Links that nobody has followed yet; of more the oldest is forgotten."""


class OneTimeLinks:
    """Codes that open the page once, and not for long; only their digests are kept."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[str, float] = {}

    def issue(self) -> str:
        """A new code."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            while len(self._waiting) >= MOST:
                self._waiting.pop(next(iter(self._waiting)))
            self._waiting[_digest(code)] = self._clock.elapsed()
        return code

    def redeem(self, code: str) -> bool:
        """Whether the code was waiting; from then on it does not."""
        with self._lock:
            issued = self._waiting.pop(_digest(code), None)
        return issued is not None and self._clock.elapsed() - issued <= VALID.total_seconds()


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()
