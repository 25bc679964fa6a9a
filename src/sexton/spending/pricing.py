"""What does a call cost?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

from sexton.spending.model import Unit
from sexton.spending.policy import Price, Prices

MILLION = 1_000_000
UNPRICED = "price_unknown"
"""The reason in the journal where money is not bounded, then a colon and the model."""

Tariff = Callable[[Mapping[Unit, int]], int]
"""What a call of such a size costs, in millionths of a dollar."""


def own_tariff(prices: Prices, model: str) -> Tariff | None:
    """What calls of the model cost by a price that somebody has set, if any."""
    for name, price in prices.models:
        if name == model:
            return partial(cost, price)
    return None


def tariff_of(
    prices: Prices, model: str | None, listed: Callable[[str], Tariff | None]
) -> Tariff | None:
    """What calls of a model cost by one's own price, by a table, or as one that nobody knows."""
    found = own_tariff(prices, model) or listed(model) if model else None
    if found is None and prices.unknown is not None:
        return partial(cost, prices.unknown)
    return found


def cost(price: Price, amounts: Mapping[Unit, int]) -> int:
    """The cost in millionths of a dollar, rounded up: nothing that was used is free.

    Dollars for a million tokens are millionths of a dollar for one. Reasoning is output.
    """
    cached = price.per_input if price.per_cached is None else price.per_cached
    output = amounts.get(Unit.OUTPUT, 0) + amounts.get(Unit.REASONING, 0)
    exact = (
        amounts.get(Unit.INPUT, 0) * price.per_input
        + amounts.get(Unit.CACHED, 0) * cached
        + output * price.per_output
    )
    return math.ceil(round(exact, 6))
