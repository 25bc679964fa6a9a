"""Which finalizations are meant?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import click

from sexton.cli.arguments import complete_session, named, yes_option
from sexton.finalizers.job import Wanted
from sexton.finalizers.model import Finalization, FinalizationState
from sexton.wiring import Sexton

CHUNK = 500

finalizer_option = click.option(
    "--finalizer", callback=named("finalizer"), metavar="NAME", help="Only of this finalizer."
)
session_option = click.option(
    "--session",
    callback=named("session"),
    shell_complete=complete_session,
    metavar="SESSION",
    help="Only of this session.",
)


def wanted(
    opened: Sexton,
    session: str | None,
    finalizer: str | None,
    state: FinalizationState | None = None,
) -> Wanted:
    """What was asked for; a session may be named by the beginning of its id."""
    found = None if session is None else opened.find(session)
    return Wanted(
        state=state,
        finalizer=finalizer,
        home=None if found is None else found.home,
        session=None if found is None else found.id,
    )


def pages(opened: Sexton, asked: Wanted, chunk: int = CHUNK) -> Iterator[Finalization]:
    """Everything that was asked for, newest first."""
    after: int | None = None
    while page := opened.ledger.finalizing.page(asked, after, chunk):
        yield from page
        after = page[-1].ref


def deciding_options(function: Callable[..., None]) -> Callable[..., None]:
    """The options of a command that decides: about which work, and whether to ask first."""
    everything = click.option(
        "--all", "everything", is_flag=True, help="Of every session and finalizer."
    )
    return session_option(finalizer_option(everything(yes_option(function))))
