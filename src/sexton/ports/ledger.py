"""All the ports of one database."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sexton.model.record import record

if TYPE_CHECKING:  # an agent does not pay for ports it never uses
    from sexton.ports.board import Board, Gauges
    from sexton.ports.compression import Compression
    from sexton.ports.finalizing import Backfill, Dues, Finalizing
    from sexton.ports.homes import Homes
    from sexton.ports.hygiene import Hygiene
    from sexton.ports.liveness import Reaping, Samples
    from sexton.ports.outbox import Outbox
    from sexton.ports.processes import Registry
    from sexton.ports.removal import Removable, Removal, VaultBook
    from sexton.ports.retention import Retained
    from sexton.ports.sessions import Messages, SessionBook, SessionIndex
    from sexton.ports.spending import Spending
    from sexton.ports.upkeep import Journal, PolicyStore, Workers


@record
class Ledger:
    """All the ports of one database, and its name; a shared one is used from several machines.

    `plan_key` reads the secret that signs plans, when it is needed; no surface shows it.
    """

    id: str
    schema: int
    url: str
    is_shared: bool
    plan_key: Callable[[], bytes]
    book: SessionBook
    messages: Messages
    index: SessionIndex
    workers: Workers
    journal: Journal
    policies: PolicyStore
    homes: Homes
    reaping: Reaping
    samples: Samples
    finalizing: Finalizing
    backfill: Backfill
    dues: Dues
    compression: Compression
    outbox: Outbox
    registry: Registry
    spending: Spending
    removal: Removal
    vault: VaultBook
    removable: Removable
    retained: Retained
    hygiene: Hygiene
    board: Board
    gauges: Gauges
    close: Callable[[], None]
