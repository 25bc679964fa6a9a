"""How do the sessions of a Hermes process end, by how it runs and how it ends?"""

from __future__ import annotations

import json
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import apsw

from sexton.core.clock import SystemClock
from tests.scenario.fake_model import ANSWER, FakeModel, ToolUse
from tests.scenario.hermes_house import House
from tests.scenario.hermes_lab import Lab, Terminal
from tests.scenario.hermes_starting import Started

SUCCESS = "success"
SIGNALS = {each.name: each for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
EXITS = (SUCCESS, *SIGNALS, signal.SIGKILL.name)
GOAL = "look under the third stone"
WORDS = {
    "chat -q": ("chat", "-q", "Good morning"),
    "chat -Q": ("chat", "-Q", "-q", "Good morning"),
    "-z": ("-z", "Good morning"),
    "subagent": ("chat", "-q", "Delegate it", "--yolo"),
}
API = "api server"
MODES = ("chat -q", "chat -Q", "-z", "interactive", "cron", "subagent", API)
AIOHTTP = "aiohttp>=3.14,<4"
"""Hermes's API server needs it, and does not bring it."""
KEY = "a-key-of-this-test-alone-0123456789"
PATIENCE = 240.0
LONGEST_GOODBYE = 240.0


@dataclass(frozen=True)
class Ends:
    """How each row ended, by source: first as the process left it, then after one sweep."""

    left: dict[str, str | None]
    swept: dict[str, str | None]
    stayed: bool = False


def ends_of(python: Path, place: Path, mode: str, how: str, *, plugin: bool) -> Ends:
    """Run Hermes in a home of its own, end it, and look; then let a keeper look after it."""
    with furnished(python, place, plugin=plugin) as home:
        return home.ends(mode, how)


class Later(SystemClock):
    """The clock of somebody who comes two days later."""

    def now(self) -> datetime:
        return super().now() + timedelta(days=2)


class Furnished:
    """A home for processes of Hermes, with the model they ask and the keeper that looks after it.

    Rows that were there before are not counted.
    """

    def __init__(self, lab: Lab, model: FakeModel, ledger: str, api: Mapping[str, str]) -> None:
        self.lab = lab
        self._model = model
        self._ledger = ledger
        self._api = api

    def ends(self, mode: str, how: str) -> Ends:
        """Run Hermes and end it; how its rows stand then and after a sweep."""
        before = frozenset(rows(self.lab.home))
        self._model.reply = _delegating if mode == "subagent" else lambda _: ANSWER
        if mode == API:
            return self._served(how, before)
        run = {"interactive": _interactive, "cron": _job}.get(mode, _command)
        stayed = run(self.lab, self._model, mode, how)
        self._model.go_on()
        return self._swept(before, stayed)

    def _swept(
        self, before: frozenset[str], stayed: bool, clock: SystemClock | None = None
    ) -> Ends:
        left = self._by_source(before)
        house = House(self._ledger, self.lab.home, clock=clock or SystemClock())
        house.sexton.sweep()
        house.sexton.close()
        return Ends(left, self._by_source(before), stayed)

    def _by_source(self, before: frozenset[str]) -> dict[str, str | None]:
        found = rows(self.lab.home)
        return {source: reason for id, (source, reason) in found.items() if id not in before}

    def _served(self, how: str, before: frozenset[str]) -> Ends:
        """A gateway whose API server has answered once; success is that it goes on running.

        Whoever asked may go on, so the keeper comes when its session has been idle for long.
        """
        port = int(self._api["API_SERVER_PORT"])
        body = {"model": "hermes", "messages": [{"role": "user", "content": f"Good day, {how}"}]}
        asked = Request(
            f"http://127.0.0.1:{port}/v1/chat/completions",
            json.dumps(body).encode(),
            {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"},
        )
        with self.lab.started("gateway", "run", **self._api) as process:
            _until(lambda: answers(port) or process.poll() is not None)
            with urlopen(asked, timeout=PATIENCE) as answer:
                assert ANSWER in answer.read().decode()
            if how == SUCCESS:
                return self._swept(before, False, Later())
            stayed = _ended(process, how)
        return self._swept(before, stayed, Later())


@contextmanager
def furnished(python: Path, place: Path, *, plugin: bool) -> Iterator[Furnished]:
    """A new home with nobody in it."""
    place.mkdir(parents=True)
    ledger = f"sqlite:///{place / 'ledger.db'}"
    with FakeModel() as model:
        lab = Lab(python, place / "home", model.url, {"SEXTON_LEDGER": ledger})
        if plugin:
            with (lab.home / "config.yaml").open("a") as config:
                config.write("plugins: {enabled: [sexton]}\n")
        yield Furnished(lab, model, ledger, api_settings())


@contextmanager
def company(lab: Lab, *, gateway: bool = True) -> Iterator[str]:
    """An idle command line in the home and, unless it is to be left out, its gateway.

    Yields the row of the command line, which nobody may end.
    """
    with ExitStack() as there:
        if gateway:
            there.enter_context(lab.gateway())
        known = frozenset(rows(lab.home))
        terminal = there.enter_context(lab.terminal())
        terminal.wait_for("❯")
        terminal.type("Good morning")
        terminal.wait_for(ANSWER)
        reading = threading.Event()
        thread = threading.Thread(target=_read_on, args=(terminal, reading), daemon=True)
        thread.start()
        try:
            # What was killed before may have left somebody who begins a row of another kind now.
            found = rows(lab.home)
            *_, row = (id for id in found if id not in known and found[id] == ("cli", None))
            yield row
        finally:
            reading.set()
            thread.join()


def _read_on(terminal: Terminal, enough: threading.Event) -> None:
    """Whoever shows something must not wait for somebody to look."""
    while not enough.is_set():
        terminal.read()


def api_settings() -> dict[str, str]:
    """What turns the API server on, at a port of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"ENABLED": "true", "KEY": KEY, "PORT": str(port), "HOST": "127.0.0.1"}
    return {f"API_SERVER_{name}": value for name, value in settings.items()}


def answers(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0


def _command(lab: Lab, model: FakeModel, mode: str, how: str) -> bool:
    return _watched(lab, model, WORDS[mode], how, 2 if mode == "subagent" else 1)


def _job(lab: Lab, model: FakeModel, _mode: str, how: str) -> bool:
    return _watched(lab, model, ("cron", "run", lab.job()), how, 1)


def _watched(lab: Lab, model: FakeModel, words: tuple[str, ...], how: str, calls: int) -> bool:
    """A process that is ended while it waits for its model, or that is left to its end."""
    calls += len(model.asked)
    if how != SUCCESS:
        model.hold_from(calls)
    with lab.started(*words) as process:
        if how == SUCCESS:
            process.wait(PATIENCE)
            return False
        _until(lambda: len(model.asked) >= calls or process.poll() is not None)
        return _ended(process, how)


def _interactive(lab: Lab, _model: FakeModel, _mode: str, how: str) -> bool:
    with lab.terminal() as terminal:
        terminal.wait_for("❯")
        terminal.type("Good morning")
        terminal.wait_for(ANSWER)
        if how == SUCCESS:
            terminal.type("/quit")
        else:
            terminal.process.send_signal(signal.Signals[how])
        return not _is_gone(terminal.process, terminal.read)


def _ended(process: Started, how: str) -> bool:
    process.send_signal(signal.Signals[how])
    return not _is_gone(process, lambda: time.sleep(0.1))


def _is_gone(process: Started, meanwhile: Callable[[], None]) -> bool:
    """Whether it ends by itself; one that does not is ended by force."""
    deadline = time.monotonic() + LONGEST_GOODBYE
    while process.poll() is None and time.monotonic() < deadline:
        meanwhile()
    if process.poll() is None:
        process.kill()
        process.wait()
        return False
    return True


def _delegating(messages: list[Any]) -> str | ToolUse:
    said = json.dumps(messages)
    is_child = GOAL in json.dumps([each for each in messages if each["role"] == "user"])
    if is_child or '"role": "tool"' in said:
        return ANSWER
    return ToolUse("delegate_task", {"goal": GOAL})


def rows(home: Path) -> dict[str, tuple[str, str | None]]:
    """The source and the end of every session, by id, in the order in which they began."""
    if not (home / "state.db").exists():
        return {}
    db = apsw.Connection(str(home / "state.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        found = db.execute("SELECT id, source, end_reason FROM sessions ORDER BY started_at")
        return {id: (source, reason) for id, source, reason in found}
    finally:
        db.close()


def _until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)
