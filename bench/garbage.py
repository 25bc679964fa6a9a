"""What do the contenders collect? The same for all; needs Python only.

Two thirds of the sessions have five messages or fewer, as in the field; the others have so many
that there are twenty to a session on average. All of them ended a month ago.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from bench.data import texts

TRIVIAL = 67
MOST = 5
SUBSTANTIAL = 55
AGE = 30 * 86_400_000_000
"""Microseconds."""

SESSIONS = f"""WITH RECURSIVE numbers (i) AS (
    SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i + 1 < :sessions
), garbage (i, id, active, said) AS (
    SELECT i, printf('g%07d', i), :now - {AGE} + i * 1000,
           CASE WHEN i * 7919 % 100 < :trivial THEN i % {MOST + 1} ELSE {SUBSTANTIAL} END
    FROM numbers
)
"""
"""Every session's number, id, last activity in microseconds, and how much was said in it."""

PLACES = f"""places (place) AS (
    SELECT 1 UNION ALL SELECT place + 1 FROM places WHERE place < {SUBSTANTIAL}
)"""

SAID = "substr(:prose, 1 + (i * 31 + place * 17) % 800, 200)"


def values(sessions: int, now: int, trivial: int = TRIVIAL) -> dict[str, Any]:
    """The parameters of the statements above."""
    return {"sessions": sessions, "now": now, "trivial": trivial, "prose": texts(1)[0]}


def trivial_ones(sessions: int, trivial: int = TRIVIAL) -> int:
    """How many of the sessions are garbage."""
    return sum(i * 7919 % 100 < trivial for i in range(sessions))


def write_until(stopped: str, write: Callable[[str], object], pause: float) -> list[float | None]:
    """Write again and again until a file appears: how long each took, None for one that failed."""
    taken: list[float | None] = []
    said = texts(1)[0]
    while not os.path.exists(stopped):
        begun = time.perf_counter()
        try:
            write(said)
        except Exception:  # noqa: BLE001  # counted: whatever a contender raises, it was not written
            taken.append(None)
        else:
            taken.append(time.perf_counter() - begun)
        time.sleep(pause)
    return taken
