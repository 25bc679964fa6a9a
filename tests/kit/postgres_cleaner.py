"""What is left of a test's PostgreSQL when the test is gone? Nothing.

Runs as a program of its own beside a server, and waits for its starter to finish or to be killed:
either ends what it reads.
"""

from __future__ import annotations

import ctypes
import shutil
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import psutil

PAUSE = 0.01
PATIENCE = 24_000
"""How often something is looked for, `PAUSE` seconds apart, before it is given up."""


def kill(processes: Iterable[psutil.Process]) -> bool:
    """Kill processes and wait for their end; whether all of them are gone."""
    doomed = list(processes)
    for process in doomed:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    return have_ended(doomed)


def have_ended(processes: Iterable[psutil.Process]) -> bool:
    """Wait for processes to end; whether all of them did."""
    left = list(processes)
    for _ in range(PATIENCE):
        left = [process for process in left if _is_alive(process)]
        if not left:
            return True
        time.sleep(PAUSE)
    return False


def clean_up(directory: Path) -> None:
    """End a server that still runs below the directory, and remove all its traces."""
    segment = _shared_memory(directory / "data" / "postmaster.pid")
    # All processes of a server work in its directory, and nobody else's do.
    kill(process for process in psutil.process_iter() if _works_in(process, directory))
    if segment is not None:
        ctypes.CDLL(None).shmctl(segment, 0, None)
    shutil.rmtree(directory, ignore_errors=True)


def _is_alive(process: psutil.Process) -> bool:
    try:
        # Whoever inherits a killed server's children may be slow to collect them.
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _works_in(process: psutil.Process, directory: Path) -> bool:
    try:
        return Path(process.cwd()) in {directory, directory / "data"}
    except psutil.Error:
        return False


def _shared_memory(pid_file: Path) -> int | None:
    """The segment a killed server would leave; a machine has room for some thousand only."""
    with suppress(FileNotFoundError, IndexError, ValueError):
        return int(pid_file.read_text().splitlines()[6].split()[1])
    return None


def main() -> None:
    """Wait for a sign of the starter, or for its death, then clean up."""
    sys.stdin.buffer.read(1)
    clean_up(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
