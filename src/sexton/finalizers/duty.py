"""What is a keeper ready to do for one finalizer?"""

from __future__ import annotations

from sexton.core.record import made, record
from sexton.finalizers.job import Effect
from sexton.finalizers.policy import Rate, RetryPolicy


@record
class Duty:
    """How one finalizer's work is done, and how much of it at once."""

    effect: Effect
    concurrency: int = 4
    rate: Rate | None = None
    daily_calls: int | None = None
    retry: RetryPolicy = made(RetryPolicy)
