"""A program whose disk fails at a chosen write or sync, once or for a while."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from sexton.errors import LedgerError
from sexton.store.ledger import Ledger
from sexton.store.opening import open_ledger
from tests.contract.ledger_contract_samples import born, heard, reread, say
from tests.kit.nursery import Report

THREADS = 3
TURNS = 4
STEPS = 15


@dataclass
class Trouble:
    """After how many operations the disk fails, for how many, and with which error."""

    after: int
    lasting: int
    error: type[apsw.Error]
    armed: bool = False
    seen: int = 0
    struck: int = 0

    def meet(self) -> None:
        """Count an operation, and fail if it is its turn."""
        if self.armed:
            self.seen += 1
            if self.after < self.seen <= self.after + self.lasting:
                self.struck += 1
                raise self.error("the disk failed")


class Disk(apsw.VFS):
    """The usual files, with trouble."""

    def __init__(self, trouble: Trouble) -> None:
        self._trouble = trouble
        super().__init__("failing", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  # the engine's name
        return DiskFile(self._trouble, name, flags)


class DiskFile(apsw.VFSFile):
    """A file whose writes and syncs can fail."""

    def __init__(self, trouble: Trouble, name: Any, flags: list[int]) -> None:
        self._trouble = trouble
        super().__init__("unix", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  # the engine's name
        self._trouble.meet()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802  # the engine's name
        self._trouble.meet()
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:  # noqa: N802  # the engine's name
        self._trouble.meet()
        super().xTruncate(size)


ERRORS: dict[str, type[apsw.Error]] = {"full": apsw.FullError, "broken": apsw.IOError}


def suffer_at_every_step(report: Report, directory: str, kind: str) -> None:
    """Let the disk fail at each of its first operations, for a moment and for longer."""
    for lasting in (1, 4, 1000):
        for after in range(STEPS):
            path = Path(directory, f"{lasting}.{after}.db")
            _suffer(report, str(path), Trouble(after, lasting, ERRORS[kind]))
            for each in path.parent.iterdir():
                each.unlink()


def _suffer(report: Report, path: str, trouble: Trouble) -> None:
    """Append while the disk fails, then go on with a sound one; check every promise."""
    disk = Disk(trouble)
    ledger = open_ledger(path)
    begun = born(ledger)
    said: list[str] = []
    refused: list[str] = []

    def talk(number: int) -> None:
        for turn in range(TURNS):
            text = f"{number} {turn} " + "x" * 3000
            (said if _is_acknowledged(ledger, begun, text) else refused).append(text)

    trouble.armed = True
    threads = [threading.Thread(target=talk, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    trouble.armed = False
    assert say(ledger, begun, "after")
    found = [each.content for each in heard(ledger, begun)]
    assert found[-1] == "after"
    assert set(said) <= set(found) <= {*said, *refused, "after"}
    assert len(found) == len(set(found)) == reread(ledger, begun).message_count
    ledger.close()
    with closing(apsw.Connection(path)) as connection:
        assert connection.pragma("integrity_check") == "ok"
    report.tell("suffered", trouble.struck, len(refused))
    disk.unregister()


def _is_acknowledged(ledger: Ledger, begun: Any, text: str) -> bool:
    try:
        return say(ledger, begun, text) is not None
    except LedgerError:
        return False
