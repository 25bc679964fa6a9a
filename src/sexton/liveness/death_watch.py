"""Which watched process dies first?

Where the kernel has pidfds a death is noticed at once; elsewhere at the next look.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Iterable
from typing import Protocol

from sexton.liveness.evidence import Sight
from sexton.liveness.model import Identity
from sexton.liveness.process_identity import SystemProcesses


class DeathWatch(Protocol):
    """Notices the death of processes on this machine as it happens.

    Tests of the keeper stand in for it: what the kernel tells cannot be made to fail at will.
    """

    def watch(self, identities: Iterable[Identity]) -> None:
        """Watch exactly these, as far as they live here."""

    def wait(self, seconds: float) -> bool:
        """Let time pass; True as soon as a watched process has died."""

    def wake(self) -> None:
        """End every wait, now and from now on."""

    def close(self) -> None:
        """Let go of everything."""


class PidfdWatch:
    """Waits for the death of any watched process, or to be woken."""

    def __init__(self) -> None:
        self._table = SystemProcesses()
        self._watched: dict[Identity, int] = {}
        self._lock = threading.Lock()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_write, False)

    def watch(self, identities: Iterable[Identity]) -> None:
        """Watch exactly these, as far as they live here and can be watched."""
        wanted = set(identities)
        with self._lock:
            for gone in self._watched.keys() - wanted:
                os.close(self._watched.pop(gone))
            for new in wanted - self._watched.keys():
                descriptor = self._open(new)
                if descriptor is not None:
                    self._watched[new] = descriptor

    def wait(self, seconds: float) -> bool:
        """Let time pass; True as soon as a watched process has died."""
        with self._lock:
            descriptors = dict(zip(self._watched.values(), self._watched, strict=True))
        poll = select.poll()
        for descriptor in (self._wake_read, *descriptors):
            poll.register(descriptor, select.POLLIN)
        ready = [found for found, _ in poll.poll(max(0.0, seconds) * 1000)]
        with self._lock:
            for found in ready:
                identity = descriptors.get(found)
                if identity is not None and self._watched.get(identity) == found:
                    os.close(self._watched.pop(identity))
        return any(found != self._wake_read for found in ready)

    def wake(self) -> None:
        """End every wait, now and from now on."""
        os.write(self._wake_write, b"!")

    def close(self) -> None:
        """Let go of everything."""
        self.watch(())
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _open(self, identity: Identity) -> int | None:
        """A pidfd that is certainly of that process: it is checked after the pidfd is held."""
        if not hasattr(os, "pidfd_open") or identity.pid == os.getpid():
            return None
        try:
            descriptor = os.pidfd_open(identity.pid)
        except OSError:
            return None
        if self._table.look(identity) is Sight.PRESENT:
            return descriptor
        os.close(descriptor)
        return None
