"""A Hermes home with the plugin whose model goes on for ever, and what the ledger says of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sexton.core.plan import JournalEntry
from sexton.core.session import Session
from sexton.rules.rulebook import Rulebook
from sexton.sessions.model import Filter
from sexton.settings.settings_values import Settings
from sexton.spending.budget_standing import standings, who
from sexton.spending.model import Act, Budget, Scope, Unit
from sexton.spending.policy import BreakerPolicy, RunawayPolicy, SpendRules, usual_name
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.scenario.fake_model import ANSWER, PATIENCE, FakeModel, ToolUse
from tests.scenario.hermes_lab import Lab

ENABLED = """
plugins: {enabled: [sexton]}
approvals: {destructive_slash_confirm: false}
"""
MOST = 100
"""After so many questions the model has nothing more to say, so that nothing goes on for ever."""


@dataclass(frozen=True)
class Spender:
    """The home, its model and its ledger."""

    lab: Lab
    model: FakeModel
    ledger: str

    def publish(self, *budgets: Budget, cool_down: timedelta = timedelta(minutes=1)) -> None:
        """Put budgets in force; nothing else stops a loop of tools that work."""
        calm = RunawayPolicy(messages=None, tokens=None, tool_calls=None, warn_messages=None)
        breaker = BreakerPolicy(cool_down=cool_down)
        spend = SpendRules(budgets=budgets, runaway=calm, breaker=breaker)
        with Sexton(open_ledger(self.ledger), Settings(rulebook=Rulebook(spend=spend))) as house:
            house.publish()

    def run_job(self) -> str:
        """Run a job of cron to its end; what it says of trouble."""
        return self.lab.run("cron", "run", self.lab.job()).stderr

    def sessions(self) -> list[Session]:
        """What the ledger knows of the home, the newest first."""
        opened = open_ledger(self.ledger)
        try:
            return opened.index.page(Filter(home="hermes"), None, 50)
        finally:
            opened.close()

    def sexton(self, *words: str) -> str:
        """What a command of ours says."""
        return subprocess.run(
            [sys.executable, "-m", "sexton", *words],
            env={**os.environ, "SEXTON_LEDGER": self.ledger},
            capture_output=True, text=True, timeout=PATIENCE, check=True,
        ).stdout  # fmt: skip

    def end(self, reason: str) -> None:
        """End the newest session in the ledger."""
        [session, *_] = self.sessions()
        opened = open_ledger(self.ledger)
        try:
            assert opened.book.end_now(session, reason, datetime.now(UTC))
        finally:
            opened.close()

    def spent(self, name: str) -> int:
        """What the newest session has spent by a budget."""
        return self._spent(name)[0]

    def spent_by_all(self, name: str) -> int:
        """What all sessions have spent by a budget of each."""
        return sum(self._spent(name))

    def _spent(self, name: str) -> list[int]:
        """What each session has spent by a budget, the newest first."""
        with Sexton(open_ledger(self.ledger), Settings()) as house:
            estate = house.estate()
            return [
                stands.spent
                for session in self.sessions()
                for stands in standings(estate, who(estate, session))
                for budget in stands.bound.budgets
                if budget.name == name
            ]

    def journal(self) -> list[JournalEntry]:
        """What the journal says, the newest first."""
        opened = open_ledger(self.ledger)
        try:
            return list(opened.journal.page(None, None, None, 100))
        finally:
            opened.close()

    def codes(self, action: str) -> list[str]:
        """The reasons in the journal for which something was done."""
        return [each.reason.code for each in self.journal() if each.action == action]


def working(messages: list[Any]) -> str | ToolUse:
    """Wants a tool that works, each time another one."""
    return _wish("true", messages)


def failing(messages: list[Any]) -> str | ToolUse:
    """Wants a tool that fails, each time another one."""
    return _wish("false", messages)


def _wish(command: str, messages: list[Any]) -> str | ToolUse:
    tools = sum(each["role"] == "tool" for each in messages)
    if tools >= MOST:
        return ANSWER
    return ToolUse("terminal", {"command": f"echo {tools}; {command}"})


def budget(
    scope: Scope, unit: Unit, limit: int, action: Act = Act.PAUSE, sources: Sequence[str] = ()
) -> Budget:
    """A budget under its usual name."""
    name = usual_name(scope, unit)
    return Budget(
        name=name, scope=scope, unit=unit, limit=limit, action=action, sources=tuple(sources)
    )


@contextmanager
def spender(python: Path, place: Path, also: str = "") -> Iterator[Spender]:
    """A new home with nobody in it, whose model wants a tool that works again and again."""
    ledger = f"sqlite:///{place / 'ledger.db'}"
    with FakeModel(working) as model:
        lab = Lab(python, place / "home", model.url, {"SEXTON_LEDGER": ledger})
        with (lab.home / "config.yaml").open("a") as config:
            config.write(ENABLED + also)
        yield Spender(lab, model, ledger)
