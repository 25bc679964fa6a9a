"""A site that a test serves, and a client that sends exactly what it is told to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.web.access.addresses import address_of
from sexton.web.desk import Desk
from sexton.web.web_serving import Site, desk_for, listening
from sexton.wiring import Sexton

HOST = "127.0.0.1"
PATIENCE = 240.0


@dataclass(frozen=True)
class Reply:
    """What the server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Served:
    """A site that runs, and how to ask it."""

    house: Sexton
    desk: Desk
    port: int
    token: str

    @property
    def cookie(self) -> str:
        """A cookie as a browser has it that was let in."""
        return f"{self.desk.keys.address.cookie}={self.desk.keys.cookies.make()}"

    @property
    def origin(self) -> str:
        return f"http://{HOST}:{self.port}"

    def ask(
        self, path: str, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> Reply:
        """Send a request with these headers and no others but Host, which may be one of them."""
        connection = HTTPConnection(HOST, self.port, timeout=PATIENCE)
        try:
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, names, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Reply:
        """Ask as a program that has the token."""
        return self.ask(path, "GET", None, Authorization=f"Bearer {self.token}", **headers)

    def post(self, path: str, said: Any, **headers: str) -> Reply:
        """Send JSON as a program that has the token."""
        usual = {"Authorization": f"Bearer {self.token}", "Content_Type": "application/json"}
        return self.ask(path, "POST", json.dumps(said).encode(), **(usual | headers))

    def talk(self, key: str, *words: str, source: str = "telegram") -> str:
        """A session with messages that nobody holds any more; its id."""
        with self.house.worker() as worker:
            session = worker.session(key, source=source)
            for text in words:
                session.append(role="user", content=text)
            return session.id


@contextmanager
def serving(
    url: str,
    place: Path,
    clock: ManualClock | None = None,
    settings: Settings | None = None,
    certificate: Path | None = None,
) -> Iterator[Served]:
    """A site of the ledger at a URL, until the test is over; a certificate's file has its key."""
    with Sexton(open_ledger(url), settings or Settings(), clock=clock) as house:
        opened = listening(HOST, 0)
        port = opened.getsockname()[1]
        address = address_of(HOST, port, tls=certificate is not None, public_url=None)
        desk = desk_for(house, address, {}, place / "data" / "token", keeping=False)
        site = Site(desk, opened, (certificate, certificate) if certificate else None)
        site.start()
        try:
            token = (place / "data" / "token").read_text().strip()
            yield Served(house, desk, port, token)
        finally:
            site.stop()
