"""What does a call cost?"""

from __future__ import annotations

import math
from collections.abc import Mapping

from sexton.model.spend import Unit
from sexton.policies.spend import Price, Prices


def own_price(prices: Prices, model: str) -> Price | None:
    """The price somebody has set for the model, if any."""
    return dict(prices.models).get(model)


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
