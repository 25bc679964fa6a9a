"""A ledger: what is stored in one database, each part by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sexton.core.record import record

if TYPE_CHECKING:  # an agent does not pay for parts it never uses
    from sexton.finalizers.store import LedgerBackfill, LedgerDues, LedgerFinalizing
    from sexton.homes.home_ports import Homes
    from sexton.keeper.gauges import LedgerGauges
    from sexton.liveness.registered_workers import RegisteredWorkers
    from sexton.liveness.store import LedgerReaping, LedgerSamples
    from sexton.notifications.store import LedgerOutbox
    from sexton.processes.store import LedgerProcesses
    from sexton.retention.removable import LedgerRemovable
    from sexton.retention.retained_sessions import LedgerRetained
    from sexton.retention.store import LedgerRemoval
    from sexton.retention.vault_book import LedgerVaultBook
    from sexton.rules.store import PolicyStore
    from sexton.sessions.board import LedgerBoard
    from sexton.sessions.compression_store import LedgerCompression
    from sexton.sessions.index import LedgerIndex
    from sexton.sessions.message_store import LedgerMessages
    from sexton.sessions.store import LedgerSessions
    from sexton.spending.store import LedgerSpending
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
    book: LedgerSessions
    messages: LedgerMessages
    index: LedgerIndex
    workers: RegisteredWorkers
    journal: Journal
    policies: PolicyStore
    homes: Homes
    reaping: LedgerReaping
    samples: LedgerSamples
    finalizing: LedgerFinalizing
    backfill: LedgerBackfill
    dues: LedgerDues
    compression: LedgerCompression
    outbox: LedgerOutbox
    registry: LedgerProcesses
    spending: LedgerSpending
    removal: LedgerRemoval
    vault: LedgerVaultBook
    removable: LedgerRemovable
    retained: LedgerRetained
    hygiene: Hygiene
    board: LedgerBoard
    gauges: LedgerGauges
    close: Callable[[], None]
