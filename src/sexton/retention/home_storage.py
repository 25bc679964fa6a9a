"""What retention asks of a home: for the files of its sessions, and for rows of its database.

These stay protocols: a home is the world outside, and each kind of home keeps its sessions in its
own way.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from sexton.retention.model import (
    FileContent,
    FilesOfSession,
    FoundFile,
    Ownership,
    PutBack,
    StoredMessage,
)

OF_HOME, TOGETHER = "of_home", "together"
"""Under these names a session's row in the vault has what its home knows of it, and what it goes
together with."""


def as_text(known: Mapping[str, Any]) -> str:
    """The same text for the same facts."""
    return json.dumps(known, sort_keys=True, separators=(",", ":"), allow_nan=False)


class Taken(NamedTuple):
    """What a home has of one session beside its messages; equal text means that none of it changed.

    With a `refusal` it is better left where it is.
    """

    text: str = ""
    messages: int = 0
    refusal: str | None = None


class Removed(NamedTuple):
    """The sessions that are gone, and those of which something is missing though they stay."""

    gone: frozenset[str] = frozenset()
    cut: frozenset[str] = frozenset()


class PutRow(Protocol):
    """Puts sessions back into a foreign home, one after another."""

    def __call__(self, row: Mapping[str, Any], messages: Iterable[StoredMessage]) -> bool:
        """Store of a session again what is missing of it; False if another is in its place."""


class HomeRows(Protocol):
    """The records of sessions in a foreign home's database."""

    def take(self, ids: Collection[str]) -> dict[str, Taken]:
        """What there is of the sessions; those that are not there are left out."""

    def messages(self, ids: Collection[str]) -> dict[str, list[StoredMessage]]:
        """All messages of some small sessions, numbered from 1 in each."""

    def message_page(self, id: str, after: int, byte_limit: int) -> list[StoredMessage]:
        """The next messages of a big one, at least one if there is one."""

    def remove(self, conversations: Sequence[Mapping[str, str]], *, begun: bool = False) -> Removed:
        """Delete sessions bit by bit, so that hardly anybody notices who writes meanwhile.

        Each goes if it still is as it was taken, and of those that belong together all or none.
        With `begun` somebody may have deleted a part of them already.
        """

    def refuse_unwritable(self, *, now: bool = False) -> None:
        """HomeUnwritable where no change could be stored, HomeBusy where none can be `now`."""

    def returning(self) -> AbstractContextManager[PutRow]:
        """What puts sessions back, as many as there are: to begin is dear, each one is not."""


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
