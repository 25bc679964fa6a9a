"""What must happen to open connections when the process forks?

A SQLite connection that crosses a fork loses acknowledged writes without an error, and a
PostgreSQL connection would be shared by two processes. So no fork happens in the middle of a
transaction, and the child lets go of what it inherited before anything else runs in it.
"""

from __future__ import annotations

import os
import threading
from typing import Protocol
from weakref import WeakSet


class Forkable(Protocol):
    """Something with connections."""

    def before_fork(self) -> None:
        """Wait for a moment without a transaction, and keep it."""

    def after_fork_in_parent(self) -> None:
        """Go on as before."""

    def after_fork_in_child(self) -> None:
        """Let go of every inherited connection; the next call opens new ones."""


_open: WeakSet[Forkable] = WeakSet()
_forking: list[Forkable] = []
_one_at_a_time = threading.Lock()


def watch(database: Forkable) -> None:
    """Have the database told about forks for as long as it is referenced."""
    with _one_at_a_time:
        _open.add(database)


def forget(database: Forkable) -> None:
    """Stop telling it."""
    with _one_at_a_time:
        _open.discard(database)


def _before() -> None:
    _one_at_a_time.acquire()
    _forking[:] = list(_open)
    for database in _forking:
        database.before_fork()


def _in_parent() -> None:
    for database in reversed(_forking):
        database.after_fork_in_parent()
    _forking.clear()
    _one_at_a_time.release()


def _in_child() -> None:
    for database in reversed(_forking):
        database.after_fork_in_child()
    _forking.clear()
    _one_at_a_time.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
