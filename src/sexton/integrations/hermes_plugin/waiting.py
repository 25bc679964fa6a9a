"""What have sessions spent of which the ledger does not know yet?

It outlasts the turn in which it was spent: a short turn may be over before the ledger is back.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping

from sexton.model.spend import Unit


class Waiting:
    """What waits to be counted, by session and model; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spent: dict[str, dict[str, Counter[Unit]]] = {}

    def add(self, session_id: str, model: str, amounts: Mapping[Unit, int]) -> None:
        """So much more is to be counted."""
        with self._lock:
            self._spent.setdefault(session_id, {}).setdefault(model, Counter()).update(amounts)

    def take(self, session_id: str) -> Mapping[str, Mapping[Unit, int]]:
        """What is to be counted now, by model; whoever fails to count it adds it again."""
        with self._lock:
            return self._spent.pop(session_id, {})
