"""How an agent came by a session, and which one its key had before."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from sexton.core.record import record


class Opened(StrEnum):
    """How an agent came by a session.

    `NEW`: the key had no session before, or there is no key. `JOINED`: the session was open and a
    living worker held it. `ADOPTED`: it was open and nobody living held it. `RESET`: the one
    before has ended, and the conversation begins anew.
    """

    NEW = "new"
    JOINED = "joined"
    ADOPTED = "adopted"
    RESET = "reset"


@record
class Previous:
    """The session that a key had before: its id, why it ended, and when."""

    id: str
    end_reason: str
    ended_at: datetime
