"""Why is a process not stopped? What people are told of it."""

from __future__ import annotations

import signal

from sexton.processes.process_table import SLEEPS_DEEPLY, read_row

OURSELVES = "it is this process, one it was started by, or the first of all"
OTHERS = "it belongs to another user"
CHANGED = "it runs another command now than the one that was shown"
UNPROVEN = "nothing but its pid and start time speaks for it, which a stranger may have"
UNREADABLE = "the processes of this machine can not be read"
MOVES = "it is replaced by another one more quickly than it can be held on to"
NO_ROOM = "too many files are open here to look at it or to hold on to it"
NO_PIDFD = "this system has no pidfds, so a signal might reach a stranger"
FORBIDDEN = "it may not be signalled"
DEEP = "it sleeps in the kernel and hears no signal"
LATE = "it did not end in time"
UNTOLD = "it was not signalled any more"


def still_there(pid: int, sent: signal.Signals | None, *, is_waited_for: bool) -> str:
    """Why a process that was found is there still: what it was sent last, and what it does."""
    row = read_row(pid)
    if row is not None and row.state == SLEEPS_DEEPLY:
        return DEEP
    if is_waited_for:
        return LATE
    return f"{sent.name} was sent, but not waited for" if sent else UNTOLD
