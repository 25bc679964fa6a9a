"""What finalizers would be owed under other rules is read, and decided in the words of the view."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import apsw

from sexton.finalizers.policy import Owing
from sexton.rules.rulebook import Rulebook, encode
from sexton.store.opening import open_ledger
from sexton.store.statements import statements
from tests.contract.ledger_contract_samples import born, say


def test_rules_that_are_not_in_force_are_asked_about_while_somebody_else_writes(
    new_file: Path,
) -> None:
    draft = encode(Rulebook(finalizers=(Owing(name="log"),)))
    with (
        closing(open_ledger(str(new_file), patience=0.1)) as ledger,
        closing(apsw.Connection(str(new_file))) as other,
    ):
        session = born(ledger, "a")
        say(ledger, session, "one")
        other.execute("BEGIN IMMEDIATE")
        [due] = ledger.dues.of([session.ref], draft)
        assert (due.finalizer, due.owes) == ("log", True)
        assert ledger.dues.of([session.ref]) == []


def test_the_statement_about_such_rules_says_what_the_view_says(new_file: Path) -> None:
    with closing(apsw.Connection(str(new_file))) as connection:
        text = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'verdicts'").get
    for dialect in ("sqlite", "postgres"):
        assert _words(text.partition(" AS\n")[2]) == _words(statements(dialect)["verdicts"])


def _words(sql: str) -> list[str]:
    return re.sub(r"--.*", "", sql).rstrip().rstrip(";").split()
