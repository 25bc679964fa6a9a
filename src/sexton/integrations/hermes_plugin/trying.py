"""What if the ledger can not be had? The agent goes on without, and somebody is told once."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import TypeVar

from sexton.errors import LedgerError, SextonError
from sexton.ports import Clock

T = TypeVar("T")

REST = 60.0
"""For so many seconds after trouble with the ledger nobody waits for it again."""

log = logging.getLogger("sexton.hermes")


class Trying:
    """Tries what needs the ledger, and does without where it fails."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rests_until = 0.0
        self.trouble: str | None = None

    def __call__(self, act: Callable[[], T], otherwise: T) -> T:
        """What the act comes to; otherwise what the agent goes on with."""
        if self._clock.monotonic() < self._rests_until:
            return otherwise
        try:
            done = act()
        except (SextonError, OSError) as trouble:
            if isinstance(trouble, LedgerError | OSError):
                self._rests_until = self._clock.monotonic() + REST
            self._tell(trouble)
            return otherwise
        return done

    def _tell(self, trouble: Exception) -> None:
        is_first = self.trouble is None
        self.trouble = str(trouble)
        if is_first:
            words = f"sexton does not look after this process for now: {trouble}"
            log.warning("%s", words)
            sys.stderr.write(f"{words}\n")
