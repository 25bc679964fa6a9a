"""What is needed to remove sessions from the ledger, and to have them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from sexton.core.plan import Reason, Seen
from sexton.core.record import record
from sexton.core.session import State
from sexton.retention.model import Member
from sexton.retention.vault_ports import StoredMessage, VaultKind, Written
from sexton.sessions.model import Place
from sexton.store.journal import Entry


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


class Removal(Protocol):
    """Moves sessions between the ledger and the vault.

    Every change of a file is one worker's only: whoever was taken for dead changes nothing more.
    """

    def intend(self, intent: Intent, now: datetime) -> VaultFile:
        """Record that a file is going to be written, before anything of it is on the disk."""

    def move(self, departure: Departure, now: datetime) -> frozenset[int]:
        """Remove those sessions that still are as seen; the file is `clearing` if any did.

        What is in one file may go in several steps.
        """

    def release(self, release: Release, now: datetime) -> frozenset[int] | None:
        """Let files go if all of their sessions still are as seen; the file is `clearing` then.

        Else nothing changes, and these are the sessions that are not. None if the file was lost.
        """

    def clear(self, file: VaultFile, refs: Sequence[int]) -> bool:
        """Delete the messages of removed sessions; False if the file was lost."""

    def clear_some(self, file: VaultFile, ref: int, limit: int) -> int | None:
        """Delete so many messages of a removed session; how many, None if the file was lost."""

    def turn(
        self, file: VaultFile, state: VaultState, worker: str | None, written: Written | None = None
    ) -> VaultFile | None:
        """Take a file from the state and the worker it was seen with on to the next."""

    def forget(self, file: VaultFile) -> bool:
        """Drop the row of a file that is gone; never while a session is in it."""

    def put_back(
        self, file: VaultFile, parts: Sequence[Part], entry: Entry, now: datetime
    ) -> frozenset[int]:
        """Store messages again; the sessions that are back, whole and with the state they had."""

    def purge(self, end: End, worker: str, deadline: datetime, now: datetime) -> VaultFile | None:
        """Give up for good what is in the trash and expired by the deadline.

        None if it is not, or while a session of it or its files is pinned or its work not done.
        """

    def discard(self, end: End, until: datetime, now: datetime) -> VaultFile | None:
        """Put an archive whose time is over into the trash, to be had back until then.

        The owners of files alone are told, too. It counts against its day. None if it is not
        over, or while somebody is at it or a session of it or its files is pinned.
        """


class VaultBook(Protocol):
    """Questions about vault files, and how long archives are kept."""

    def page(self, wanted: WantedFiles, after: int, limit: int) -> list[VaultFile]:
        """Files in the order they were made, after a row."""

    def newest(self, wanted: WantedFiles, before: int | None, limit: int) -> list[VaultFile]:
        """Files from the newest to the oldest, before a row or from the newest of all."""

    def of_receipt(self, receipt: str) -> list[VaultFile]:
        """The files an apply left."""

    def of_session(self, ref: int) -> VaultFile | None:
        """Where a removed session is; None if it is here, or gone for good."""

    def unfinished(self, host: str) -> list[VaultFile]:
        """Files of a machine that somebody is at, or was when it died."""

    def expired(self, kind: VaultKind, host: str, now: datetime, limit: int) -> list[VaultFile]:
        """Files of a machine whose time is over, oldest first."""

    def expire_archives(self, host: str, age: timedelta | None) -> None:
        """Let the archives of a machine expire at an age, or never."""

    def inside(self, file: VaultFile) -> list[Inside]:
        """The sessions that are in a file and nowhere else."""

    def left(self, files: Sequence[VaultFile]) -> dict[int, int]:
        """How many sessions are in each file, by its row; of files alone those that were written.

        Fewer than were written, where some were brought back.
        """


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


class Removable(Protocol):
    """Questions about sessions that may be removed."""

    def counts(self, home: str, most: int) -> list[int]:
        """Which numbers of messages ended sessions of a home have, up to a number."""

    def candidates(self, home: str, sieve: Sieve, after: Place | None, limit: int) -> list[Member]:
        """The sessions that pass, most recently active first; costs what is found."""

    def relatives(self, home: str, *, named: Sequence[str], below: Sequence[str]) -> list[Member]:
        """The sessions with those ids, and the children of others."""

    def rows(self, refs: Sequence[int]) -> dict[int, StoredSession]:
        """Sessions as they are stored."""

    def messages(self, refs: Sequence[int]) -> dict[int, list[StoredMessage]]:
        """All messages of some small sessions."""

    def message_page(self, ref: int, after: int, byte_limit: int) -> list[StoredMessage]:
        """The next messages of a big one, at least one if there is one."""

    def removed_on(self, home: str, day: date) -> int:
        """How many sessions were removed on a day without a person's word."""
