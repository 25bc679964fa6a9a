"""By which names a server may be called."""

from __future__ import annotations

import socket

from sexton.web.access.addresses import address_of


def test_a_server_that_listens_everywhere_answers_to_the_name_in_its_link() -> None:
    everywhere = address_of("0.0.0.0", 8780, tls=True, public_url=None)
    assert everywhere.base == f"https://{socket.gethostname().lower()}:8780"
    assert everywhere.base.removeprefix("https://") in everywhere.hosts
    assert everywhere.base in everywhere.origins
