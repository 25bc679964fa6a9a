"""How is a process held on to, so that a signal can reach no other one?"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterable
from typing import Protocol

from sexton.ports.system import Clock
from sexton.system.process_table import ZOMBIES, read_row
from sexton.system.processes import has_pidfs


class Grip(Protocol):
    """One process, the same for as long as it is held."""

    @property
    def inode(self) -> int | None:
        """Its number that no other process of this boot has, where the kernel keeps one."""

    def is_alive(self) -> bool: ...

    def signal(self, number: signal.Signals) -> None:
        """Signal it; ProcessLookupError if it is gone, PermissionError if it may not be."""

    def release(self) -> None: ...


class PidfdGrip:
    """Holds a pidfd: whatever gets the pid later, it stands for the same process."""

    def __init__(self, pid: int) -> None:
        self.descriptor = os.pidfd_open(pid)

    @property
    def inode(self) -> int | None:
        return os.fstat(self.descriptor).st_ino if has_pidfs() else None

    def is_alive(self) -> bool:
        return stands_for_somebody_alive(self.descriptor)

    def signal(self, number: signal.Signals) -> None:
        signal.pidfd_send_signal(self.descriptor, number)

    def release(self) -> None:
        os.close(self.descriptor)


class PlainGrip:
    """Holds a pid and a start time, which a stranger may come to have between look and signal."""

    inode = None

    def __init__(self, pid: int) -> None:
        # To the kernel, 0 and negative numbers mean whole groups of processes, or all.
        row = read_row(pid) if pid > 1 else None
        if row is None:
            raise ProcessLookupError(pid)
        self._pid = pid
        self._started = row.started

    def is_alive(self) -> bool:
        row = read_row(self._pid)
        return row is not None and row.started == self._started and row.state not in ZOMBIES

    def signal(self, number: signal.Signals) -> None:
        if not self.is_alive():
            raise ProcessLookupError(self._pid)
        os.kill(self._pid, number)

    def release(self) -> None:
        """Nothing is held."""


def stands_for_somebody_alive(descriptor: int) -> bool:
    """Whether the process of a pidfd has not exited."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return not poll.poll(0)


def has_pidfds() -> bool:
    """Whether processes can be held on to here."""
    return hasattr(os, "pidfd_open")


def wait_for_any(grips: Iterable[Grip], seconds: float, clock: Clock) -> None:
    """Let time pass until one of the processes ends, as far as that can be noticed."""
    poll = select.poll()
    held = [grip.descriptor for grip in grips if isinstance(grip, PidfdGrip)]
    for descriptor in held:
        poll.register(descriptor, select.POLLIN)
    if held:
        poll.poll(seconds * 1000)
    else:
        clock.sleep(seconds)
