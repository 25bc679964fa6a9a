"""What does a model cost, by a table that others maintain?"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from sexton.policies.spend import Price

SAMPLE = 1000
"""Prices are asked for so many tokens: some models cost more where a call is very long."""


@lru_cache(maxsize=256)
def listed_price(model: str) -> Price | None:
    """The price of a model, as `provider:model` or by its name alone; None if it is not listed.

    The table is that of genai-prices, which is loaded when it is first asked for, and never
    fetched from anywhere. Without it no model is listed.
    """
    try:
        table = import_module("genai_prices")
    except ImportError:
        return None
    provider, colon, name = model.partition(":")
    named = {"provider_id": provider} if colon else {}

    def cost(**tokens: int) -> float:
        usage = table.Usage(**tokens)
        found = table.calc_price(usage, model_ref=name or model, **named)
        return float(found.total_price * (1_000_000 // SAMPLE))

    try:
        return Price(
            per_input=cost(input_tokens=SAMPLE),
            per_output=cost(output_tokens=SAMPLE),
            per_cached=cost(input_tokens=SAMPLE, cache_read_tokens=SAMPLE),
        )
    except LookupError:
        return None
