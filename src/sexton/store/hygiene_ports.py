"""What is needed to know how big a ledger is, and to give back what it no longer uses."""

from __future__ import annotations

from typing import Protocol

from sexton.core.record import record


@record
class LedgerSize:
    """How big a ledger is, in bytes; what is free in it is reused, and given back by trimming."""

    bytes: int
    free_bytes: int = 0
    wal_bytes: int = 0


@record
class Space:
    """How much a disk holds and how much of that is free for this user; files are counted, too."""

    total: int
    free: int
    free_files: int | None = None


class Hygiene(Protocol):
    """The size of one's own ledger; never asked of a home's database."""

    def size(self) -> LedgerSize:
        """How big it is now."""

    def trim(self) -> int:
        """Give a few free pages back to the disk in one short transaction; how many bytes.

        0 once there is nothing to give back, or where the server sees to it.
        """

    def fold(self) -> None:
        """Write the log's pages to their places, so that nobody who commits has to; locks nobody.

        For whoever changes much in one go.
        """
