"""What does a model cost, by a table that others maintain?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sexton.spending.model import Unit
from sexton.spending.price_table import listed_tariff

TABLE = """
from dataclasses import dataclass
from decimal import Decimal


@dataclass
class Usage:
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0


@dataclass
class PriceCalculation:
    total_price: Decimal


def calc_price(usage, *, model_ref, provider_id=None):
    if (model_ref, provider_id) not in {("known", None), ("known", "someone")}:
        raise LookupError(model_ref)
    if usage.input_tokens < usage.cache_read_tokens:
        raise ValueError("cannot exceed")
    fresh = usage.input_tokens - usage.cache_read_tokens
    cents = Decimal(3) * fresh + Decimal(15) * usage.output_tokens
    cents += Decimal("0.3") * usage.cache_read_tokens
    return PriceCalculation(cents * (2 if usage.input_tokens > 200_000 else 1) / 1_000_000)
"""
"""Answers as genai-prices does, with prices that no day changes."""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "genai_prices.py").write_text(TABLE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "genai_prices", raising=False)
    listed_tariff.cache_clear()
    yield
    sys.modules.pop("genai_prices", None)
    listed_tariff.cache_clear()


@pytest.mark.usefixtures("table")
def test_a_listed_model_costs_what_the_table_says() -> None:
    for name in ("known", "someone:known"):
        tariff = listed_tariff(name)
        assert tariff is not None
        assert tariff({Unit.INPUT: 100_000, Unit.OUTPUT: 10, Unit.REASONING: 10}) == 300_300
        assert tariff({Unit.INPUT: 10, Unit.CACHED: 100}) == 60
        assert tariff({Unit.CACHED: 1}) == 1  # nothing that was used is free


@pytest.mark.usefixtures("table")
def test_a_call_is_priced_at_its_own_size() -> None:
    tariff = listed_tariff("known")
    assert tariff is not None
    assert tariff({Unit.INPUT: 200_000}) == 600_000
    assert tariff({Unit.INPUT: 200_001}) == 1_200_006
    assert tariff({Unit.INPUT: 100_001, Unit.CACHED: 100_000}) == 660_006


def test_the_real_table_knows_a_model_whose_long_calls_cost_more() -> None:
    tariff = listed_tariff("anthropic:claude-sonnet-4-5")
    assert tariff is not None
    assert tariff({Unit.INPUT: 300_000}) > 300 * tariff({Unit.INPUT: 1_000}) > 0


@pytest.mark.usefixtures("table")
def test_a_model_that_is_not_listed_has_no_price() -> None:
    assert listed_tariff("unknown") is None
    assert listed_tariff("nobody:known") is None


def test_without_the_table_no_model_has_a_price(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    listed_tariff.cache_clear()
    assert listed_tariff("known") is None
    listed_tariff.cache_clear()
