"""How does a browser show that it was let in before? By a signed cookie."""

from __future__ import annotations

import hmac
import secrets
import threading
from datetime import UTC, datetime, timedelta

from sexton.core.machine_ports import Clock
from sexton.web.access.token import Token

LASTS = timedelta(days=7)
_PURPOSE = "cookie"


class Cookies:
    """Cookies that outlive the server, but not a change of the token.

    One that was given back is refused for as long as this server runs.
    """

    def __init__(self, token: Token, clock: Clock) -> None:
        self._token = token
        self._clock = clock
        self._lock = threading.Lock()
        self._given_back: dict[str, datetime] = {}

    def make(self) -> str:
        """The value of a new cookie."""
        until = int((self._clock.now() + LASTS).timestamp())
        body = f"{until}.{secrets.token_urlsafe(16)}"
        return f"{body}.{self._token.sign(_PURPOSE, body)}"

    def is_valid(self, value: str) -> bool:
        """Whether we made it, and it is neither over nor given back."""
        body, _, signature = value.rpartition(".")
        expected = self._token.sign(_PURPOSE, body)
        if not hmac.compare_digest(signature.encode("utf-8", "replace"), expected.encode()):
            return False
        until = datetime.fromtimestamp(int(body.partition(".")[0]), UTC)
        with self._lock:
            return self._clock.now() < until and body not in self._given_back

    def give_back(self, value: str) -> None:
        """Let the cookie open nothing any more."""
        if not self.is_valid(value):
            return
        now, (body, _, _) = self._clock.now(), value.rpartition(".")
        with self._lock:
            self._given_back = {
                each: until for each, until in self._given_back.items() if until > now
            } | {body: now + LASTS}
