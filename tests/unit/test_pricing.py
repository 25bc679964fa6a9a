"""What does a call cost?"""

from __future__ import annotations

from sexton.spending.model import Unit
from sexton.spending.policy import Price, Prices
from sexton.spending.pricing import cost, own_tariff


def test_a_million_tokens_cost_their_price_in_millionths() -> None:
    price = Price(per_input=3.0, per_output=15.0, per_cached=0.3)
    assert cost(price, {Unit.INPUT: 1_000_000}) == 3_000_000
    assert cost(price, {Unit.CACHED: 1_000_000}) == 300_000
    assert cost(price, {Unit.OUTPUT: 100, Unit.REASONING: 100}) == 3_000


def test_nothing_that_was_used_is_free_and_cached_tokens_cost_like_input_if_not_said() -> None:
    assert cost(Price(per_input=0.1, per_output=0.1), {Unit.INPUT: 1}) == 1
    assert cost(Price(per_input=2.0, per_output=9.0), {Unit.CACHED: 5}) == 10
    assert cost(Price(per_input=0.1, per_output=0.1), {Unit.INPUT: 30}) == 3


def test_a_price_of_ones_own_is_found_by_the_model() -> None:
    price = Price(per_input=1.0, per_output=2.0)
    prices = Prices(models=(("mine", price),))
    tariff = own_tariff(prices, "mine")
    assert tariff is not None
    assert tariff({Unit.INPUT: 5, Unit.OUTPUT: 7}) == 19
    assert own_tariff(prices, "theirs") is None
