"""What has been spent in the sessions of this process that the ledger does not know of yet?"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping

from sexton.spending.budgets import tokens
from sexton.spending.model import Unit


class Uncounted:
    """Amounts by session and model, kept while the ledger is away; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spent: dict[str, dict[str, Counter[Unit]]] = {}
        self._closed: set[str] = set()

    def add(self, session_id: str, model: str, amounts: Mapping[Unit, int]) -> None:
        """Keep what a call of the model took."""
        with self._lock:
            models = self._spent.setdefault(session_id, {})
            models.setdefault(model, Counter()).update(amounts)

    def take(self, session_id: str) -> dict[str, Counter[Unit]]:
        """All that is kept of a session; the caller adds again what it cannot count."""
        with self._lock:
            self._closed.discard(session_id)
            return self._spent.pop(session_id, {})

    def close(self, session_id: str | None = None) -> None:
        """No turn of a session comes that could count what is kept of it; without one, of any."""
        with self._lock:
            self._closed |= set(self._spent) if session_id is None else {session_id}
            self._closed &= set(self._spent)

    def closed(self) -> list[str]:
        """The sessions of which something is kept and no turn comes."""
        return list(self._closed)

    def settle(self, session_id: str, count: Callable[[str, Mapping[Unit, int]], bool]) -> None:
        """Have all that is kept of a session counted; what is not, stays."""
        taken = self.take(session_id)
        try:
            while taken:
                model, amounts = next(iter(taken.items()))
                if not count(model, amounts):
                    break
                del taken[model]
        finally:
            for model, amounts in taken.items():
                self.add(session_id, model, amounts)
            self.close(session_id)

    def left(self) -> dict[str, int]:
        """The tokens that nobody has counted, by session; they are kept no longer."""
        with self._lock:
            spent, self._spent = self._spent, {}
        return {
            id: sum(tokens(amounts).get(Unit.TOKENS, 0) for amounts in models.values())
            for id, models in spent.items()
        }
