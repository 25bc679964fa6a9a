"""What is not to be spent?"""

from __future__ import annotations

from datetime import datetime

from sexton.errors.mendable import SextonError


class BudgetExceeded(SextonError):
    """A budget has no room for what was asked; it was not done. No provider said so, Sexton did."""

    exit_code = 90
    hint = "See 'sexton budget show'; 'sexton budget raise' allows more."

    budget, spent, limit, held, asked = "", 0, 0, 0, 0
    until: datetime | None = None

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.__dict__ |= facts


class BreakerOpen(SextonError):
    """Tools failed or repeated themselves too often in a row; the call was not made."""

    exit_code = 91
    hint = "Let the agent say what is wrong and ask; one call is let through after a while."
    until: datetime | None = None


class UsageInvalid(SextonError):
    """A number that nobody can have used, or a grant that was settled before; nothing changed."""

    exit_code = 92
    hint = "Give whole numbers as the provider reports them, and settle each grant once."


class PriceUnknown(SextonError):
    """A budget counts money, and nobody knows what the model costs."""

    exit_code = 93
    hint = "Name its price under prices.models, or install 'sexton[prices]'."
