"""How many examples a property is tried with: a share of the number of the whole run."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100


def examples(count: int) -> settings:
    """Settings with this many examples, multiplied where the profile tries more than usual."""
    share = settings().max_examples / USUAL
    return settings(max_examples=max(1, round(count * share)), deadline=None)
