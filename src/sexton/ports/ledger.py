"""All the ports of one database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sexton.ports.homes import Homes
from sexton.ports.liveness import Reaping, Samples
from sexton.ports.sessions import Messages, SessionBook, SessionIndex
from sexton.ports.upkeep import Journal, PolicyStore, Workers


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """All the ports of one database, and its name."""

    id: str
    url: str
    book: SessionBook
    messages: Messages
    index: SessionIndex
    workers: Workers
    journal: Journal
    policies: PolicyStore
    homes: Homes
    reaping: Reaping
    samples: Samples
    close: Callable[[], None] = field(default=lambda: None)
