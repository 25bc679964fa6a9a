"""The Hermes plugin `sexton`: what does a Hermes process do about its own sessions?

Hermes loads this module by its entry point and calls `register`. It runs inside Hermes: the ledger
is opened when the first turn begins, and Hermes's database is touched by Hermes's own library only,
as a second copy of SQLite in one process would drop the locks of the first.
"""

from __future__ import annotations

from typing import Any


def register(ctx: Any) -> None:
    """Take part in the life of this Hermes process."""
    from sexton.integrations.hermes_plugin.wiring import wire  # noqa: PLC0415  # Hermes asks twice

    wire(ctx)
