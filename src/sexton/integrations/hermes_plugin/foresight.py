"""How much will a call of a model take? As much as calls took lately."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from sexton.integrations.hermes_plugin.weighing import Length, length

BYTES = 3
"""The bytes that count as one token before the model has counted: few texts take more tokens."""
PICTURE = 1600
"""The tokens that a picture is taken to have, however large it is: most are sent with fewer."""
REMEMBERED = 10
"""The number of a model's last answers; the longest is what its next one may take."""
FIRST = 500
"""The tokens that a model's first answer is taken to have."""
MOST = ("max_completion_tokens", "max_output_tokens", "max_tokens")


class Foreseen(NamedTuple):
    """The tokens a call sends and gets back, and how long its request is."""

    sent: int
    answered: int
    length: Length


class Sent(NamedTuple):
    """How long the last request of a session was, and how many tokens the model counted in it."""

    length: Length
    tokens: int


class Foresight:
    """What the calls of this process took; thread-safe."""

    def __init__(self) -> None:
        self._answers: defaultdict[str, deque[int]] = defaultdict(lambda: deque(maxlen=REMEMBERED))
        self._rates: dict[str, float] = {}
        self._last: dict[tuple[str, str], Sent] = {}

    def of(self, request: Mapping[str, Any], model: str, session_id: str = "") -> Foreseen:
        """What a request takes: as much as the last one of its session and what has come since.

        The most that it asks for is what Hermes allows every answer, so it says little.
        """
        asked = length(request)
        most = next((request[name] for name in MOST if request.get(name)), None)
        likely = max(list(self._answers[model]), default=FIRST)
        likely = min(likely, most) if type(most) is int and most > 0 else likely
        return Foreseen(self._sent(asked, model, session_id), likely, asked)

    def _sent(self, asked: Length, model: str, session_id: str) -> int:
        last = self._last.get((session_id, model))
        rate = self._rates.get(model, 1 / BYTES)
        if last is not None and not last.length.pictures:
            rate = last.tokens / max(last.length.text, 1)
        before = Sent(Length(0, 0), 0) if last is None else last
        more = asked.since(before.length)
        if min(more) < 0:  # it was compressed, or is another thread's
            more, before = asked, Sent(Length(0, 0), 0)
        return before.tokens + math.ceil(more.text * rate) + more.pictures * PICTURE

    def learn(self, model: str, session_id: str, asked: Length, sent: int, answered: int) -> None:
        """A request of that length really took so many tokens, and its answer so many."""
        self._answers[model].append(answered)
        if sent:
            self._last[session_id, model] = Sent(asked, sent)
            if not asked.pictures:
                self._rates[model] = sent / max(asked.text, 1)

    def forget(self, session_id: str) -> None:
        """The session is not used here any more."""
        for known in [known for known in list(self._last) if known[0] == session_id]:
            self._last.pop(known, None)
