"""What may be written where a session, a name or a page is asked for?"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import click

from sexton.core.session import check_name
from sexton.settings.quantities import parse_duration

MOST = 1_000_000_000


def named(
    kind: str,
) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """Takes text that the ledger can store exactly; InvalidName otherwise."""

    def check(ctx: click.Context, option: click.Parameter, value: str | None) -> str | None:
        del ctx, option
        return None if value is None else check_name(kind, value)

    return check


def complete_session(ctx: click.Context, argument: click.Parameter, start: str) -> list[str]:
    """The names of sessions that begin so, for a shell."""
    del argument
    from sexton.cli.cli_naming import names_like

    return names_like(ctx, start)


session_argument = click.argument(
    "session", callback=named("session"), shell_complete=complete_session
)

session_option = click.option(
    "--session",
    callback=named("session"),
    shell_complete=complete_session,
    metavar="SESSION",
    help="Only of this session.",
)


def at_least_one(ctx: click.Context, option: click.Parameter, value: int) -> int:
    """Takes a number of things that one can ask for."""
    if value < 1:
        raise click.BadParameter("must be 1 or more", ctx, option)
    return min(value, MOST)


limit_option = click.option(
    "--limit",
    type=int,
    callback=at_least_one,
    default=50,
    show_default=True,
    metavar="N",
    help="At most so many.",
)
home_option = click.option(
    "--home", metavar="PATH|NAME", help="Only this home; a new one is observed first."
)
source_option = click.option(
    "--source", callback=named("source"), metavar="SOURCE", help="Only from this source."
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would be done, and stop.")
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask.")
remove_all_option = click.option(
    "--allow-remove-all",
    is_flag=True,
    help="Also what a policy removes that leaves no session of a home.",
)
allow_observed_option = click.option(
    "--allow-observed",
    is_flag=True,
    help="Also change homes that are only observed ('act: false' in the settings).",
)
force_file_option = click.option("--force", is_flag=True, help="Replace the file if it exists.")


def span_option(
    name: str, *, default: str, most: timedelta, help: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An option that takes a length of time, up to the longest that makes sense."""

    def to_span(ctx: click.Context, option: click.Parameter, value: str) -> timedelta:
        span = parse_duration(value)
        if not span or span > most:
            words = f"must be a duration like 7d or 12w, at most {most.days}d"
            raise click.BadParameter(words, ctx, option)
        return span

    return click.option(
        name, callback=to_span, default=default, show_default=True, metavar="DURATION", help=help
    )
