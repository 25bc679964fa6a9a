"""The names by which the ledger knows the grants of a process."""

from __future__ import annotations

import os

from sexton.core.locks import shared_lock
from sexton.spending.model import Slot


class Slots:
    """The names of this process's grants; each slot is used again after its grant was settled.

    So the ledger keeps one row for each grant that was ever open at the same time. Thread-safe.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._lock = shared_lock()
        self._pid = os.getpid()
        self._idle: list[Slot] = []

    def take(self) -> Slot:
        """A name that no other grant has."""
        if self._pid != os.getpid():  # a forked child: the slots and the lock are its parent's
            self._begin()
        with self._lock:
            used = self._idle.pop() if self._idle else Slot(os.urandom(16).hex(), 0)
        return used._replace(number=used.number + 1)

    def give_back(self, slot: Slot) -> None:
        """The grant of that name is settled, or was never made."""
        with self._lock:
            self._idle.append(slot)
