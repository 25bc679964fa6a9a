"""What has been spent in the sessions of this process that the ledger does not know of yet?"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping

from sexton.spending.model import Unit


class Uncounted:
    """Amounts by session and model, kept while the ledger is away; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spent: dict[str, dict[str, Counter[Unit]]] = {}

    def add(self, session_id: str, model: str, amounts: Mapping[Unit, int]) -> None:
        """Keep what a call of the model took."""
        with self._lock:
            models = self._spent.setdefault(session_id, {})
            models.setdefault(model, Counter()).update(amounts)

    def take(self, session_id: str) -> dict[str, Counter[Unit]]:
        """All that is kept of a session; the caller adds again what it cannot count."""
        with self._lock:
            return self._spent.pop(session_id, {})
