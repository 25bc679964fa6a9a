"""Does the tree keep its rules?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture import rules
from tests.architecture.error_rules import explained_errors
from tests.architecture.source import modules
from tests.architecture.threads import THREADS, known_threads, started_in
from tests.architecture.words import words_apart

ROOT = Path(__file__).parents[2]

Rule = Callable[[Path], list[str]]

RULES: list[Rule] = [
    rules.one_sqlite,
    rules.one_clock,
    rules.timeless_sql,
    rules.pure_thought,
    rules.narrow_excepts,
    rules.telling_names,
    rules.one_place,
    rules.own_text,
    rules.finished_work,
    rules.short_guide,
    rules.explained_modules,
    explained_errors,
    known_threads,
    words_apart,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps_the_rule(rule: Rule) -> None:
    findings = rule(ROOT)
    assert not findings, "\n".join([f"{rule.__doc__} Broken by:", *findings])


def test_every_exception_for_reading_the_time_is_used() -> None:
    readings = [(m, what) for m in modules(ROOT) for _, what in rules.time_readings(m)]
    unused = [e for e in rules.CLOCKS if not any(e.covers(m, what) for m, what in readings)]
    assert not unused


def test_every_exception_for_catching_anything_is_used() -> None:
    catches = [(m, what) for m in modules(ROOT) for _, what in rules.broad_catches(m)]
    unused = [e for e in rules.BOUNDARIES if not any(e.covers(m, what) for m, what in catches)]
    assert not unused


def test_every_thread_with_a_way_to_survive_is_started() -> None:
    started = {each for module in modules(ROOT) for _, each in started_in(module)}
    assert set(THREADS) == started
