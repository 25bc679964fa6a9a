"""Programs that meet a disk they can not write to."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import apsw

from sexton.errors import LedgerError, LedgerFull
from sexton.store.ledger import Ledger
from sexton.store.opening import open_ledger
from tests.contract.ledger_contract_samples import born, heard, reread, say
from tests.kit.nursery import Report

NOBODY = 65534
PAGE = 4096
THREADS = 6
LAST_RESORT = 100_000


def open_as_nobody(report: Report, path: str) -> None:
    """Give up all rights, then open a ledger and tell with which error that ended."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        open_ledger(path).close()
        report.tell("opened")
    except LedgerError as problem:
        report.tell(type(problem).__name__, problem.exit_code, bool(problem.hint))


def fill_the_disk(report: Report, directory: str) -> None:
    """Append until there is no room, make room, go on; tell what became of every message."""
    ballast = Path(directory, "ballast")
    ballast.write_bytes(bytes(2_000_000))
    ledger = open_ledger(f"{directory}/ledger.db")
    begun = born(ledger)
    said = _say_until_full(ledger, begun)
    report.tell("refused", len(said))
    assert sorted(each.content for each in heard(ledger, begun)) == sorted(said)
    assert reread(ledger, begun).message_count == len(said)
    fresh = _error_of(lambda: open_ledger(f"{directory}/fresh.db").close())
    report.tell("fresh", fresh)
    ballast.unlink()
    said += ["x" * 1000]
    assert say(ledger, begun, said[-1])
    ledger.close()
    _check(f"{directory}/ledger.db", said)
    open_ledger(f"{directory}/fresh.db").close()
    report.tell("went on")
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"\0" * PAGE):
            pass
    report.tell("then", _error_of(lambda: open_ledger(f"{directory}/ledger.db").close()))


def reach_the_file_limit(report: Report, directory: str) -> None:
    """Append until the system refuses to let the file grow, then lift the limit and go on."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    ledger = open_ledger(f"{directory}/ledger.db")
    begun = born(ledger)
    before, unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, unlimited))
    said = _say_until_full(ledger, begun)
    resource.setrlimit(resource.RLIMIT_FSIZE, (before, unlimited))
    said += ["x" * 1000]
    assert say(ledger, begun, said[-1])
    ledger.close()
    _check(f"{directory}/ledger.db", said)
    report.tell("went on")


def _say_until_full(ledger: Ledger, begun: object) -> list[str]:
    """Append from several threads until each is refused; what was acknowledged."""
    said: list[str] = []
    kinds: set[str] = set()

    def talk(number: int) -> None:
        for turn in range(LAST_RESORT):
            text = f"{number} {turn} " + "x" * (3000 + 500 * number)
            error = _error_of(lambda text=text: say(ledger, begun, text))  # type: ignore[arg-type,misc]
            if error:
                kinds.add(error)
                return
            said.append(text)

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kinds <= {LedgerFull.__name__, LedgerError.__name__}
    return said


def _error_of(act: Callable[[], object]) -> str:
    try:
        act()
    except LedgerError as problem:
        return type(problem).__name__
    return ""


def _check(path: str, said: list[str]) -> None:
    """All that was acknowledged is there and nothing else, and the file is whole."""
    with closing(apsw.Connection(path)) as connection:
        assert connection.pragma("integrity_check") == "ok"
        rows = connection.execute("SELECT CAST(content AS TEXT) FROM messages").fetchall()
    assert sorted(str(row[0]) for row in rows) == sorted(said)


class Printer(Report):
    """Tells on standard output."""

    def __init__(self) -> None:
        super().__init__(sys.stdout.fileno())


if __name__ == "__main__":
    fill_the_disk(Printer(), sys.argv[1])
