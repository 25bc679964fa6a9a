"""How is a process held on to, so that a signal can reach no other one?"""

from __future__ import annotations

import errno
import os
import select
import signal
from collections.abc import Iterable
from typing import Protocol

from sexton.core.machine_ports import Clock
from sexton.liveness.process_identity import has_pidfs, open_pidfd, stands_for_somebody_alive
from sexton.processes.process_table import ZOMBIES, read_row


class Grip(Protocol):
    """One process, the same for as long as it is held."""

    @property
    def inode(self) -> int | None:
        """Its number that no other process of this boot has, where the kernel keeps one."""

    def is_alive(self) -> bool: ...

    def signal(self, number: signal.Signals) -> None:
        """Signal it; ProcessLookupError if it is gone, PermissionError if it may not be."""

    def release(self) -> None:
        """Let go of it; whoever let go of one that ended need not know its end any more."""


class PidfdGrip:
    """Holds a pidfd: whatever gets the pid later, it stands for the same process.

    Released, it stands for nobody.
    """

    def __init__(self, pid: int) -> None:
        self.descriptor: int | None = open_pidfd(pid)
        try:
            os.close(os.dup(self.descriptor))  # one is left to read with
        except OSError:
            self.release()
            raise

    @property
    def inode(self) -> int | None:
        held = self.descriptor
        return os.fstat(held).st_ino if held is not None and has_pidfs() else None

    def is_alive(self) -> bool:
        return self.descriptor is not None and stands_for_somebody_alive(self.descriptor)

    def signal(self, number: signal.Signals) -> None:
        if self.descriptor is None:
            raise ProcessLookupError
        signal.pidfd_send_signal(self.descriptor, number)

    def release(self) -> None:
        held, self.descriptor = self.descriptor, None
        if held is not None:
            os.close(held)


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


def has_pidfds() -> bool:
    """Whether processes can be held on to here: the kernel may be too old, or forbid it."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except AttributeError:
        return False
    except OSError as problem:
        return problem.errno not in (errno.ENOSYS, errno.EPERM)
    return True


def may_be_signalled(pid: int) -> bool:
    """Whether a process of this user has the pid, which can be asked without a descriptor."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return pid > 0  # to the kernel anything else means many


def wait_for_any(grips: Iterable[Grip], seconds: float, clock: Clock) -> None:
    """Let time pass until one of the processes ends, as far as that can be noticed."""
    poll = select.poll()
    held = [grip.descriptor for grip in grips if isinstance(grip, PidfdGrip)]
    for descriptor in held:
        if descriptor is not None:
            poll.register(descriptor, select.POLLIN)
    if held:
        poll.poll(seconds * 1000)
    else:
        clock.sleep(seconds)
