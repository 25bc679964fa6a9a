"""A ledger: what is stored in one database, each part by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sexton.core.record import record

if TYPE_CHECKING:  # an agent does not pay for parts it never uses
    from sexton.finalizers.job import Backfill, Dues, Finalizing
    from sexton.homes.home_ports import Homes
    from sexton.liveness.liveness_ports import Reaping, Samples
    from sexton.liveness.registered_workers import RegisteredWorkers
    from sexton.notifications.outbox_ports import Outbox
    from sexton.processes.process_ports import Registry
    from sexton.retention.removal_ports import Removable, Removal, VaultBook
    from sexton.retention.retention_ports import Retained
    from sexton.rules.store import PolicyStore
    from sexton.sessions.board_ports import Board, Gauges
    from sexton.sessions.compression_ports import Compression
    from sexton.sessions.session_ports import Messages, SessionBook, SessionIndex
    from sexton.spending.spending_ports import Spending
    from sexton.store.hygiene import Hygiene
    from sexton.store.journal import Journal


@record
class Ledger:
    """The parts of one database, and its name; a shared one is used from several machines.

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
    workers: RegisteredWorkers
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
