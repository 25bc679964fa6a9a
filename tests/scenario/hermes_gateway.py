"""A real Hermes gateway that people write to, in a throw-away home, with or without the plugin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw

from sexton.core.session import Session
from sexton.sessions.model import Filter
from sexton.settings.settings_values import HomeSetting, Settings
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.scenario.fake_model import FakeModel
from tests.scenario.hermes_lab import Lab
from tests.scenario.signal_daemon import ACCOUNT, DONE, SignalDaemon

ALICE, BOB, OWNER = "+15551001", "+15551002", "+15559999"
"""Two people who write, and the one who reads the home channel."""

CONFIG = """
display: {busy_input_mode: queue, busy_ack_enabled: false}
approvals: {destructive_slash_confirm: false}
"""
PLUGIN = "plugins: {enabled: [sexton]}\n"
ENVIRONMENT = f"""
SIGNAL_HTTP_URL={{url}}
SIGNAL_ACCOUNT={ACCOUNT}
SIGNAL_ALLOW_ALL_USERS=true
SIGNAL_HOME_CHANNEL={OWNER}
"""
HOME = "hermes"
"""How the ledger calls the home: by its directory."""


class Conversations:
    """A home, its model, the people who write to its gateway, and the ledger it is told to."""

    def __init__(self, lab: Lab, model: FakeModel, signal: SignalDaemon, ledger: str) -> None:
        self.lab = lab
        self.model = model
        self.signal = signal
        self.ledger = ledger

    @contextmanager
    def gateway(self) -> Iterator[int]:
        """The home's gateway, listening to people; its pid."""
        try:
            with self.lab.gateway() as pid:
                yield pid
        finally:
            self.signal.hang_up()

    def say(self, user: str, text: str) -> str:
        """Somebody writes, and waits until the gateway is through; all it said to them.

        A command may be answered beside the turns, and then nothing but its answer tells.
        """
        before = len(self.signal.to(user))
        stamp = self.signal.write(user, text)
        if text.startswith("/"):
            self.signal.wait_for(lambda: len(self.signal.to(user)) > before)
        else:
            assert self.signal.wait_for_turn(stamp, before) == DONE, self.signal.to(user)
        return "\n".join(self.signal.to(user)[before:])

    def rows(self, *columns: str) -> dict[str, tuple[Any, ...]]:
        """Those columns of every session of the home, by id; how each has ended by default."""
        wanted = ", ".join(columns or ("end_reason",))
        return {id: tuple(rest) for id, *rest in self.sql(f"SELECT id, {wanted} FROM sessions")}

    def row_of(self, user: str) -> str:
        """The id of the conversation that somebody is in: their newest open row."""
        found = self.sql(
            "SELECT id FROM sessions WHERE user_id = ? AND ended_at IS NULL "
            "ORDER BY started_at DESC LIMIT 1", user,
        )  # fmt: skip
        assert found, f"{user} is in no conversation"
        return str(found[0][0])

    def sql(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        """Read the home's database."""
        flags = apsw.SQLITE_OPEN_READONLY
        with closing(apsw.Connection(str(self.lab.home / "state.db"), flags=flags)) as db:
            db.set_busy_timeout(60_000)
            return list(db.execute(text, values))

    def sessions(self) -> list[Session]:
        """What the ledger knows of the home, the newest first."""
        with closing(open_ledger(self.ledger)) as opened:
            return opened.index.page(Filter(home=HOME), None, 100)

    @contextmanager
    def sexton(self, *, act: bool = True, **settings: Any) -> Iterator[Sexton]:
        """Sexton from outside, beside the gateway and on the same ledger."""
        home = HomeSetting(path=self.lab.home, name=HOME, act=act)
        settings.setdefault("homes", (home,))
        with Sexton(open_ledger(self.ledger), Settings(**settings)) as house:
            yield house


@contextmanager
def conversations(
    python: Path, place: Path, *, plugin: bool = False, config: str = ""
) -> Iterator[Conversations]:
    """A home whose gateway people can write to; with the plugin if the interpreter has it."""
    ledger = f"sqlite:///{place / 'ledger.db'}"
    also = {"SEXTON_LEDGER": ledger, "HERMES_GATEWAY_LOCK_DIR": str(place / "locks")}
    with FakeModel() as model, SignalDaemon() as signal:
        lab = Lab(python, place / HOME, model.url, also)
        with (lab.home / "config.yaml").open("a") as file:
            file.write(CONFIG + (PLUGIN if plugin else "") + config)
        (lab.home / ".env").write_text(ENVIRONMENT.format(url=signal.url))
        yield Conversations(lab, model, signal, ledger)
