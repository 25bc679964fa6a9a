"""What is needed to take sessions out of a foreign home's database, and to put them back."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from sexton.retention.vault_ports import StoredMessage

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
