"""Stop a process of a test where it keeps nobody from writing."""

from __future__ import annotations

import os
import signal
import time
from contextlib import ExitStack, closing
from pathlib import Path

import apsw

from sexton.store.opening import sqlite_path

BOUND = 240.0


def stop_between_writes(pid: int, url: str) -> None:
    """Stop a process while it does not have a SQLite ledger locked; a server frees its locks."""
    with ExitStack() as stack:
        if url.startswith("sqlite"):
            ours = stack.enter_context(closing(apsw.Connection(str(sqlite_path(url)))))
            ours.set_busy_timeout(int(BOUND * 1000))
            ours.execute("BEGIN IMMEDIATE")
            stack.callback(ours.execute, "ROLLBACK")
        os.kill(pid, signal.SIGSTOP)
        deadline = time.monotonic() + BOUND
        while not _stands_still(pid):
            assert time.monotonic() < deadline
            time.sleep(0.01)


def _stands_still(pid: int) -> bool:
    """Whether every thread does: the signal alone is only a wish."""
    stats = [each.read_text() for each in Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(each.rpartition(")")[2].split()[0] in "Tt" for each in stats)
