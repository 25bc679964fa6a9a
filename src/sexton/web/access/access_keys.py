"""Everything by which somebody shows that they may ask."""

from __future__ import annotations

from sexton.core.machine_ports import Clock
from sexton.web.access.addresses import Address
from sexton.web.access.attempts import Attempts
from sexton.web.access.cookies import Cookies
from sexton.web.access.links import OneTimeLinks
from sexton.web.access.token import Token


class Keys:
    """The token, the links and the cookies of one server."""

    def __init__(self, token: Token, address: Address, clock: Clock) -> None:
        self.token = token
        self.address = address
        self.links = OneTimeLinks(clock)
        self.cookies = Cookies(token, clock)
        self.attempts = Attempts(clock)

    def new_link(self) -> str:
        """A link that opens the page once."""
        return f"{self.address.base}/login?code={self.links.issue()}"
