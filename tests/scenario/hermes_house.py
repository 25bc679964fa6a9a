"""A keeper's machine with one Hermes home that it may change."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw

from sexton.core.machine_ports import Clock
from sexton.core.plan import Outcome, Plan
from sexton.core.session import Session
from sexton.keeper.observe import observe_home
from sexton.settings.settings_values import HomeSetting, Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.scenario.hermes_home import HermesScene

DAY = timedelta(days=1)


class House:
    """A ledger, a clock of its own and a Hermes home, called `work` if nobody has named it."""

    def __init__(
        self,
        url: str,
        path: Path,
        *,
        act: bool = True,
        clock: Clock | None = None,
        max_messages: int | None = 1000,
        name: str = "work",
    ) -> None:
        """Beside others who write, only a real clock waits for them."""
        self.name = name
        self.clock = ManualClock(datetime.now(UTC))
        self.ledger = open_ledger(url)
        home = HomeSetting(path=path, name=name, act=act, max_messages=max_messages)
        homes = (home,)
        self.sexton = Sexton(self.ledger, Settings(homes=homes), clock=clock or self.clock)

    def observe(self) -> None:
        """Look at the home as a keeper does."""
        estate = self.sexton.estate()
        observe_home(estate, estate.homes[self.name], estate.records[self.name])

    def swept(self) -> dict[str, str]:
        """What one sweep of a keeper did to the sessions of the home, and why."""
        done = [(each.result, each.action) for each in self.sexton.sweep().outcomes]
        return {action.seen.id: f"{result} {action.reason.code}" for result, action in done}

    def plan(self) -> Plan:
        """What a person is shown, after a look at the home."""
        self.observe()
        return self.sexton.plan(self.name)

    def garbage(self, **wanted: Any) -> Plan:
        """What a person is shown as garbage, after a look at the home."""
        self.observe()
        return self.sexton.plan(self.name, gc=wanted or True)

    def apply(self, plan: Plan, receipt: str = "receipt") -> dict[str, str]:
        """What came of each action, at the word of a person."""
        return results(self.sexton.apply(plan, receipt, observed=True))

    def session(self, id: str) -> Session:
        """What the ledger knows of a session of the home."""
        return self.sexton.find(f"{self.name}/{id}")


def results(outcomes: list[Outcome]) -> dict[str, str]:
    return {each.action.seen.id: str(each.result) for each in outcomes}


def reasons(plan: Plan) -> dict[str, str]:
    """What is to be done to which session, and why."""
    return {each.seen.id: each.reason.code for each in plan.actions}


def ends(scene: HermesScene) -> dict[str, str | None]:
    """How each session of the home has ended, as Hermes sees it."""
    return {id: reason for id, reason in scene.sql("SELECT id, end_reason FROM sessions")}


def make_older(scene: HermesScene, by: timedelta, *ids: str) -> None:
    """Move what Hermes has written into the past, all of it or only of some sessions."""
    chosen = ids or tuple(id for (id,) in scene.sql("SELECT id FROM sessions"))
    for id in chosen:
        scene.sql(
            "UPDATE sessions SET started_at = started_at - ?, ended_at = ended_at - ? WHERE id = ?",
            by.total_seconds(), by.total_seconds(), id,
        )  # fmt: skip
        scene.sql(
            "UPDATE messages SET timestamp = timestamp - ? WHERE session_id = ?",
            by.total_seconds(), id,
        )  # fmt: skip


def many(scene: HermesScene, prefix: str, sessions: int, messages: int) -> None:
    """Sessions that have ended, with so many messages each, written all at once."""
    scene.sql(
        "INSERT INTO sessions (id, source, started_at, ended_at, end_reason) "
        "SELECT ? || value, 'cli', unixepoch(), unixepoch(), 'cli_close' FROM json_each(?)",
        prefix, json.dumps(list(range(sessions))),
    )  # fmt: skip
    scene.sql(
        "INSERT INTO messages (session_id, role, content, timestamp) "
        "SELECT s.id, 'user', s.id || ' says ' || j.value, s.started_at + j.value "
        "FROM sessions AS s, json_each(?) AS j WHERE s.id LIKE ? || '%'",
        json.dumps(list(range(messages))), prefix,
    )  # fmt: skip


def is_sound(database: Path) -> bool:
    """Whether SQLite finds the database and its full-text indexes whole."""
    db = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        checked = db.execute("PRAGMA integrity_check").get
        said = db.execute("SELECT COUNT(*) FROM messages").get
        listed = db.execute("SELECT COUNT(*) FROM messages_fts").get
        return bool(checked == "ok" and said == listed)
    finally:
        db.close()
