"""What does a keeper write to its log about sessions?"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from sexton.core.message import one_line
from sexton.core.plan import Held, Outcome, Result
from sexton.spending.budgets import shown
from sexton.spending.model import Freed

log = logging.getLogger("sexton.keeper")


class HeldLines:
    """One line for each reset that is held back by somebody else, and one when it is not."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[str, ...]] = {}

    def news(self, held: Iterable[Held]) -> list[str]:
        """What has changed since this was last asked."""
        now = {(each.seen.home, each.seen.id): each for each in held}
        known, self._known = self._known, {name: _mark(each) for name, each in now.items()}
        return [
            f"reset of {one_line('/'.join(name))} held back by {each.holding.code}"
            f" ({each.wanted.code}): {each.holding.text}"
            for name, each in now.items()
            if known.get(name) != _mark(each)
        ] + [
            f"reset of {one_line('/'.join(name))} is not held back any more"
            for name in known.keys() - now.keys()
        ]

    def tell(self, held: Iterable[Held]) -> None:
        """Write what has changed to the log."""
        for line in self.news(held):
            log.info("%s", line)


def tell_outcome(outcome: Outcome) -> None:
    """What came of an action; what was skipped is nobody's concern."""
    seen = outcome.action.seen
    level = logging.DEBUG if outcome.result is Result.SKIPPED else logging.INFO
    name = one_line(f"{seen.home}/{seen.id}")
    log.log(level, "%s %s: %s (%s)", outcome.action.kind, name, outcome.result, outcome.detail)


def tell_freed(freed: Iterable[Freed]) -> None:
    """What workers that are gone had reserved and can be spent by others again."""
    for each in freed:
        log.info("%s", given_back(each))


def given_back(freed: Freed) -> str:
    """What a worker that is gone had reserved, in a few words."""
    amounts = ", ".join(shown(unit, amount) for unit, amount in freed.held.items())
    session = one_line(freed.session or "that is gone")
    return f"given back: {amounts or 'nothing'} held by worker {freed.worker} in session {session}"


def _mark(held: Held) -> tuple[str, ...]:
    """What makes it another line: who holds back what; not for how long."""
    return held.wanted.code, held.holding.code, held.by
