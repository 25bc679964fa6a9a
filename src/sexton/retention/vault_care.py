"""What does a keeper do for the vault?"""

from __future__ import annotations

from sexton.keeper.keeper_context import Estate
from sexton.retention.purge import discard_aged, empty_expired
from sexton.retention.recover import recover
from sexton.retention.removal_context import Means

MOST_DRIFT = 3600.0
"""By so many seconds the wall clock may have moved by itself and is still believed."""


def tend(estate: Estate, means: Means, receipt: str) -> None:
    """Complete what the dead began, discard old archives, and empty what is past its grace.

    A wall clock that was moved does not say how long something has been in the vault.
    """
    recover(means, estate.evidence, receipt)
    if abs(estate.look().drift - means.drift) <= MOST_DRIFT:
        discard_aged(means)
        empty_expired(means, receipt)
