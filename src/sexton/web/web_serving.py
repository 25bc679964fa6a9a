"""How is a site served from this process, and how does it stop?"""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import uvicorn

from sexton.core.troubles import Troubles
from sexton.errors import AddressRefused, AddressTaken, InputInvalid, SiteEnded
from sexton.operations.asker import Asker
from sexton.web.access.access_keys import Keys
from sexton.web.access.addresses import Address
from sexton.web.access.connections import Connection
from sexton.web.access.door import Door
from sexton.web.access.token import find_token
from sexton.web.answers.activity import Activity
from sexton.web.answers.overview_answers import Counts
from sexton.web.app import create_app
from sexton.web.desk import Desk
from sexton.web.events import News
from sexton.web.lookout import Lookout
from sexton.web.next_sweep import NextSweep
from sexton.web.proposals import Proposals
from sexton.web.rendering import Templates
from sexton.wiring import Sexton

ENDING = 5
"""Seconds for what is being answered when the server stops."""


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; AddressTaken if somebody else does."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        opened = Door(family, kind, protocol)
    except OSError as problem:
        raise AddressRefused(f"nobody can listen on {host}: {problem}") from None
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(place)
        opened.listen(128)
    except OSError as problem:
        opened.close()
        if problem.errno == errno.EADDRINUSE:
            raise AddressTaken(f"port {port} of {host} is taken by another program") from None
        raise AddressRefused(
            f"nobody can listen on {host} port {port}: {problem.strerror}",
            hint="Choose another address or port with --host and --port.",
        ) from None
    return opened


class Site:
    """A site that is served in a thread of this process."""

    def __init__(
        self,
        desk: Desk,
        opened: socket.socket,
        tls: tuple[Path, Path] | None = None,
        on_end: Callable[[], object] = lambda: None,
    ) -> None:
        """`on_end` is called, in the site's thread, if the site ends without being asked to."""
        self._desk = desk
        config = uvicorn.Config(
            create_app(desk),
            http=Connection,
            loop="asyncio",  # others would not ask the door
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=ENDING,
            h11_max_incomplete_event_size=64 * 1024,
            ssl_certfile=str(tls[0]) if tls else None,
            ssl_keyfile=str(tls[1]) if tls else None,
        )
        try:
            config.load()
        except OSError as problem:
            raise InputInvalid(
                f"the TLS certificate or its key can not be used: {problem}",
                hint="Name a certificate and its unencrypted key, both in PEM form.",
            ) from None
        self._server = uvicorn.Server(config)
        self._socket = opened
        self._on_end = on_end
        self._troubles = Troubles("sexton.web", level="error", traced=True)
        self.failure: SiteEnded | None = None
        self._thread = threading.Thread(target=self._run, name="sexton-web", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._desk.lookout.start()
        self._thread.start()

    def stop(self) -> None:
        """Finish what is being answered, and end."""
        self._desk.news.stop()
        self._desk.lookout.stop()
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        try:
            self._server.run(sockets=[self._socket])
        except (Exception, SystemExit) as trouble:  # noqa: BLE001  # uvicorn raises both
            self._troubles("site", "the dashboard can not be served any more", trouble)
        if not self._server.should_exit:
            self.failure = SiteEnded("the dashboard's server ended without being asked to")
            self._on_end()


def desk_for(
    house: Sexton, address: Address, environ: Mapping[str, str], token_file: Path, keeping: bool
) -> Desk:
    """What the site of a house works with."""
    keys = Keys(find_token(environ, token_file), address, house.clock)
    lookout = Lookout(house)
    activity = Activity(house, lookout)
    return Desk(
        house=house,
        asker=Asker(house=house, watch=lookout.watch, known=lookout.estate),
        keys=keys,
        templates=Templates(),
        lookout=lookout,
        activity=activity,
        counts=Counts(),
        news=News(house, activity),
        proposals=Proposals(house.clock),
        next_sweep=NextSweep(house),
        is_keeping=keeping,
        shows_messages=house.content.is_shown,
    )
