"""What retention speaks of: sessions that may go, their files, and the vault files they go into."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from sexton.core.plan import Reason, Seen
from sexton.core.record import made, record
from sexton.core.session import Relation, Session, State
from sexton.errors import SessionRemoved
from sexton.store.journal import Entry

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


class VaultKind(StrEnum):
    """Why something was put away."""

    ARCHIVE = "archive"
    TRASH = "trash"


def export_name(name: str) -> str:
    """What a vault file is called when it was written out for people; it goes with the file."""
    return f"exported.{name.rpartition('.')[0]}"


class FileChanged(Exception):
    """A session's file is not as it was seen; the session is left alone this time."""

    def __init__(self, owner: str, path: tuple[str, ...]) -> None:
        super().__init__(f"{'/'.join(path)!r} changed while it was read")
        self.owner = owner
        self.path = path


class StoredMessage(NamedTuple):
    """A message exactly as the ledger holds it."""

    seq: int
    at: int
    """Microseconds since 1970."""
    role: str
    is_text: int
    content: bytes | None
    extra: bytes | None


@record
class FileContent:
    """A file of a session: its place below the session's directory, and what is in it."""

    path: tuple[str, ...]
    mode: int
    mtime_ns: int
    size: int
    inode: int
    """Which file of that name it was, so that only this one is removed."""
    chunks: Callable[[], Iterator[bytes]]
    """Reads it; FileChanged if it is not as it was seen."""


@record
class SessionContent:
    """All there is of one session. `owner` is what its home's files call it, if it has files."""

    row: Mapping[str, Any] = made(dict)
    """The whole row by column; values are None, numbers, text or bytes."""
    row_json: str | None = None
    """The row as JSON instead, on its way into a file."""
    messages: Iterable[StoredMessage] = ()
    finalizations: Sequence[Mapping[str, Any]] = ()
    directories: Sequence[tuple[str, ...]] = ()
    """Those of its directories that are empty; its own has no names."""
    owner: str | None = None
    files: Iterable[FileContent] = ()


@record
class Header:
    """What a vault file says about itself."""

    kind: VaultKind
    home: str
    ledger: str
    schema_version: int
    made_at: datetime
    receipt: str | None = None


@record
class Written:
    """What a vault file is; kept in the ledger, and compared whenever the file is read."""

    bytes: int
    raw_bytes: int
    sha256: str
    sessions: int
    messages: int
    files: int


class Refused(NamedTuple):
    """Something among a session's files that is left alone, and why."""

    path: tuple[str, ...]
    why: str


@record
class FilesOfSession:
    """What a session has on disk; with anything refused it is better not removed at all."""

    contents: tuple[FileContent, ...] = ()
    directories: tuple[tuple[str, ...], ...] = ()
    """The empty ones; that of the session has no names."""
    refused: tuple[Refused, ...] = ()
    bytes: int = 0


class FoundFile(NamedTuple):
    """A file that a scan came across; without an owner its name is no session's."""

    owner: str | None
    path: tuple[str, ...]
    size: int
    mtime_ns: int
    sure: bool = True
    """Whether the name can only be a session's: of an unknown owner's, no other is an orphan."""


@record
class PutBack:
    """What came of putting files back: how many are there again, and where others were in the way.

    `aside` names the place of our copy of each file whose own place is taken by another.
    """

    files: int = 0
    aside: Mapping[tuple[str, ...], tuple[str, ...]] = made(dict)


class Ownership(NamedTuple):
    """Whose a file is by its name, and whether the name can only be a session's."""

    owner: str | None
    sure: bool = False


class VaultState(StrEnum):
    """How far a vault file has come; whoever is at it is named, but for one that is kept."""

    WRITING = "writing"  # nothing was removed yet: after a crash the file goes
    CLEARING = "clearing"  # its sessions are removed, their messages and files are going
    KEPT = "kept"
    RESTORING = "restoring"  # what is in it is on its way back
    REMOVING = "removing"  # nobody needs it any more


class Holds(StrEnum):
    """What is in a vault file: whole sessions, or only files of sessions that stayed."""

    SESSIONS = "sessions"
    FILES = "files"


@record
class Intent:
    """A vault file that is going to be written, and who writes it."""

    name: str
    kind: VaultKind
    home: str
    source: str
    host: str
    place: str
    worker: str
    receipt: str
    holds: Holds = Holds.SESSIONS
    expires_at: datetime | None = None


@record
class VaultFile:
    """A vault file as the ledger knows it: where it is, what is in it, and who is at it."""

    ref: int
    name: str
    kind: VaultKind
    holds: Holds
    home: str
    source: str
    host: str
    place: str
    state: VaultState
    worker: str | None
    receipt: str
    made_at: datetime
    expires_at: datetime | None
    written: Written


class Move(NamedTuple):
    """A session that is in a file: as it was planned, and as it was written.

    Of those with the same conversation all go or none.
    """

    ref: int
    state: State
    epoch: int
    active_at: datetime
    message_count: int
    turn_count: int
    last_seq: int
    stored: int
    conversation: int
    reason: Reason


@record
class Departure:
    """Sessions that are in a vault file now, and become what `state` says.

    One whose end-of-session work was given up after `spares` stays. With a `day` they count as
    removed without a person's word on it. Of the entry all but session and reason is taken. Of
    those that go `at_once` the messages are deleted together with the move. What is `lasting` is on
    disk when it is done; anything else will be after the next commit that is.
    """

    file: VaultFile
    written: Written
    state: State
    moves: Sequence[Move]
    entry: Entry
    spares: datetime | None
    day: date | None = None
    at_once: bool = False
    lasting: bool = True


@record
class Release:
    """Files that are in a vault file now and may go, while their sessions stay.

    `seen` are the sessions as they were planned, each with its reason; one without a row is none,
    and its files are nobody's. Of the entry all but home, session and reason is taken.
    """

    file: VaultFile
    written: Written
    seen: Sequence[tuple[Seen, Reason]]
    entry: Entry
    day: date | None = None


@record
class End:
    """A vault file whose time is over, and what the journal is to say of it.

    `owners` are the ids of the sessions whose files alone are in it.
    """

    file: VaultFile
    entry: Entry
    owners: Sequence[str] = ()


class Part(NamedTuple):
    """Messages of a session on its way back; the last part says which state it had."""

    ref: int
    messages: Sequence[StoredMessage]
    state: State | None


class Inside(NamedTuple):
    """A session that is in a vault file."""

    ref: int
    id: str
    state: State
    message_count: int


@record
class WantedFiles:
    """Which vault files to list; None means any."""

    kind: VaultKind | None = None
    home: str | None = None
    source: str | None = None


@record
class Sieve:
    """Ended sessions with exactly so many messages that were last active at a moment or before."""

    count: int
    before: datetime
    source: str | None = None


class StoredSession(NamedTuple):
    """A session as it is stored: its whole row by column, as JSON, and its end-of-session work."""

    state: State
    last_seq: int
    row: str
    finalizations: Sequence[Mapping[str, Any]]


@record
class Remains:
    """What a session that is over left behind, as far as retention asks.

    `rank` is its place among the ended sessions of its key or job, 1 being the newest; a session
    with neither has none. `owes` says that end-of-session work is not done.
    """

    session: Session
    owes: bool = False
    rank: int | None = None
