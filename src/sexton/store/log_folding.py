"""When is the log of a ledger's file folded in, and by whom?

To fold it in is to copy into the file what the log holds, and to wait until it is on the disk. A
thread does that, so that whoever writes goes on. It can not finish while they do: a log begins anew
only when nothing of it is left. Where they pause for a moment, that is so. Where they never do,
they finish what came meanwhile, but not before the log is long, as they have to wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import apsw

from sexton.core.troubles import Troubles
from sexton.errors import LedgerError

PAGES = 1500  # few enough to stay in a processor's caches; those written often are copied once
LONG = 3 * PAGES
PATIENCE = 10.0


class LogFolding:
    """The thread that folds one log, while there is one; `fold` does as much as can be done."""

    def __init__(self, fold: Callable[[], None]) -> None:
        self._fold = fold
        self._thread: threading.Thread | None = None
        self._left = 0  # pages that were left then: they came meanwhile, or somebody reads them
        self._stopped = False
        self._troubles = Troubles("sexton.ledger")

    def tend(self, connection: apsw.Connection) -> None:
        """Have the log folded if much is new; called now and then by whoever writes to it."""
        thread = self._thread  # a signal handler may come in between, and tend it as well
        if thread is None:
            pages, folded = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
            self._left = min(self._left, pages - folded)
            if pages - folded - self._left >= PAGES and not self._stopped:
                self._begin()
        elif not thread.is_alive():
            self._thread = None
            pages, folded = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
            if pages >= LONG:
                pages, folded = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            self._left = pages - folded

    def stop(self) -> None:
        """Wait for the thread; there will be no other."""
        self._stopped = True
        thread = self._thread
        if thread is not None:
            thread.join(PATIENCE)

    def _begin(self) -> None:
        thread = threading.Thread(target=self._run, name="sexton-fold", daemon=True)
        self._thread = thread  # before it runs: an interrupt while it starts must not lose it
        try:
            thread.start()
        except RuntimeError:  # none can be had: writers fold a very long log themselves
            self._thread = None

    def _run(self) -> None:
        try:
            self._fold()
        except Exception as trouble:  # noqa: BLE001  # the next one may work, and writers go on
            if not isinstance(trouble, LedgerError):
                self._troubles("fold", "the write-ahead log was not copied back", trouble)
