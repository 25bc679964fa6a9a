"""Two spellings of one statement compare equal; two statements never do."""

from __future__ import annotations

import pytest

from sexton.homes.hermes.sql_tokens import tokens

TRIGGER = "CREATE TRIGGER t AFTER DELETE ON m BEGIN DELETE FROM f WHERE rowid = old.id; END"


@pytest.mark.parametrize(
    "spelling",
    [
        TRIGGER.lower(),
        TRIGGER.replace(" ", "\n\t "),
        TRIGGER.replace("TRIGGER t", "TRIGGER IF NOT EXISTS t"),
        TRIGGER.replace(" f ", ' "f" ').replace(" m ", " [m] ").replace(" t ", " `T` "),
        TRIGGER.replace("BEGIN", "BEGIN -- as ever\n /* and ever */"),
        TRIGGER + ";",
        TRIGGER.replace("old.id", "old . id"),
    ],
)
def test_spelling_makes_no_difference(spelling: str) -> None:
    assert tokens(spelling) == tokens(TRIGGER)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x IS NULL", 'x IS "null"'),
        ("x = true", 'x = "true"'),
        ("x = 'a'", "x = 'A'"),
        ("x = 'a b'", "x = 'a  b'"),
        ("x = 'a--b'", "x = 'a'"),
        ("x = k", "x = \u212a"),  # the Kelvin sign: a k to Unicode, another letter to SQLite
        ("a b", "a\u00a0b"),
        ("x /* DELETE FROM m; */", "x DELETE FROM m;"),
        ("x = 1", "x = 1 OR 1"),
        ('x = "a b"', "x = 'a b'"),
    ],
)
def test_what_means_something_else_is_something_else(one: str, other: str) -> None:
    assert tokens(one) != tokens(other)
