"""`sexton sessions pin`: keep a session from being reset or collected."""

from __future__ import annotations

import click

from sexton.cli.arguments import session_argument
from sexton.cli.cli_opening import reaching
from sexton.cli.command import Command, shared
from sexton.cli.terminal import document, say
from sexton.core.plan import Reason
from sexton.core.session import Session
from sexton.operations.verbs import PINNED_THERE, changeable, pin
from sexton.store.journal import Entry
from sexton.wiring import Sexton


@click.command(
    "pin",
    cls=Command,
    examples=("sexton sessions pin 3f0c9a", "sexton sessions pin 3f0c9a --off"),
)
@session_argument
@click.option("--off", is_flag=True, help="Allow it again.")
@click.pass_context
def command(ctx: click.Context, session: str, off: bool) -> None:
    """Keep a session from being reset or collected.

    A pinned session whose time has come is held back, and the plan says so. One whose process
    has died ends all the same, and keeps everything.
    """
    options = shared(ctx)
    with reaching(options) as opened:
        estate = opened.estate()
        asked = changeable(estate, opened.find(session))
        found = pin(estate, asked, _entry(opened, asked, "unpin" if off else "pin"), pinned=not off)
    if options.json:
        document({"home": found.home, "session": found.id, "pinned": found.pinned})
    elif off and found.pinned:
        say(f"{found.name} stays pinned: {PINNED_THERE}")
    else:
        say(f"{found.name} is {'not pinned any more' if off else 'pinned'}")


def _entry(opened: Sexton, session: Session, action: str) -> Entry:
    return Entry(
        actor=opened.actor,
        receipt=None,
        home=session.home,
        session=session.id,
        action=action,
        result="done",
        reason=Reason("asked", "asked for by an operator"),
    )
