"""Questions about the files that hold what was removed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sexton.core.session import State
from sexton.retention.model import (
    Holds,
    Inside,
    VaultFile,
    VaultKind,
    VaultState,
    WantedFiles,
    Written,
)
from sexton.store.database import Database
from sexton.store.rows import Row, maybe_moment, micros, moment

MICROSECOND = timedelta(microseconds=1)


END = 2**63 - 1
"""Higher than every number of a file."""


class LedgerVaultBook:
    """Questions about vault files, and how long archives are kept."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, wanted: WantedFiles, after: int, limit: int) -> list[VaultFile]:
        """Files in the order they were made, after a row."""
        values = {"kind": wanted.kind, "home": wanted.home, "source": wanted.source}
        return self._files("page_files", **values, after=after, limit=limit)

    def newest(self, wanted: WantedFiles, before: int | None, limit: int) -> list[VaultFile]:
        """Files from the newest to the oldest, before a row or from the newest of all."""
        values = {"kind": wanted.kind, "home": wanted.home, "source": wanted.source}
        last = END if before is None else before
        return self._files("newest_files", **values, before=last, limit=limit)

    def of_receipt(self, receipt: str) -> list[VaultFile]:
        """The files an apply left."""
        return self._files("files_of_receipt", receipt=receipt)

    def of_session(self, ref: int) -> VaultFile | None:
        """Where a removed session is; None if it is here, or gone for good."""
        return next(iter(self._files("file_of_session", session=ref)), None)

    def unfinished(self, host: str) -> list[VaultFile]:
        """Files of a machine that somebody is at, or was when it died."""
        return self._files("unfinished_files", host=host)

    def expired(self, kind: VaultKind, host: str, now: datetime, limit: int) -> list[VaultFile]:
        """Files of a machine whose time is over, oldest first."""
        values = {"kind": kind, "host": host, "now": micros(now)}
        return self._files("expired_files", **values, limit=limit)

    def expire_archives(self, host: str, age: timedelta | None) -> None:
        """Let the archives of a machine expire at an age, or never."""
        after = None if age is None else age // MICROSECOND
        self._database.statement("expire_archives", host=host, age=after)

    def inside(self, file: VaultFile) -> list[Inside]:
        """The sessions that are in a file and nowhere else."""
        found = self._database.read(lambda tx: tx.all("sessions_inside", vault=file.ref))
        return [Inside(row[0], row[1], State(row[2]), row[3]) for row in found]

    def left(self, files: Sequence[VaultFile]) -> dict[int, int]:
        """How many sessions are in each file, by its row; of files alone those that were written.

        Fewer than were written, where some were brought back.
        """
        refs = json.dumps([each.ref for each in files])
        found: dict[int, int] = dict(
            self._database.read(lambda tx: tx.all("count_inside", refs=refs))
        )
        return {
            each.ref: found.get(each.ref, 0)
            if each.holds is Holds.SESSIONS
            else each.written.sessions
            for each in files
        }

    def _files(self, name: str, **values: Any) -> list[VaultFile]:
        return vault_files(self._database.read(lambda tx: tx.all(name, **values)))


def vault_files(found: Sequence[Row]) -> list[VaultFile]:
    """Files from the columns of `vault_file`."""
    return [
        VaultFile(
            ref=row[0],
            name=row[1],
            kind=VaultKind(row[2]),
            holds=Holds(row[3]),
            home=row[4],
            source=row[5],
            host=row[6],
            place=row[7],
            state=VaultState(row[8]),
            worker=row[9],
            receipt=row[10],
            made_at=moment(row[11]),
            expires_at=maybe_moment(row[12]),
            written=Written(
                bytes=row[13],
                raw_bytes=row[14],
                sha256=row[15],
                sessions=row[16],
                messages=row[17],
                files=row[18],
            ),
        )
        for row in found
    ]
