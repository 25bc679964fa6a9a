"""Which processes are meant?"""

from __future__ import annotations

from collections.abc import Sequence

import click

from sexton.cli.arguments import complete_session, named
from sexton.errors import InputInvalid, ProcessNotFound
from sexton.keeper.keeper_context import Estate
from sexton.processes.hints import proved
from sexton.processes.model import Process
from sexton.wiring import Sexton

session_option = click.option(
    "--session",
    callback=named("session"),
    shell_complete=complete_session,
    metavar="SESSION",
    help="Only of this session.",
)


def of_session(opened: Sexton, estate: Estate, session: str) -> list[Process]:
    """The processes of a session that run, those included that its home names."""
    found = opened.find(session)
    registered = opened.ledger.registry.of_session(found.ref)
    named = [each for each in _named(estate) if (each.home, each.session) == (found.home, found.id)]
    return [*registered, *named]


def meant(opened: Sexton, estate: Estate, pid: int | None, session: str | None) -> list[Process]:
    """The processes that were named; an error if that is none, or not clear."""
    if (pid is None) == (session is None):
        raise click.UsageError("name one process, or --session for all of one session")
    if session is not None:
        return of_session(opened, estate, session)
    running = [*opened.ledger.registry.running(), *_named(estate)]
    found = [each for each in running if each.identity.pid == pid]
    here = opened.processes.myself()
    near = [each for each in found if each.identity.host == here.host]
    found = [each for each in near if each.identity.boot_id == here.boot_id] or near or found
    if not found:
        raise ProcessNotFound(f"no process {pid} belongs to a session")
    if len(found) > 1:
        raise InputInvalid(
            f"{pid} means several processes: {_places(found)}", hint="Use --session."
        )
    return found


def _named(estate: Estate) -> list[Process]:
    """What homes name, each proved to be the one they started as far as that can be proved."""
    registered = estate.ledger.registry.running()
    return [proved(estate.overseer, estate.clock, each) for each in estate.named(registered)]


def _places(found: Sequence[Process]) -> str:
    return ", ".join(f"{each.session} on {each.identity.host}" for each in found)
