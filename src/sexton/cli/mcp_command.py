"""`sexton mcp`: an agent asks about its own sessions and processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from sexton.cli.arguments import complete_session, named
from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.wiring import Sexton

if TYPE_CHECKING:
    from sexton.integrations.mcp.scope import Scope


@click.command(
    "mcp",
    cls=Command,
    examples=(
        "sexton mcp                           # for the session this process was started for",
        "sexton mcp --key telegram:42         # for whatever session the key has",
        "sexton mcp --operator                # for somebody who looks after all of them",
    ),
)
@click.option(
    "--session",
    callback=named("session"),
    shell_complete=complete_session,
    metavar="SESSION",
    help="Answer for this session and what came of it.",
)
@click.option("--key", callback=named("key"), metavar="KEY", help="Answer for the key's session.")
@click.option("--operator", is_flag=True, help="Answer for all sessions of the ledger.")
@click.pass_context
def command(ctx: click.Context, session: str | None, key: str | None, operator: bool) -> None:
    """Answer an agent about its own sessions and processes, over MCP.

    It talks on standard input and output. The agent asks which sessions and processes are its own,
    why a session is not reset and how its budget stands, and may keep or stop a process of its
    own. It sees its session and what came of it, nothing else: by --session, by --key, or by the
    tag that 'worker.spawn' gave this process.
    """
    from sexton.integrations.mcp.answers import Answers
    from sexton.integrations.mcp.mcp_server import serve

    if sum(map(bool, (session, key, operator))) > 1:
        raise click.UsageError("name --session, --key or --operator, not several", ctx)
    with existing(shared(ctx)) as opened:
        serve(Answers(opened, _scope(opened, session, key, operator)))


def _scope(opened: Sexton, session: str | None, key: str | None, operator: bool) -> Scope:
    from sexton.integrations.mcp import scope

    if operator:
        return scope.Operator(opened)
    if session is not None:
        return scope.Caller(opened, scope.named(opened, session))
    if key is not None:
        return scope.Caller(opened, scope.of_key(opened, key))
    return scope.Caller(opened, scope.of_tag(opened, os.environ))
