"""What is needed to go on with a conversation in a shorter session."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from sexton.core.message import Draft
from sexton.core.record import record
from sexton.core.session import Session
from sexton.store.journal import Entry


@record
class Shortening:
    """What becomes of a session: its messages after `head` up to `through` give way to a summary.

    Those up to `head` and all after `through` are kept, also what is said until it is done. Where
    the summary is but a `fallback`, the session owes the end-of-session work for what it is about.
    A session without the message that was `seen` stored was set back, and is not compressed.
    """

    session: Session
    id: str
    head: int
    through: int
    summary: Draft
    entries: Sequence[Entry]
    fallback: bool = False
    seen: int = 0


class Readiness(NamedTuple):
    """When a session may be compressed again; None: at any time."""

    rests_until: datetime | None


class Part(NamedTuple):
    """A session of a chain, and the message after which what it holds was first said there."""

    ref: int
    after: int


class Compression(Protocol):
    """Conversations that are a chain of sessions. A parent ends when its child begins."""

    def readiness(self, session: Session) -> Readiness | None:
        """Whether the session is to rest first; None if it ended or the fence fell."""

    def compress(self, wanted: Shortening, now: datetime) -> Session | None:
        """End the session and begin the shorter one in its place, with its epoch and holders.

        None if it ended or the fence fell; then nothing is changed.
        """

    def rest(self, session: Session, until: datetime, entry: Entry, now: datetime) -> bool:
        """Record that a summary failed, and until when nobody need try again."""

    def tip(self, ref: int) -> Session | None:
        """The newest session of the conversation; None if the session was never compressed."""

    def chain(self, ref: int) -> list[Part]:
        """The sessions of the conversation up to this one, oldest first."""
