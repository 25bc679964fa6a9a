"""What does Hermes ask models beside the conversation: titles, compressions, looks at pictures?

No hook tells of these calls, but the home counts those that belong to a session.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping

from sexton.integrations.hermes_plugin import calls, rows
from sexton.model.spend import Unit

Spent = list[tuple[str, Mapping[Unit, int]]]


class Beside:
    """What of it was counted already, by session and model; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: dict[str, dict[str, Counter[Unit]]] = {}

    def fresh(self, session_id: str) -> Spent:
        """What has come since this was last asked; the first time nothing, by model."""
        totals = {
            str(row["model"]): Counter(by_unit(calls.used(row))) for row in rows.beside(session_id)
        }
        with self._lock:
            before = self._counted.get(session_id)
            self._counted[session_id] = totals
        if before is None:
            return []
        grown = ((model, total - before.get(model, Counter())) for model, total in totals.items())
        return [(model, dict(more)) for model, more in grown if more]

    def forget(self, session_id: str) -> None:
        """The session is not used here any more."""
        with self._lock:
            self._counted.pop(session_id, None)


def by_unit(used: Mapping[str, int]) -> dict[Unit, int]:
    """Named amounts of tokens, by unit."""
    return {Unit(name): amount for name, amount in used.items()}
