"""`sexton serve`: the dashboard and the HTTP API, beside a keeper."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from pathlib import Path

import click

from sexton.bootstrap import Sexton
from sexton.cli.command import Command, shared
from sexton.cli.keep import registered
from sexton.cli.opening import attaching, deciding
from sexton.cli.signals import stopped_by_signals
from sexton.cli.terminal import json_line, say
from sexton.cli.until_stopped import UntilStopped
from sexton.errors import ExtraMissing
from sexton.system.places import data_place
from sexton.system.services.notifying import Supervisor

HOST, PORT = "127.0.0.1", 8780


@click.command(
    "serve",
    cls=Command,
    examples=(
        "sexton serve                         # keep, and show it on http://127.0.0.1:8780",
        "sexton serve --no-keep --port 9000   # only show what others keep",
        "sexton serve --public-url https://sexton.example.org",
    ),
)
@click.option("--host", default=HOST, show_default=True, help="Where to listen.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 is any."
)
@click.option("--no-keep", is_flag=True, help="Only serve; somebody else keeps.")
@click.option("--public-url", metavar="URL", help="Where a reverse proxy shows this server.")
@click.option("--tls-certificate", type=click.Path(path_type=Path), help="In PEM form.")
@click.option("--tls-key", type=click.Path(path_type=Path), help="The certificate's key.")
@click.pass_context
def command(
    ctx: click.Context,
    host: str,
    port: int,
    no_keep: bool,
    public_url: str | None,
    tls_certificate: Path | None,
    tls_key: Path | None,
) -> None:
    """Serve the dashboard and the HTTP API, beside a keeper.

    A link is told that opens the dashboard once; programs send the token as a bearer token. It is
    the one in SEXTON_TOKEN, or else in a file that is made at the first start and that only this
    user can read. SIGTERM and Ctrl-C finish what is being done; the exit code is 0 then.
    """
    try:
        from sexton.web import serving
        from sexton.web.access.addresses import address_of
    except ImportError as missing:
        raise ExtraMissing(
            f"serving needs a package that is not installed: {missing.name}",
            hint="Install it with: pip install 'sexton[web]'",
        ) from None
    if (tls_certificate is None) != (tls_key is None):
        raise click.UsageError("--tls-certificate and --tls-key belong together", ctx)
    tls = None if tls_certificate is None or tls_key is None else (tls_certificate, tls_key)
    address_of(host, port, tls=tls is not None, public_url=public_url)
    options, supervisor = shared(ctx), Supervisor(os.environ)
    stopping = UntilStopped(supervisor)
    with (
        closing(serving.listening(host, port)) as listening,
        stopped_by_signals(stopping.stop),
        (attaching if no_keep else deciding)(options) as opened,
    ):
        bound = listening.getsockname()[1]
        address = address_of(host, bound, tls=tls is not None, public_url=public_url)
        file = Path(data_place(os.environ)) / "token"
        desk = serving.desk_for(opened, address, os.environ, file, not no_keep)
        site = serving.site_of(desk, listening, tls)
        site.start()
        try:
            link = desk.keys.new_link()
            if options.json:
                json_line({"url": address.base, "link": link, "pid": os.getpid()})
            else:
                say(f"serving {address.base}; open it once with {link}")
            sys.stdout.flush()
            supervisor.ready()
            _keep(opened, stopping, supervisor, keeping=not no_keep)
        finally:
            site.stop()


def _keep(opened: Sexton, stopping: UntilStopped, supervisor: Supervisor, *, keeping: bool) -> None:
    """Keep until stopped, or only wait for it."""
    if not keeping:
        stopping.wait(supervisor.alive)
        return
    with registered(opened) as worker, closing(opened.keeper(worker)) as keeper:
        stopping.hand_to(keeper)
        keeper.run(None, supervisor.alive)
