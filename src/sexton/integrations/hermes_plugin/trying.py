"""What if the ledger can not be had? The agent goes on, and somebody is told once."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from sexton.core.machine_ports import Clock
from sexton.errors import LedgerError, LedgerGone

T = TypeVar("T")

REST = 60.0
"""For so many seconds after trouble with the ledger nobody waits for it again."""

log = logging.getLogger("sexton.hermes")


class Trying:
    """Tries what needs the ledger, and does without where it fails.

    Whatever is raised is caught: Hermes lets a call through whose guard raises. `part` is called
    when the ledger is gone from its place.
    """

    def __init__(self, clock: Clock, part: Callable[[], None] = lambda: None) -> None:
        self.clock = clock
        self._part = part
        self._rests_until = 0.0
        self._has_told = False
        self.trouble: str | None = None

    def __call__(self, act: Callable[[], T], otherwise: T, *, rests: bool = True) -> T:
        """What the act comes to; otherwise what the agent goes on with.

        Without `rests` the act is tried after trouble too.
        """
        if rests and self.clock.monotonic() < self._rests_until:
            return otherwise
        try:
            done = act()
        except Exception as trouble:  # noqa: BLE001  # whatever it is, the guard must stand
            if isinstance(trouble, LedgerError | OSError):
                self._rests_until = self.clock.monotonic() + REST
            self._tell(trouble)
            if isinstance(trouble, LedgerGone):
                self(self._part, None, rests=False)
            return otherwise
        return done

    def surely(self, *guards: Callable[[], T | None], last: T) -> T | None:
        """What the first guard says that can say anything; `last` where each of them fails."""
        for guard in guards:
            try:
                return guard()
            except Exception as trouble:  # noqa: BLE001  # Hermes goes on where its guard raises
                with suppress(Exception):  # to tell of it may fail for the same cause
                    self._tell(trouble)
        return last

    def answered(self) -> None:
        """The ledger has answered: what trouble there was is over."""
        self.trouble = None

    def _tell(self, trouble: Exception) -> None:
        what = str(trouble) or type(trouble).__name__
        self.trouble = f"{self.clock.now():%Y-%m-%d %H:%M:%S} UTC: {what}"
        if not self._has_told:
            self._has_told = True
            words = (
                "sexton can not use its ledger, so for now each turn of this process is bounded "
                f"by what it spends itself: {what}"
            )
            tell(words)


def tell(words: str) -> None:
    """Say something in the log and on standard error, if there is one; raises nothing."""
    log.warning("%s", words)
    with suppress(AttributeError, OSError, ValueError):  # it may be gone, broken or closed
        sys.stderr.write(f"{words}\n")
