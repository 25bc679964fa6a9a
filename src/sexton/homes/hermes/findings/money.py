"""Do budgets of money bound what the models of a home cost?"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sexton.homes.hermes.findings.finding import Finding, Level


def money_findings(unpriced: Collection[str]) -> Iterator[Finding]:
    """Models whose price nobody knows, where a budget counts dollars."""
    if unpriced:
        models = ", ".join(sorted(unpriced))
        yield Finding(
            code="budgets.unpriced",
            level=Level.COSTLY,
            words=f"the price of {models} is unknown, so no budget bounds its money",
            cost="budgets in dollars stop nothing there; those of tokens and iterations hold",
            repair="say under prices.models in sexton.yaml what it costs, or under prices.unknown",
            count=len(unpriced),
        )
