"""What do the contenders store? The same for all; needs Python only.

Populations are SQL over a series of numbers, so that a million rows take seconds. Session number
`i` is named the same everywhere and was last active at a moment of its own within the last twelve
hours; the first hundred by activity fell idle two days ago, so exactly they are due.
"""

from __future__ import annotations

import random
from typing import Any

MESSAGE_BYTES = 1024
TURN = 6
PAGE = 50
DUE = 100
IDLE_MINUTES = 1440

NUMBERS = """WITH RECURSIVE numbers (i) AS (
    SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 < :sessions
), population (i, id, active) AS (
    SELECT i, printf('s%07d', i),
           CASE WHEN i * 7919 % :sessions < :due
                THEN :now - 172800000000 + i * 7919 % :sessions * 1000000
                ELSE :now - 43200000000 + i * 7919 % :sessions * 43200000000 / :sessions END
    FROM numbers
)
"""
"""Every session's number, id and last activity in microseconds; 7919 shuffles them."""

SAID = "substr(:prose, 1 + (i * 31 + place * 17) % 800, 200)"
"""What message number `place` of a session says."""


def texts(count: int, seed: int = 1) -> list[str]:
    """Messages of exactly one kilobyte, each in words of its own."""
    chance = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(3000)]
    return [" ".join(chance.choices(words, k=600))[:MESSAGE_BYTES] for _ in range(count)]


def population(sessions: int, now: int) -> dict[str, Any]:
    """The parameters of the statements above."""
    return {"sessions": sessions, "due": DUE, "now": now, "prose": texts(1)[0]}


def places(messages: int) -> str:
    """The numbers of a session's messages, as JSON."""
    return str(list(range(messages)))
