"""What has been spent: tokens and money."""

from __future__ import annotations

from sexton.core.record import record


@record
class Usage:
    """Tokens by kind and the cost in millionths of a dollar, so that sums are exact."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost_micros: int = 0

    @property
    def tokens(self) -> int:
        """All tokens that count against a budget."""
        return self.input_tokens + self.output_tokens + self.cached_tokens + self.reasoning_tokens
