"""`sexton sessions list`: which sessions are there?"""

from __future__ import annotations

from datetime import datetime

import click

from sexton.cli.arguments import home_option, limit_option, named
from sexton.cli.cli_homes import estate_of, observe_all
from sexton.cli.cli_opening import attaching, chosen_settings, chosen_url, existing, missing
from sexton.cli.command import Command, shared
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.paging import Pages, after_option, check_cursor, tell_pages
from sexton.cli.terminal import Column, note, page, table
from sexton.core.session import State
from sexton.core.wording import ago, moment_of
from sexton.operations.asker import Asker
from sexton.operations.questions.session_questions import ListedSession, sessions
from sexton.sessions.model import Filter
from sexton.wiring import Sexton

_COLUMNS = (
    Column("SESSION"),
    Column("STATE", cut=True),
    Column("ACTIVE"),
    Column("MESSAGES", right=True),
    Column("HELD BY", right=True, spare=True),
    Column("SOURCE", spare=True),
    Column("KEY", cut=True, spare=True),
    Column("TITLE", cut=True),
)


@click.command(
    "list",
    cls=Command,
    examples=(
        "sexton sessions list",
        "sexton sessions list --state open --source telegram",
        "sexton sessions list --home ~/.hermes --limit 20",
        "sexton sessions list --json | jq -r '.items[].id'",
    ),
)
@limit_option
@home_option
@click.option("--source", callback=named("source"), metavar="SOURCE", help="Only from this source.")
@click.option("--state", type=click.Choice([state.value for state in State]), help="Only these.")
@click.option("--key", callback=named("key"), metavar="KEY", help="Only of this key.")
@click.option("--text", callback=named("text"), metavar="TEXT", help="Only with TEXT in the title.")
@after_option
@click.option("--all", "everything", is_flag=True, help="Also those that were compressed.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    limit: int,
    after: str | None,
    everything: bool,
    home: str | None,
    state: str | None,
    source: str | None,
    key: str | None,
    text: str | None,
) -> None:
    """List sessions, newest activity first.

    Answered from the ledger; what a home has done since it was last observed is not in it yet. A
    home that is named by its path is observed first. A conversation that was compressed is one
    line, that of its newest session. Without filters any page costs the same: when
    there may be more, the cursor of the next page is told.
    Where no ledger is yet, the list is empty.
    """
    options = shared(ctx)
    check_cursor(ctx, after)
    refusal = missing(chosen_url(options))
    if home is None and refusal is not None:
        chosen_settings(options)  # a mistake in the settings is told all the same
        note(f"{refusal}. {refusal.hint}")
        if options.json:
            page(())
        return
    with existing(options) if home is None else attaching(options) as opened:
        name = None if home is None else _observed(opened, home)
        asker, now = Asker(house=opened), opened.clock.now()
        found = Pages(
            lambda rest, most: sessions(
                asker,
                home=name,
                state=None if state is None else State(state),
                all=everything,
                after=rest,
                limit=most,
                source=source,
                key=key,
                text=text,
            ),
            limit,
            after,
        )
        tell_pages(
            found,
            lambda shown: table(_COLUMNS, (_row(each, now) for each in shown)),
            _nothing(opened),
            as_json=options.json,
        )
        note_keeper(opened.ledger, opened.clock)


def _observed(opened: Sexton, home: str) -> str | None:
    is_known = any(record.name == home for record in opened.ledger.homes.all())
    estate, name = estate_of(opened, home)
    if not is_known:
        observe_all(estate, strict=True)
    return name


def _nothing(opened: Sexton) -> str:
    """Why the list is empty: nothing matches, or nothing is there at all yet."""
    if opened.ledger.index.page(Filter(), None, 1):
        return "there are no such sessions"
    return (
        "the ledger has no sessions yet; an agent that opens it with sexton.open() brings its own, "
        "and 'sexton doctor PATH' those of a Hermes home"
    )


def _row(session: ListedSession, now: datetime) -> tuple[str, ...]:
    ended = f": {session['end_reason']}" if session["end_reason"] else ""
    pinned = ", pinned" if session["pinned"] else ""
    return (
        session["name"],
        f"{session['state']}{ended}{pinned}",
        ago(moment_of(session["active_at"]), now),
        str(session["message_count"]),
        str(len(session["holders"])) if session["holders"] else "-",
        session["source"],
        session["key"] or "-",
        session["title"] or session["preview"] or "",
    )
