"""Which sessions have a name like that? For completion by a shell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import click

from sexton.cli.cli_opening import existing
from sexton.cli.command import shared
from sexton.errors import SextonError
from sexton.sessions.model import Filter

MOST = 50
LOOKED_AT = 500


def names_like(ctx: click.Context, start: str) -> list[str]:
    """The names of recently active sessions that begin so; none where the ledger can not tell."""
    try:
        return list(islice(_names(ctx, start), MOST))
    except SextonError:
        return []


def _names(ctx: click.Context, start: str) -> Iterator[str]:
    with existing(shared(ctx)) as opened:
        for session in opened.ledger.index.page(Filter(), None, LOOKED_AT):
            if session.name.startswith(start) and session.name.isprintable():
                yield session.name
