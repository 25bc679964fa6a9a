"""What is needed to put sessions away as files, and to have them back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sexton.core.record import made, record


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


class Vault(Protocol):
    """A directory of files that hold what was removed."""

    def establish(self, *, anew: bool = True) -> None:
        """See that the directory is there for this user alone; if not, `anew` makes it.

        For the first file of a ledger only: a directory that was there once may be on a disk
        that is not mounted now.
        """

    def new_name(self) -> str:
        """A name for the next file, not used by any other."""

    def write(self, name: str, header: Header, contents: Iterable[SessionContent]) -> Written:
        """Make a file, durable and read back; after any failure nothing of that name is left."""

    def verify(self, name: str, expected: Written) -> None:
        """Read all of it and compare; VaultMissing or VaultDamaged."""

    def read(self, name: str, expected: Written) -> tuple[Header, Iterator[SessionContent]]:
        """What is in it, one session at a time; use up each before asking for the next.

        What is read can be trusted only after its session was left without VaultDamaged.
        """

    def remove(self, name: str) -> None:
        """Remove the file and whatever an interrupted write of it left; nothing there is fine."""

    def names(self) -> Iterator[tuple[str, int]]:
        """What lies there, with sizes; also what an interrupted write left."""

    def export(self, name: str, expected: Written, target: Path) -> None:
        """Copy the file's JSON lines, decompressed, to a new file for people."""


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


class FileNames(Protocol):
    """How a home names the files of its sessions, all in one directory."""

    def owner(self, id: str) -> str:
        """What the files of that session are known by."""

    def owner_of(self, name: str) -> Ownership:
        """Whose a file is by its name."""


class SessionFiles(Protocol):
    """The files of a home's sessions, on this machine. A session is named by its `owner`."""

    def owner(self, id: str) -> str:
        """What the files of that session are known by."""

    def of(self, owners: Collection[str]) -> dict[str, FilesOfSession]:
        """The files of the sessions that have any, or an empty directory."""

    def remove(self, seen: Mapping[str, Sequence[FileContent]]) -> int:
        """Remove the files that are still as they were seen, durably; how many were.

        Directories with nothing in them go, too.
        """

    def put_back(
        self,
        owner: str,
        files: Iterable[FileContent],
        directories: Iterable[tuple[str, ...]] = (),
    ) -> PutBack:
        """Write files again, durably and never over or through anything; may be repeated."""

    def scan(self) -> Iterator[FoundFile]:
        """Every file there is, for age, size and those nobody owns."""


class SessionDirectories(SessionFiles, Protocol):
    """Session files where each session has a directory of its own."""

    def directory(self, id: str) -> Path:
        """The session's directory, made for its user alone on first use."""
