"""`sexton sessions list`: which sessions are there?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import click

from sexton.cli.arguments import cursor_after, home_option, limit_option, named, to_place
from sexton.cli.cli_homes import estate_of, observe_all
from sexton.cli.cli_opening import attaching, chosen_settings, chosen_url, existing, missing
from sexton.cli.command import Command, Shared, shared
from sexton.cli.keeper_notice import note_keeper
from sexton.cli.terminal import Column, array, note, table
from sexton.core.session import Session, State
from sexton.core.wording import ago
from sexton.operations import values as shapes
from sexton.sessions.session_ports import Filter, Place
from sexton.wiring import Sexton

CHUNK = 500
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


@dataclass(frozen=True, slots=True)
class _Page:
    wanted: Filter
    after: Place | None
    limit: int

    def sessions(self, opened: Sexton) -> Iterator[Session]:
        """The sessions of the page, read in chunks, so that any limit fits in memory."""
        place, left = self.after, self.limit
        while left > 0:
            found = opened.ledger.index.page(self.wanted, place, min(left, CHUNK))
            yield from found
            if len(found) < min(left, CHUNK):
                return
            left -= len(found)
            place = Place(found[-1].active_at, found[-1].ref)


@click.command(
    "list",
    cls=Command,
    examples=(
        "sexton sessions list",
        "sexton sessions list --state open --source telegram",
        "sexton sessions list --home ~/.hermes --limit 20",
        "sexton sessions list --json | jq -r '.[].id'",
    ),
)
@limit_option
@home_option
@click.option("--source", callback=named("source"), metavar="SOURCE", help="Only from this source.")
@click.option("--state", type=click.Choice([state.value for state in State]), help="Only these.")
@click.option("--key", callback=named("key"), metavar="KEY", help="Only of this key.")
@click.option("--after", callback=to_place, metavar="CURSOR", help="Go on behind an earlier page.")
@click.option("--all", "everything", is_flag=True, help="Also those that were compressed.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    limit: int,
    after: Place | None,
    everything: bool,
    **wanted: str | None,
) -> None:
    """List sessions, newest activity first.

    Answered from the ledger; what a home has done since it was last observed is not in it yet. A
    home that is named by its path is observed first. A conversation that was compressed is one
    line, that of its newest session. Without filters any page costs the same: when
    there may be more, the cursor of the next page is told; in JSON every session has its own.
    Where no ledger is yet, the list is empty.
    """
    options = shared(ctx)
    home = wanted["home"]
    refusal = missing(chosen_url(options))
    if home is None and refusal is not None:
        chosen_settings(options)  # a mistake in the settings is told all the same
        note(f"{refusal}. {refusal.hint}")
        _show_nothing(options)
        return
    with existing(options) if home is None else attaching(options) as opened:
        name = None if home is None else _observed(opened, home)
        state = wanted["state"]
        page = _Page(
            Filter(
                home=name,
                source=wanted["source"],
                state=None if state is None else State(state),
                key=wanted["key"],
                folded=not everything,
            ),
            after,
            limit,
        )
        shown = map(opened.content.session, page.sessions(opened))
        if options.json:
            array(_shape(session) for session in shown)
        else:
            _show(opened, list(shown), limit)
        note_keeper(opened.ledger, opened.clock)


def _observed(opened: Sexton, home: str) -> str | None:
    is_known = any(record.name == home for record in opened.ledger.homes.all())
    estate, name = estate_of(opened, home)
    if not is_known:
        observe_all(estate, strict=True)
    return name


def _show_nothing(options: Shared) -> None:
    if options.json:
        array(())


def _show(opened: Sexton, sessions: list[Session], limit: int) -> None:
    if not sessions:
        note(_nothing(opened))
        return
    now = opened.clock.now()
    table(_COLUMNS, (_row(session, now) for session in sessions))
    if len(sessions) == limit:
        note(f"for more: --after {cursor_after(sessions[-1])}")


def _nothing(opened: Sexton) -> str:
    """Why the list is empty: nothing matches, or nothing is there at all yet."""
    if opened.ledger.index.page(Filter(), None, 1):
        return "there are no such sessions"
    return (
        "the ledger has no sessions yet; an agent that opens it with sexton.open() brings its own, "
        "and 'sexton doctor PATH' those of a Hermes home"
    )


def _row(session: Session, now: datetime) -> tuple[str, ...]:
    ended = f": {session.end_reason}" if session.end_reason else ""
    pinned = ", pinned" if session.pinned else ""
    return (
        session.name,
        f"{session.state}{ended}{pinned}",
        ago(session.active_at, now),
        str(session.message_count),
        str(len(session.holders)) if session.holders else "-",
        session.source,
        session.key or "-",
        session.title or session.preview or "",
    )


def _shape(session: Session) -> dict[str, Any]:
    return shapes.session(session) | {"cursor": cursor_after(session)}
