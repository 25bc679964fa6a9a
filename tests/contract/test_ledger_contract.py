"""The ledger contract on SQLite and on PostgreSQL."""

from __future__ import annotations

from tests.contract.ledger_contract import LedgerContract


class TestLedger(LedgerContract):
    """Every promise on every engine; the fixture `ledger` is in conftest.py."""
