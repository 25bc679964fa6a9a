"""Does every statement that guards or numbers a session allow for a ledger that was set back?

After a restore a number or an epoch may mean another session than before. A guard compares the id,
too, and a new session gets a number that was never given.
"""

from __future__ import annotations

import re

import pytest

from sexton.store.statements import statements

WITHOUT_ID = {
    "fenced_caps": "changes nothing; budgets know a session by its number, which never comes again",
    "mark_pinned": "is about the newest session of the conversation, looked up just before",
    "mark_title": "is about the newest session of the conversation, looked up just before",
}
EPOCH = r"(\w+\.)?epoch = (:|%\(|COALESCE\(CAST\([:%]|seen\.)"
ID = r"(\w+\.)?id = (:id|%\(id\)s|seen\.id)\b"


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_what_compares_an_epoch_compares_the_id(dialect: str) -> None:
    fenced = {name for name, text in statements(dialect).items() if re.search(EPOCH, text)}
    without = {name for name in fenced if not re.search(ID, statements(dialect)[name])}
    assert len(fenced) > len(WITHOUT_ID)
    assert without == WITHOUT_ID.keys()


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_every_new_session_gets_a_number_that_was_never_given(dialect: str) -> None:
    found = statements(dialect)
    adding = {name: text for name, text in found.items() if "INSERT INTO sessions" in text}
    assert adding.keys() == {"insert_session", "insert_shorter", "store_facts"}
    for text in adding.values():
        assert "INSERT INTO sessions (ref," in text
        assert found["new_ref"] in text
