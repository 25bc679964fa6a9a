"""The mark from which the next look at a Hermes home goes on."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sexton.homes.hermes.hermes_database import Signature
from sexton.homes.hermes.mark import Mark, Watermarks, load

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def stamp(inode: int, size: int, at: datetime) -> tuple[int, int, int]:
    return inode, size, int(at.timestamp() * 1e9)


QUIET = Signature(stamp(1, 4_096, NOON - timedelta(hours=1)), None)
MARK = Mark(
    signature=QUIET,
    water=Watermarks(message=7, rowid=2, last_id="two", sessions=2, spent=1.5),
    trail=6,
    looked_at=NOON,
    full_at=NOON - timedelta(hours=2),
)


@pytest.mark.parametrize("wal", [None, stamp(2, 0, NOON)])
def test_a_mark_survives_json(wal: tuple[int, int, int] | None) -> None:
    mark = replace(MARK, signature=QUIET._replace(wal=wal))
    assert load(json.loads(json.dumps(mark.dump()))) == mark


@pytest.mark.parametrize(
    "broken",
    [
        {"format": 2},
        {"water": [1, 2]},
        {"water": None},
        {"database": ["x", 1, 2]},
        {"looked_at": "noon"},
        {"trail": None},
    ],
)
def test_a_mark_that_can_not_be_understood_is_none(broken: dict[str, Any]) -> None:
    assert load({**MARK.dump(), **broken}) is None


def test_no_mark_is_none() -> None:
    assert load(None) is None
    assert load({}) is None


def test_the_same_old_files_prove_that_nothing_changed() -> None:
    assert MARK.is_current(QUIET, NOON + timedelta(minutes=1))


@pytest.mark.parametrize(
    "seen",
    [
        Signature(stamp(1, 8_192, NOON - timedelta(hours=1)), None),
        Signature(stamp(1, 4_096, NOON), None),
        Signature(QUIET.database, stamp(2, 0, NOON)),
        Signature(stamp(9, 4_096, NOON - timedelta(hours=1)), None),
    ],
)
def test_any_difference_in_the_files_asks_for_a_look(seen: Signature) -> None:
    assert not MARK.is_current(seen, NOON + timedelta(minutes=1))


def test_files_that_had_just_changed_when_looked_at_prove_nothing() -> None:
    fresh = Signature(stamp(1, 4_096, NOON - timedelta(milliseconds=50)), None)
    assert not replace(MARK, signature=fresh).is_current(fresh, NOON + timedelta(minutes=1))


def test_a_day_after_the_last_full_look_everything_is_wanted_again() -> None:
    assert not MARK.wants_full(QUIET, NOON + timedelta(hours=21))
    assert MARK.wants_full(QUIET, NOON + timedelta(hours=22))
    assert not MARK.is_current(QUIET, NOON + timedelta(hours=22))


def test_a_clock_that_went_back_wants_everything_rather_than_nothing() -> None:
    assert MARK.wants_full(QUIET, NOON - timedelta(days=30))


def test_another_file_wants_everything() -> None:
    other = Signature(stamp(9, 4_096, NOON - timedelta(hours=1)), None)
    assert MARK.wants_full(other, NOON)
