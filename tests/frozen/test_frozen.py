"""Is the package, from outside, as it was frozen? `FROZEN=1 make frozen` writes what is wanted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frozen import PLAIN, POSTGRES, answers, commands, difference, file_of, left_over, parts


@pytest.mark.parametrize("name", PLAIN)
def test_what_is_frozen_is_as_it_was(name: str, tmp_path: Path) -> None:
    changed = difference(name, PLAIN[name](tmp_path))
    assert not changed, changed


def test_a_fresh_ledger_on_postgres_is_as_it_was(postgres_url: str) -> None:
    changed = difference(POSTGRES, parts.postgres_schema(postgres_url))
    assert not changed, changed


@pytest.mark.slow
def test_every_command_answers_programs_as_it_did(tmp_path: Path) -> None:
    texts = answers(tmp_path)
    assert set(map(file_of, commands())) == set(texts) - {"openapi.json"}
    changed = "".join(difference(name, text) for name, text in sorted(texts.items()))
    assert not changed, changed
    assert not left_over({*texts, *PLAIN, POSTGRES})
