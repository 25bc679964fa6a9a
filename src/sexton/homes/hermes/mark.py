"""How far has a Hermes home been observed?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sexton.homes.hermes.hermes_database import FileStamp, Signature

FORMAT = 1
FULL_EVERY = timedelta(days=1)
# File times have the grain of the kernel's tick: a younger file may change without showing it.
SETTLING = 0.1


class Watermarks(NamedTuple):
    """Where the tables of a home end: message number, session row and its id, count, last spend."""

    message: int
    rowid: int
    last_id: str
    sessions: int
    spent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where the last look ended; a look goes on from here.

    `trail` is the message watermark of the look before: titles and costs arrive moments after
    the message they belong to, so a look goes over the sessions of the one before again.
    """

    signature: Signature
    water: Watermarks
    trail: int
    looked_at: datetime
    full_at: datetime

    def is_current(self, seen: Signature, now: datetime) -> bool:
        """Whether the files prove that nothing has changed since."""
        age = self.looked_at.timestamp() - self.signature.newest
        return seen == self.signature and age > SETTLING and not self.wants_full(seen, now)

    def wants_full(self, seen: Signature, now: datetime) -> bool:
        """Whether the home is another file, or was last looked through long ago."""
        replaced = seen.database[0] != self.signature.database[0]
        return replaced or not timedelta() <= now - self.full_at < FULL_EVERY

    def dump(self) -> dict[str, Any]:
        """The mark as JSON."""
        return {
            "format": FORMAT,
            "database": list(self.signature.database),
            "wal": list(self.signature.wal) if self.signature.wal else None,
            "water": list(self.water),
            "trail": self.trail,
            "looked_at": self.looked_at.isoformat(),
            "full_at": self.full_at.isoformat(),
        }


def load(stored: Mapping[str, Any] | None) -> Mark | None:
    """The mark that was dumped; None if there is none or another version wrote it."""
    if stored is None or stored.get("format") != FORMAT:
        return None
    try:
        wal = stored["wal"]
        message, rowid, last_id, sessions, spent = stored["water"]
        return Mark(
            signature=Signature(_stamp(stored["database"]), _stamp(wal) if wal else None),
            water=Watermarks(int(message), int(rowid), str(last_id), int(sessions), float(spent)),
            trail=int(stored["trail"]),
            looked_at=datetime.fromisoformat(stored["looked_at"]).astimezone(UTC),
            full_at=datetime.fromisoformat(stored["full_at"]).astimezone(UTC),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _stamp(values: list[int]) -> FileStamp:
    inode, size, changed = values
    return int(inode), int(size), int(changed)
