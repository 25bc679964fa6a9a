"""What is needed to tell the living from the dead, and to end what died."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from sexton.core.plan import ReapSession, Seen
from sexton.core.record import record
from sexton.core.schedule import Schedule
from sexton.core.session import Session
from sexton.liveness.model import Identity, Worker
from sexton.store.journal import Entry


class DeathWatch(Protocol):
    """Notices the death of processes on this machine as it happens."""

    def watch(self, identities: Iterable[Identity]) -> None:
        """Watch exactly these, as far as they live here."""

    def wait(self, seconds: float) -> bool:
        """Let time pass; True as soon as a watched process has died."""

    def wake(self) -> None:
        """End every wait, now and from now on."""

    def close(self) -> None:
        """Let go of everything."""


@record
class Left:
    """An open session that the dead hold: as much of it as its end takes, and all its holders."""

    seen: Seen
    source: str
    parent: str | None
    holders: tuple[str, ...]


@record
class Lost:
    """A session that is over and is to go on, held by `worker` if there is one.

    `undoes` is the journal's entry of its end, which a person takes back; without one only what
    was taken for dead goes on.
    """

    ref: int
    schedule: Schedule
    entry: Entry
    worker: str | None = None
    undoes: int | None = None


@record
class Sample:
    """How the open sessions of a home stood at one moment."""

    home: str
    at: datetime
    open: int
    live: int
    waiting: int
    leaked: int
    unproven: int


@record
class ShadowCount:
    """Reaps that were only recorded for a home, and how many activity proved wrong."""

    home: str
    recorded: int
    contradicted: int


class Reaping(Protocol):
    """Workers' beats, and the end of what their death leaves behind."""

    def beat(self, worker: str) -> int | None:
        """Raise the worker's counter durably; None if it is declared dead, left or unknown."""

    def suspects(self) -> list[Worker]:
        """Every worker that has not left, and dead ones that still hold something."""

    def sessions_of(self, *workers: str) -> list[Session]:
        """The open sessions that any of the workers holds, with all their holders."""

    def left_by(self, *workers: str) -> list[Left]:
        """The same, but for ending them: there may be very many."""

    def reap(self, reaps: Sequence[tuple[ReapSession, Entry]], now: datetime) -> list[bool]:
        """End each session that still is as seen and whose holders have not beaten since."""

    def declare(self, dead: Sequence[tuple[Worker, str]], now: datetime) -> int:
        """Record deaths with their evidence, unless the worker has beaten since.

        No dead worker holds a session afterwards that has ended by other means.
        """

    def release(self, held: Sequence[tuple[int, str]]) -> None:
        """Take dead holders off sessions that live on without them, and any off what has ended."""

    def revive(self, lost: Sequence[Lost], now: datetime) -> list[Session]:
        """Open sessions again with all they had, which counts as activity; the epoch rises.

        One whose key has gone on in another session, or whose end was undone already, stays.
        """

    def progress(self, ref: int, worker: str, now: datetime) -> None:
        """Record that a running turn got on."""

    def occupy(self, session: Session, worker: str, now: datetime) -> bool:
        """Mark the holder of a foreign session busy: its home counts the turns itself."""


class Samples(Protocol):
    """What was counted over time, and what was only recorded."""

    def store(self, samples: Sequence[Sample], now: datetime) -> None:
        """Keep samples; very old ones are forgotten."""

    def since(self, moment: datetime) -> list[Sample]:
        """The samples from a moment on, oldest first."""

    def record(self, *actions: ReapSession, now: datetime) -> list[bool]:
        """Write down reaps that were not carried out; False of one that was already."""

    def recorded(self, home: str) -> frozenset[tuple[str, datetime]]:
        """The sessions of a home whose reap was only recorded, and when each had been active."""

    def shadows(self) -> list[ShadowCount]:
        """How the recorded reaps turned out, by home."""

    def first_shadow(self, home: str) -> datetime | None:
        """When the first reap was only recorded for a home."""
