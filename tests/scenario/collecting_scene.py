"""A house with garbage in it, and what there is of every session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sexton.core.plan import Outcome, Plan, Result
from sexton.core.session import State
from sexton.retention.files.own_directories import OwnFiles
from sexton.retention.removal_context import Means
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.model import Filter
from sexton.settings.settings_values import ArchiveSettings, Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton

START = datetime(2026, 6, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


class House:
    """A ledger with its vault, and the files of its sessions."""

    def __init__(self, url: str, place: Path, **settings: Any) -> None:
        self.vault = place / "vault"
        self.clock = ManualClock(START)
        archive = ArchiveSettings(directory=self.vault)
        self.sexton = Sexton(
            open_ledger(url), Settings(archive=archive, **settings), clock=self.clock
        )
        self.sexton.publish()

    @property
    def means(self) -> Means:
        found = self.sexton.estate().removing
        assert found is not None
        return found

    @property
    def files(self) -> OwnFiles:
        found = self.means.files["native"]
        assert isinstance(found, OwnFiles)
        return found

    def over(self, said: int = 1, key: str | None = None, **facts: Any) -> str:
        """The id of a session that has ended."""
        with self.opened(said, key, **facts) as session:
            session.end("done")
            return session.id

    @contextmanager
    def opened(self, said: int = 1, key: str | None = None, **facts: Any) -> Iterator[OpenSession]:
        """A session that somebody holds."""
        with self.sexton.worker() as worker:
            session = worker.session(key, **({"source": "chat"} | facts))
            for number in range(said):
                session.append(role="user", content=f"word {number}", mood={"n": number})
            yield session

    def later(self, days: float = 8) -> None:
        self.clock.advance(days * DAY)

    def collect(self, **wanted: Any) -> tuple[str, list[Outcome]]:
        """Remove all garbage; the receipt, and what came of each session."""
        receipt = f"receipt {len(self.sexton.ledger.journal.page(None, None, None, 10_000))}"
        plan = self.sexton.plan(gc=wanted or True)
        return receipt, self.sexton.apply(plan, receipt)

    def state(self, id: str) -> State:
        return self.sexton.find(id).state

    def states(self) -> dict[str, State]:
        page = self.sexton.ledger.index.page(Filter(), None, 100_000)
        return {each.id: each.state for each in page}

    def copies(self) -> list[str]:
        """What lies in the vault."""
        return sorted(each.name for each in self.vault.glob("*")) if self.vault.exists() else []

    def everything(self) -> dict[str, Any]:
        """All there is of every session in the ledger, but for where its rows are."""
        removable = self.sexton.ledger.removable
        page = self.sexton.ledger.index.page(Filter(), None, 100_000)
        refs = [each.ref for each in page]
        rows, said = removable.rows(refs), removable.messages(refs)
        return {
            each.id: (rows[each.ref].row, rows[each.ref].finalizations, said.get(each.ref))
            for each in page
        }


def going(plan: Plan) -> set[str]:
    """The sessions that are to go."""
    return {action.seen.id for action in plan.actions}


def results(outcomes: Iterable[Outcome]) -> dict[Result, int]:
    return dict(Counter(outcome.result for outcome in outcomes))
