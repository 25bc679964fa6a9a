"""`sexton serve`: the dashboard and the HTTP API, beside a keeper."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from sexton.cli.arguments import named
from sexton.cli.cli_opening import attaching, chosen_settings, deciding
from sexton.cli.command import Command, shared
from sexton.cli.keep_command import registered
from sexton.cli.signals import stopped_by_signals
from sexton.cli.terminal import json_line, say
from sexton.cli.until_stopped import UntilStopped
from sexton.core.record import replace
from sexton.errors import ExtraMissing, InputInvalid
from sexton.keeper.services.sd_notify import Supervisor
from sexton.keeper.swept import Sweep
from sexton.settings.settings_values import ServeSettings, Settings
from sexton.wiring import Sexton
from sexton.wiring.places import data_place


@click.command(
    "serve",
    cls=Command,
    examples=(
        "sexton serve                         # keep, and show it on http://127.0.0.1:8780",
        "sexton serve --no-keep --port 9000   # only show what others keep",
        "sexton serve --public-url https://sexton.example.org",
    ),
)
@click.option("--host", callback=named("host"), help="Where to listen. [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="0 is any free one. [default: 8780]")
@click.option("--no-keep", is_flag=True, help="Only serve; somebody else keeps.")
@click.option("--public-url", metavar="URL", help="Where a reverse proxy shows this server.")
@click.option("--tls-certificate", type=click.Path(path_type=Path), help="In PEM form.")
@click.option("--tls-key", type=click.Path(path_type=Path), help="The certificate's key.")
@click.pass_context
def command(ctx: click.Context, /, no_keep: bool, **given: Any) -> None:
    """Serve the dashboard and the HTTP API, beside a keeper.

    A link is told that opens the dashboard once; programs send the token as a bearer token. It is
    the one in SEXTON_TOKEN, or else in a file that is made at the first start and that only this
    user can read. What is not given here is as the section 'serve' of the settings says. SIGTERM
    and Ctrl-C finish what is being done; the exit code is 0 then. If the server itself fails, the
    program ends with an error (75), so that a service manager starts it again.
    """
    try:
        from sexton.web import web_serving as serving
        from sexton.web.access.addresses import address_of
    except ImportError as missing:
        raise ExtraMissing(
            f"serving needs a package that is not installed: {missing.name}",
            hint="Install it with: pip install 'sexton[web]'",
        ) from None
    options, supervisor = shared(ctx), Supervisor(os.environ)
    stopping = UntilStopped(supervisor)
    settings = (chosen_settings(options) or Settings()).serve
    wanted = replace(
        settings, **{name: value for name, value in given.items() if value is not None}
    )
    tls = tls_of(wanted)
    url = wanted.public_url
    address_of(wanted.host, wanted.port, tls=tls is not None, public_url=url)
    with (
        closing(serving.listening(wanted.host, wanted.port)) as listening,
        stopped_by_signals(stopping.stop),
        (attaching if no_keep else deciding)(options) as opened,
    ):
        bound = listening.getsockname()[1]
        address = address_of(wanted.host, bound, tls=tls is not None, public_url=url)
        file = Path(data_place(os.environ)) / "token"
        desk = serving.desk_for(opened, address, os.environ, file, not no_keep)
        site = serving.Site(desk, listening, tls, stopping.stop)
        site.start()
        try:
            link = desk.keys.new_link()
            if options.json:
                json_line({"url": address.base, "link": link, "pid": os.getpid()})
            else:
                say(f"serving {address.base}; open it once with {link}")
            sys.stdout.flush()
            supervisor.ready()
            if no_keep:
                stopping.wait(supervisor.alive)
            else:
                _keep(opened, stopping, desk.sweeps.add, supervisor.alive)
        finally:
            site.stop()
        if site.failure is not None:
            raise site.failure


def tls_of(wanted: ServeSettings) -> tuple[Path, Path] | None:
    """The certificate and its key, if the server is to speak TLS itself."""
    certificate, key = wanted.tls_certificate, wanted.tls_key
    if certificate is not None and key is not None:
        return certificate, key
    if certificate is not None or key is not None:
        raise InputInvalid(
            "a TLS certificate and its key belong together",
            hint="Give both, by --tls-certificate and --tls-key or in the settings.",
        )
    return None


def _keep(
    opened: Sexton,
    stopping: UntilStopped,
    tell: Callable[[Sweep], None],
    on_step: Callable[[], None],
) -> None:
    """Keep until stopped, and tell of every sweep."""
    with registered(opened) as worker, closing(opened.keeper(worker)) as keeper:
        stopping.hand_to(keeper)
        keeper.run(tell, on_step)
