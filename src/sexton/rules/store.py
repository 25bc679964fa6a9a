"""The policies that all keepers and agents of a ledger share."""

from __future__ import annotations

from datetime import datetime

from sexton.core.plan import Reason
from sexton.core.record import record
from sexton.errors import LedgerBusy
from sexton.rules.rulebook import owings
from sexton.store import rows
from sexton.store.database import Database, Transaction
from sexton.store.journal import Entry
from sexton.store.rows import micros

ATTEMPTS = 100


@record(kw_only=False)
class StoredPolicies:
    """The policies in force: their version, their hash and their text."""

    serial: int
    digest: str
    text: str


class PolicyStore:
    """The published policies of a ledger, the newest of which are in force."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def in_force(self) -> StoredPolicies | None:
        """The newest policies, or None before any were published."""
        row = self._database.read(lambda tx: tx.one("policies_in_force"))
        return None if row is None else StoredPolicies(*row)

    def publish(self, digest: str, text: str, actor: str, now: datetime) -> StoredPolicies:
        """Put policies in force unless they are already; a change is journalled."""

        def job(tx: Transaction) -> StoredPolicies | None:
            before = tx.one("policies_in_force")
            if before is not None and before[1] == digest:
                return StoredPolicies(*before)
            published = tx.one(
                "publish_policies", digest=digest, text=text, actor=actor, now=micros(now)
            )
            if published is None:  # somebody published at the same moment
                return None
            tx.all("clear_owing")
            tx.many("insert_owing", [row for owing in owings(text) for row in owing.rows()])
            tx.all("insert_entry", **rows.entry(_published(before, digest, actor), now))
            return StoredPolicies(published[0], digest, text)

        for _ in range(ATTEMPTS):
            stored = self._database.write(job)
            if stored is not None:
                return stored
        raise LedgerBusy("others publish policies faster than these can be")


def _published(before: rows.Row | None, digest: str, actor: str) -> Entry:
    former = f"instead of {before[1][:12]}" if before else "as the first"
    reason = Reason("settings", f"policies {digest[:12]} are in force {former}")
    return Entry(actor=actor, receipt=None, action="publish", result="done", reason=reason)
