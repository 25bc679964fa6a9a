"""How does a child that is forked meanwhile keep neither a lock nor a pipe of ours alive?

A fork without exec copies every descriptor: a file lock would last, and a program's input stay
open, for as long as the child lives.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

_ours: set[int] = set()
_unforked = threading.RLock()
"""Whoever forks waits while a descriptor comes or goes."""


def opened(open: Callable[[], T], descriptors: Callable[[T], Iterable[int]]) -> T:
    """What is opened; a child that is forked from now on finds nothing behind its descriptors."""
    with _unforked:
        found = open()
        _ours.update(descriptors(found))
        return found


def closed(descriptor: int, close: Callable[[], object]) -> None:
    """Close it, and forget its number, which may be somebody else's next."""
    with _unforked:
        _ours.discard(descriptor)
        close()


def _let_go() -> None:
    if _ours:
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        for descriptor in _ours:
            # Not closed: whoever closes the copy later must not meet a stranger's descriptor.
            os.dup2(nothing, descriptor, inheritable=False)
        os.close(nothing)
        _ours.clear()
    _unforked.release()


os.register_at_fork(
    before=_unforked.acquire, after_in_parent=_unforked.release, after_in_child=_let_go
)
