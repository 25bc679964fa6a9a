"""Which homes may a request name, and how are the messages of their sessions read?"""

from __future__ import annotations

from collections.abc import Iterator

from sexton.core.message import Message
from sexton.core.session import Session
from sexton.errors import HomeUnreadable, NoSuchHome
from sexton.retention.model import AWAY
from sexton.web.desk import Desk
from sexton.wiring.removal_wiring import read_removed

END = 2**62
"""After the last message of every session."""


def check_home(desk: Desk, name: str | None) -> None:
    """Raise NoSuchHome unless the ledger or the settings know a home of that name."""
    if not name:
        return
    known = {each.name for each in desk.house.ledger.homes.all()}
    known.update(each.name for each in desk.house.settings.homes)
    if name not in known:
        raise NoSuchHome(f"no home is called '{name}'", hint="GET /v1/homes lists them.")


def transcript(desk: Desk, session: Session, after: int, through: int) -> Iterator[Message]:
    """The messages of a session, from its home or the vault.

    Raises HomeUnreadable if the home is known, but this server does not reach it.
    """
    if session.state in AWAY:
        return read_removed(desk.house, session, after, through)
    home = desk.lookout.estate().homes.get(session.home)
    if home is None:
        raise HomeUnreadable(
            f"the home '{session.home}' is not attached here",
            hint="Ask a server on its machine, or list the home in the settings of this one.",
        )
    return home.transcript(session, after, through)
