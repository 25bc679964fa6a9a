"""What is needed from the machine: time and processes."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from sexton.liveness.evidence import Sight
from sexton.liveness.model import Identity


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> datetime:
        """The wall clock, aware, in UTC; for what people read and for policies."""

    def monotonic(self) -> float:
        """Seconds of this machine's running time; for waiting."""

    def elapsed(self) -> float:
        """Seconds on a clock that also goes on while the machine sleeps."""

    def sleep(self, seconds: float) -> None:
        """Let time pass."""


class ProcessTable(Protocol):
    """The processes of this machine."""

    def myself(self) -> Identity:
        """The identity of the calling process."""

    def look(self, identity: Identity) -> Sight:
        """What can be seen of a recorded process from here."""
