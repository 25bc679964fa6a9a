"""What came of what was asked for on a page?"""

from __future__ import annotations

import threading
from collections import OrderedDict

from sexton.core.record import record
from sexton.web.pages.plans_page import Group

MOST = 100


@record
class Deed:
    """What came of something that was asked for, and where its undoing is asked for."""

    words: str
    tone: str = "good"
    outcomes: tuple[Group, ...] = ()
    undo: str | None = None


class Deeds:
    """The newest deeds by receipt; the journal has them all, but not what was left alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done: OrderedDict[str, Deed] = OrderedDict()

    def put(self, receipt: str, deed: Deed) -> None:
        """Remember it; of too many the oldest is forgotten."""
        with self._lock:
            self._done[receipt] = deed
            while len(self._done) > MOST:
                self._done.popitem(last=False)

    def get(self, receipt: str) -> Deed | None:
        """What is remembered of a receipt."""
        with self._lock:
            return self._done.get(receipt)
