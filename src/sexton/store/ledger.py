"""A ledger: what is stored in one database, each part by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sexton.core.record import record

if TYPE_CHECKING:  # an agent does not pay for parts it never uses
    from sexton.finalizers.store import LedgerBackfill, LedgerDues, LedgerFinalizing
    from sexton.homes.home_ports import Homes
    from sexton.liveness.registered_workers import RegisteredWorkers
    from sexton.liveness.store import LedgerReaping, LedgerSamples
    from sexton.notifications.store import LedgerOutbox
    from sexton.processes.store import LedgerProcesses
    from sexton.retention.removal_ports import Removable, Removal, VaultBook
    from sexton.retention.retention_ports import Retained
    from sexton.rules.store import PolicyStore
    from sexton.sessions.board_ports import Board, Gauges
    from sexton.sessions.compression_ports import Compression
    from sexton.sessions.model import Messages, SessionBook, SessionIndex
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
    reaping: LedgerReaping
    samples: LedgerSamples
    finalizing: LedgerFinalizing
    backfill: LedgerBackfill
    dues: LedgerDues
    compression: Compression
    outbox: LedgerOutbox
    registry: LedgerProcesses
    spending: Spending
    removal: Removal
    vault: VaultBook
    removable: Removable
    retained: Retained
    hygiene: Hygiene
    board: Board
    gauges: Gauges
    close: Callable[[], None]
