"""What does a call of a model cost, by a table that others maintain?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module

from sexton.errors import PriceUnknown
from sexton.spending.model import Unit
from sexton.spending.pricing import MILLION, Tariff


@lru_cache(maxsize=256)
def listed_tariff(model: str) -> Tariff | None:
    """What calls of a model cost, as `provider:model` or by its name alone; None if not listed.

    The table is that of genai-prices, which is loaded when it is first asked for, and never
    fetched from anywhere. Without it no model is listed. Each call is priced at its own size, as
    tokens of a very long one may cost more.
    """
    try:
        table = import_module("genai_prices")
    except ImportError:
        return None
    provider, colon, name = model.partition(":")
    named = {"provider_id": provider} if colon else {}

    def cost(amounts: Mapping[Unit, int]) -> int:
        cached = amounts.get(Unit.CACHED, 0)
        usage = table.Usage(
            input_tokens=amounts.get(Unit.INPUT, 0) + cached,
            cache_read_tokens=cached,
            output_tokens=amounts.get(Unit.OUTPUT, 0) + amounts.get(Unit.REASONING, 0),
        )
        try:
            found = table.calc_price(usage, model_ref=name or model, **named)
        except (LookupError, ValueError) as trouble:  # the table may change while it is used
            raise PriceUnknown(f"the price of the model {model} is unknown: {trouble}") from None
        micros: int = math.ceil(found.total_price * MILLION)
        return micros

    try:
        cost({Unit.INPUT: 1})
    except PriceUnknown:
        return None
    return cost
