"""Sessions move as the table of legal moves says: all of it happens, and nothing else."""

from __future__ import annotations

import inspect
import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from sexton.core.session import MOVES
from sexton.store.opening import open_ledger
from tests.contract.ledger_contract import LedgerContract
from tests.contract.test_guards import SLOW
from tests.memory import memory

pytestmark = pytest.mark.slow

NOTED = """
CREATE TABLE moves (before TEXT, after TEXT);
CREATE TRIGGER note_moves AFTER UPDATE OF state ON sessions WHEN OLD.state <> NEW.state
BEGIN
    INSERT INTO moves VALUES (OLD.state, NEW.state);
END;
"""


def test_the_contract_makes_every_legal_move_and_no_other() -> None:
    found = set[tuple[Any, ...]]()
    with tempfile.TemporaryDirectory(dir=memory()) as place:
        empty = Path(place, "empty.db")
        open_ledger(str(empty)).close()
        with closing(apsw.Connection(str(empty))) as connection:
            connection.execute(NOTED).fetchall()
        for name, test in inspect.getmembers(LedgerContract(), inspect.ismethod):
            if any(word in name for word in SLOW):
                continue
            path = Path(shutil.copy(empty, Path(place, "ledger.db")))
            with closing(open_ledger(str(path))) as ledger:
                test(ledger)
            with closing(apsw.Connection(str(path))) as connection:
                found |= set(connection.execute("SELECT before, after FROM moves").fetchall())
            path.unlink()
    assert found == {(before, after) for before, legal in MOVES.items() for after in legal}
