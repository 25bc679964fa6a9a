"""How much will a call of a model take? As much as calls took lately."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any, NamedTuple

CHARACTERS = 4
"""So many of them count as one token before the model has counted."""
REMEMBERED = 10
"""The longest of so many answers of a model is what its next one may take."""
FIRST = 500
"""The tokens that a model's first answer is taken to have."""


class Foreseen(NamedTuple):
    """The tokens a call sends and gets back, and about how many its text has."""

    sent: int
    answered: int
    text: int


class Sent(NamedTuple):
    """What the last request of a turn really took, and about how many tokens its text has."""

    tokens: int
    text: int


class Foresight:
    """What the calls of this process took; thread-safe."""

    def __init__(self) -> None:
        self._answers: defaultdict[str, deque[int]] = defaultdict(lambda: deque(maxlen=REMEMBERED))

    def of(self, request: Mapping[str, Any], model: str, last: Sent | None) -> Foreseen:
        """What a request takes: as much as the last one of its turn and what has come since.

        The most that it asks for is what Hermes allows every answer, so it says little.
        """
        said = request.get("messages") or request.get("input") or []
        text = len(json.dumps(said, default=str, skipkeys=True)) // CHARACTERS
        sent = text if last is None else max(0, last.tokens + text - last.text)
        answers = list(self._answers[model])
        most = request.get("max_completion_tokens") or request.get("max_tokens")
        likely = max(answers, default=FIRST)
        return Foreseen(sent, min(likely, most) if type(most) is int and most > 0 else likely, text)

    def learn(self, model: str, answered: int) -> None:
        """An answer of a model took so many tokens."""
        self._answers[model].append(answered)
