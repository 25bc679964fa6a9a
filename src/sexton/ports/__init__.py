"""What the engine and the agent need from the outside; one small port per concern.

Every method is one transaction. Changes are compare-and-set: False or None means that
somebody else was first, which is normal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sexton.ports.homes import Ended, Home, HomeRecord, Homes, Known, Sighting
    from sexton.ports.ledger import Ledger
    from sexton.ports.liveness import (
        DeathWatch,
        Left,
        Lost,
        Reaping,
        Sample,
        Samples,
        ShadowCount,
    )
    from sexton.ports.sessions import (
        Appended,
        Batch,
        Birth,
        Filter,
        Messages,
        Place,
        SessionBook,
        SessionIndex,
        WorkerUnknown,
    )
    from sexton.ports.system import Clock, ProcessTable
    from sexton.ports.upkeep import Entry, Journal, LastSweep, PolicyStore, StoredPolicies, Workers

__all__ = [
    "Appended",
    "Batch",
    "Birth",
    "Clock",
    "DeathWatch",
    "Ended",
    "Entry",
    "Filter",
    "Home",
    "HomeRecord",
    "Homes",
    "Journal",
    "Known",
    "LastSweep",
    "Ledger",
    "Left",
    "Lost",
    "Messages",
    "Place",
    "PolicyStore",
    "ProcessTable",
    "Reaping",
    "Sample",
    "Samples",
    "SessionBook",
    "SessionIndex",
    "ShadowCount",
    "Sighting",
    "StoredPolicies",
    "WorkerUnknown",
    "Workers",
]

_WHERE = {
    "Appended": "sessions",
    "Batch": "sessions",
    "Birth": "sessions",
    "Clock": "system",
    "DeathWatch": "liveness",
    "Ended": "homes",
    "Entry": "upkeep",
    "Filter": "sessions",
    "Home": "homes",
    "HomeRecord": "homes",
    "Homes": "homes",
    "Journal": "upkeep",
    "Known": "homes",
    "LastSweep": "upkeep",
    "Ledger": "ledger",
    "Left": "liveness",
    "Lost": "liveness",
    "Messages": "sessions",
    "Place": "sessions",
    "PolicyStore": "upkeep",
    "ProcessTable": "system",
    "Reaping": "liveness",
    "Sample": "liveness",
    "Samples": "liveness",
    "SessionBook": "sessions",
    "SessionIndex": "sessions",
    "ShadowCount": "liveness",
    "Sighting": "homes",
    "StoredPolicies": "upkeep",
    "WorkerUnknown": "sessions",
    "Workers": "upkeep",
}


def __getattr__(name: str) -> Any:
    """A port, loaded when it is first asked for: an agent needs few of them."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # The function of `importlib` would load a module of its own.
    return getattr(__import__(f"{__name__}.{_WHERE[name]}", fromlist=[name]), name)
