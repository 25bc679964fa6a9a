"""The lock of what threads share in an agent: a signal handler gets in, and a fork does not jam it.

It is a plain `RLock`, which is entered and left in single steps, so that no exception of a signal
handler leaves it locked. A lock that another thread held at a fork would stay locked in the child,
where that thread is not. So the child opens every such lock before anything else runs there.
"""

from __future__ import annotations

import os
import threading
from weakref import WeakSet

_locks: WeakSet[threading.RLock] = WeakSet()


def shared_lock() -> threading.RLock:
    """A new re-entrant lock; a forked child finds it free, unless the forking thread holds it."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def _in_child() -> None:
    for lock in list(_locks):
        # A signal handler may fork while its own thread is inside: that frame still leaves it.
        if not lock._is_owned():  # type: ignore[attr-defined]  # as conditions ask
            lock._at_fork_reinit()  # type: ignore[attr-defined]  # as `threading` does


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
