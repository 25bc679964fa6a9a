"""Which process came of one that was just started here?

Its pid alone does not say: where children are collected by whoever (SIGCHLD ignored, a reaper
that waits for any), it may have ended already, and its pid be a stranger's.
"""

from __future__ import annotations

import os
import signal

from sexton.core.record import replace
from sexton.liveness.process_identity import SystemProcesses, has_pidfs
from sexton.processes.pidfds import has_pidfds
from sexton.processes.process_ports import Newborn
from sexton.processes.process_table import owner, read_row, tags_of


def recognise(pid: int, tag: str) -> Newborn | None:
    """The process that was started with a tag, proved, held by a pidfd; None if it is gone.

    Its caller closes the pidfd.
    """
    try:
        pidfd = os.pidfd_open(pid) if has_pidfds() else None
    except OSError:
        return None
    row, user, is_tagged = read_row(pid), owner(pid), tag in tags_of(pid)
    is_ours = is_tagged or (row is not None and row.parent == os.getpid() and _we_collect())
    if row is None or user is None or not is_ours or not _is_uncollected(pidfd):
        if pidfd is not None:
            os.close(pidfd)
        return None
    inode = os.fstat(pidfd).st_ino if pidfd is not None and has_pidfs() else None
    myself = SystemProcesses().myself()
    who = replace(myself, pid=pid, started=row.started, inode=inode, uid=user)
    return Newborn(who, pidfd)


def _we_collect() -> bool:
    """Whether a child that ended keeps its pid until somebody waits for it."""
    return signal.getsignal(signal.SIGCHLD) is not signal.SIG_IGN


def _is_uncollected(pidfd: int | None) -> bool:
    """Whether the pid was the process's own all the time that the pidfd is open."""
    if pidfd is None:
        return True
    try:
        signal.pidfd_send_signal(pidfd, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's by now, and there
        return True
    return True
