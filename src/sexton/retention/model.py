"""A session as those see it who decide whether it may go."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from sexton.core.plan import Seen
from sexton.core.session import Relation, State
from sexton.errors import SessionRemoved

HERE = frozenset({State.ENDED, State.FINALIZED})
"""The states of a session that is over and has its messages in its home."""
AWAY = frozenset({State.ARCHIVED, State.TRASHED, State.PURGED})
"""The states of a session that only its row is left of."""


class Member(NamedTuple):
    """A session among its relatives: what it has, and what may keep it.

    `held` says that somebody holds it, `owed` that end-of-session work is still to be done, and
    `given_up_at` when such work was last given up.
    """

    ref: int
    id: str
    source: str
    parent: str | None
    relation: Relation | None
    state: State
    epoch: int
    active_at: datetime
    message_count: int
    turn_count: int
    byte_count: int
    pinned: bool
    held: bool
    owed: bool
    given_up_at: datetime | None

    def seen(self, home: str) -> Seen:
        """It as a precondition."""
        return Seen(
            ref=self.ref,
            home=home,
            id=self.id,
            epoch=self.epoch,
            active_at=self.active_at,
            message_count=self.message_count,
            turn_count=self.turn_count,
            pinned=self.pinned,
        )


def removed(id: str, state: State, receipt: str | None) -> SessionRemoved:
    """What to say to whoever wants to read or use a session that is not here any more."""
    if state is State.ARCHIVED:
        hint = f"Bring it back with 'sexton archive restore {id}'."
        return SessionRemoved(f"the session {id} is archived", hint=hint)
    if state is State.TRASHED:
        hint = f"Bring it back, with all that went with it, with 'sexton undo {receipt}'."
        return SessionRemoved(f"the session {id} is in the trash", hint=hint)
    hint = "What was said in it is gone; 'sexton journal' tells when and why."
    return SessionRemoved(f"the session {id} was purged", hint=hint)
