"""What is needed from the places where agents keep sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sexton.model.plan import ReapSession, Reason, Seen
from sexton.model.session import Session
from sexton.ports.upkeep import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeRecord:
    """A home the ledger knows, and how far it has been observed."""

    ref: int
    name: str
    kind: str
    path: str | None
    host: str | None
    act: bool
    mark: Mapping[str, Any] | None
    rules: str | None
    observed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """A part of what a look at a foreign home showed.

    `seen` sessions carry ref 0; `gone` are ids that vanished. The last part of a look has the
    `mark` from which the next one goes on; a look that broke off leaves the old mark in force.
    """

    seen: tuple[Session, ...] = ()
    gone: tuple[str, ...] = ()
    mark: Mapping[str, Any] | None = None


class Homes(Protocol):
    """The homes of a ledger and the facts observed in them."""

    def attach(self, name: str, kind: str, path: str, host: str, act: bool) -> HomeRecord:
        """Know a home; the same path on the same host stays the same home."""

    def all(self) -> list[HomeRecord]:
        """Every home, the native one first."""

    def store(self, home: HomeRecord, sighting: Sighting, rules: str | None, now: datetime) -> None:
        """Write observed facts together with the mark, if there is one, and the home's rules."""

    def ids(self, home: HomeRecord, *, open_only: bool) -> list[str]:
        """The ids the ledger knows of a home."""


class Home(Protocol):
    """A place where an agent keeps sessions."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    def rules(self) -> str | None:
        """The home's own policies as rulebook text; None where the ledger's apply."""

    def look(self, mark: Mapping[str, Any] | None, known: Known) -> Iterator[Sighting]:
        """What changed since the mark, read-only; nothing at all if nothing did."""

    def reap(self, reaps: Sequence[tuple[ReapSession, Entry]], now: datetime) -> list[bool]:
        """End sessions whose holders are dead, each if it still is as seen; or HomeObserved."""

    def end(self, seen: Seen, reason: Reason, entry: Entry, now: datetime) -> bool:
        """End a session if it still is as seen; HomeObserved if this home is not to be changed."""


class Known(Protocol):
    """What the ledger already knows of a home, asked only when a look needs it."""

    def open_ids(self) -> frozenset[str]: ...

    def all_ids(self) -> frozenset[str]: ...
