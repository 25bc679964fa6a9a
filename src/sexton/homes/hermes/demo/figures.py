"""How damaged were the homes that people reported? The numbers a demonstration home is made of."""

from __future__ import annotations

from collections.abc import Mapping

ENDED: Mapping[str, int] = {
    "cron_complete": 1275, "recovered": 640, "cli_close": 229, "session_reset": 17,
    "compression": 1,
}  # fmt: skip
"""How many sessions ended for which reason."""
OPEN: Mapping[str, int] = {
    "cli": 700, "subagent": 90, "cron": 45, "api_server": 40, "telegram": 12,
}  # fmt: skip
"""How many were left open, by where they came from; those of telegram are meant to be."""
SESSIONS = sum(ENDED.values()) + sum(OPEN.values())
TRIVIAL = 2052
"""Sessions with at most five messages: 67.3 % of all."""
EMPTY = 412

FILES = 728
CRON_FILES = 535
FILE_BYTES = 94_330_000
FILE_AGES: tuple[tuple[float, float, int], ...] = (
    (0.1, 1.0, 9), (1.0, 6.0, 54), (6.0, 24.0, 245), (24.0, 168.0, 418), (168.0, 240.0, 2),
)  # fmt: skip
"""From so many hours, to so many hours: so many files."""
ORPHANS = 8
BIG: tuple[tuple[int, int], ...] = ((602, 725_000), (570, 722_000))
"""Messages and bytes of the two biggest."""
RUNAWAY_SECONDS = 107.0
"""The biggest was written in this time."""

CHAIN = (196, 189)
"""Messages of a conversation that should have been reset and was compressed instead."""
SILENT_HOURS = 36.0
SERVED_HOURS = 20.0
"""The conversation's last word, and the start of the servers that hold its reset back."""
