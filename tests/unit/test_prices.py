"""What does a model cost, by a table that others maintain?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sexton.policies.spend import Price
from sexton.system.prices import listed_price

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
    fresh = usage.input_tokens - usage.cache_read_tokens
    cents = Decimal(3) * fresh + Decimal(15) * usage.output_tokens
    return PriceCalculation((cents + Decimal("0.3") * usage.cache_read_tokens) / 1_000_000)
"""
"""Answers as genai-prices does, with prices that no day changes."""


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "genai_prices.py").write_text(TABLE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "genai_prices", raising=False)
    listed_price.cache_clear()
    yield
    sys.modules.pop("genai_prices", None)
    listed_price.cache_clear()


@pytest.mark.usefixtures("table")
def test_a_listed_model_costs_what_the_table_says() -> None:
    price = Price(per_input=3.0, per_output=15.0, per_cached=0.3)
    assert listed_price("known") == price
    assert listed_price("someone:known") == price


@pytest.mark.usefixtures("table")
def test_a_model_that_is_not_listed_has_no_price() -> None:
    assert listed_price("unknown") is None
    assert listed_price("nobody:known") is None


def test_without_the_table_no_model_has_a_price(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    listed_price.cache_clear()
    assert listed_price("known") is None
    listed_price.cache_clear()
