"""What the engine and the agent need from the outside; one small port per concern.

Every method is one transaction. Changes are compare-and-set: False or None means that
somebody else was first, which is normal.
"""

from __future__ import annotations

from sexton.ports.homes import Home, HomeRecord, Homes, Known, Sighting
from sexton.ports.ledger import Ledger
from sexton.ports.liveness import DeathWatch, Reaping, Sample, Samples, ShadowCount
from sexton.ports.sessions import (
    Appended,
    Batch,
    Birth,
    Filter,
    Messages,
    Place,
    SessionBook,
    SessionIndex,
    Tally,
)
from sexton.ports.system import Clock, ProcessTable
from sexton.ports.upkeep import Entry, Journal, LastSweep, PolicyStore, StoredPolicies, Workers

__all__ = [
    "Appended",
    "Batch",
    "Birth",
    "Clock",
    "DeathWatch",
    "Entry",
    "Filter",
    "Home",
    "HomeRecord",
    "Homes",
    "Journal",
    "Known",
    "LastSweep",
    "Ledger",
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
    "Tally",
    "Workers",
]
