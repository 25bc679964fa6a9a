"""What does Hermes ask models without a hook: titles, compressions, whole turns of Codex?

The home counts those calls that belong to a session.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping

from sexton.integrations.hermes_plugin import calls
from sexton.integrations.hermes_plugin import plugin_rows as rows
from sexton.spending.model import Unit

Spent = list[tuple[str, Mapping[Unit, int]]]


class Beside:
    """What of it was counted already, by session and model; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: dict[str, dict[tuple[str, bool], Counter[Unit]]] = {}
        self._hooked: set[str] = set()

    def hooked(self, session_id: str, *, is_hooked: bool) -> None:
        """Whether a hook tells of the turn that runs: what it takes is not counted here then."""
        with self._lock:
            (self._hooked.add if is_hooked else self._hooked.discard)(session_id)

    def fresh(self, session_id: str) -> Spent:
        """What has come since this was last asked; the first time nothing, by model."""
        totals = {
            (str(row["model"]), bool(row["is_conversation"])): Counter(by_unit(calls.used(row)))
            for row in rows.beside(session_id)
        }
        with self._lock:
            before = self._counted.get(session_id)
            self._counted[session_id] = totals
            is_hooked = session_id in self._hooked
        if before is None:
            return []
        grown = (
            (model, total - before.get((model, is_conversation), Counter()))
            for (model, is_conversation), total in totals.items()
            if not (is_conversation and is_hooked)
        )
        return [(model, dict(more)) for model, more in grown if more]

    def forget(self, session_id: str) -> None:
        """The session is not used here any more."""
        with self._lock:
            self._counted.pop(session_id, None)
            self._hooked.discard(session_id)


def by_unit(used: Mapping[str, int]) -> dict[Unit, int]:
    """Named amounts of tokens, by unit."""
    return {Unit(name): amount for name, amount in used.items()}
