"""What a session that is over left behind."""

from __future__ import annotations

from sexton.core.record import record
from sexton.core.session import Session


@record
class Remains:
    """What a session that is over left behind, as far as retention asks.

    `rank` is its place among the ended sessions of its key or job, 1 being the newest; a session
    with neither has none. `owes` says that end-of-session work is not done.
    """

    session: Session
    owes: bool = False
    rank: int | None = None
