"""Room for one call in every budget, until it is settled."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sexton.core.locks import shared_lock
from sexton.errors import PriceUnknown, UsageInvalid
from sexton.spending.budgets import MOST, TOKENS
from sexton.spending.model import Granted, Unit

if TYPE_CHECKING:
    from sexton.spending.pricing import Tariff
    from sexton.spending.turn_spend import TurnSpend


class Grant:
    """Room in every budget for one call; settle it once, by what was used or by nothing."""

    def __init__(
        self, spent: TurnSpend, amounts: Mapping[Unit, int], tariff: Tariff | None
    ) -> None:
        self.granted: Granted | None = None  # until the ledger is asked
        self.amounts = amounts
        self.iteration: Mapping[Unit, int] = {}
        self.is_settled = False
        self._spent = spent
        self._tariff = tariff
        self._lock = shared_lock()
        self._pid = os.getpid()
        self._used: dict[Unit, int] = {}

    def commit(
        self,
        *,
        input_tokens: int = 0,
        output_tokens: int = 0,
        cached_tokens: int = 0,
        reasoning_tokens: int = 0,
    ) -> None:
        """Count what the call really used, durably, also where that is more than was granted."""
        counts = (input_tokens, output_tokens, cached_tokens, reasoning_tokens)
        used = dict(zip(TOKENS, map(checked, counts), strict=True))
        if self._tariff is not None:
            try:
                used[Unit.USD] = self._tariff(used)
            except PriceUnknown:  # it was known before the call, which was made
                used[Unit.USD] = self.held(Unit.USD)
        self._settle(used)

    def release(self) -> None:
        """Give everything back: the call was not made."""
        self._settle({})

    def finish(self) -> None:
        """Settle it if nobody did; what could not be counted when it was used is counted now."""
        with self._lock:
            if not self.is_settled:
                self._settle(self._used)

    def held(self, unit: Unit) -> int:
        """So much of a unit is held until it is settled."""
        return self.amounts.get(unit, 0)

    def _settle(self, used: dict[Unit, int]) -> None:
        if self._pid != os.getpid():
            raise UsageInvalid("the grant belongs to the process that forked this one")
        with self._lock:
            if self.is_settled:
                raise UsageInvalid("the grant was settled already")
            self._used = used
            self._spent.settle(self, used)


def checked(amount: object) -> int:
    """A number of tokens that can be; anything else is a mistake that must not be counted."""
    if type(amount) is not int or not 0 <= amount <= MOST:
        given = f"{amount!r:.40}" if type(amount) is not int or abs(amount) < MOST**2 else "that"
        raise UsageInvalid(f"{given} is no number of tokens from 0 to {MOST}")
    return amount
