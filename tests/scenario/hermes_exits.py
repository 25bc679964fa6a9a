"""How do the sessions of a Hermes process end, by how it runs and how it ends?"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import apsw

from sexton.system.clock import SystemClock
from tests.scenario.fake_model import ANSWER, FakeModel, ToolUse
from tests.scenario.hermes_house import House
from tests.scenario.hermes_lab import Lab

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
KEY = "a-key-of-this-test-alone-0123456789"
PATIENCE = 60.0
LONGEST_GOODBYE = 20.0


@dataclass(frozen=True)
class Ends:
    """How each row ended, by source: first as the process left it, then after one sweep."""

    left: dict[str, str | None]
    swept: dict[str, str | None]
    stayed: bool = False


def ends_of(python: Path, place: Path, mode: str, how: str, *, plugin: bool) -> Ends:
    """Run Hermes in a home of its own, end it, and look; then let a keeper look after it."""
    place.mkdir(parents=True)
    ledger = f"sqlite:///{place / 'ledger.db'}"
    also = {"SEXTON_LEDGER": ledger, **(_api_settings() if mode == API else {})}
    with FakeModel(_delegating if mode == "subagent" else lambda _: ANSWER) as model:
        lab = Lab(python, place / "home", model.url, also)
        if plugin:
            with (lab.home / "config.yaml").open("a") as config:
                config.write("plugins: {enabled: [sexton]}\n")
        if mode == API:
            return _served(lab, also, how, lambda stayed: _swept(lab.home, ledger, stayed))
        run = {"interactive": _interactive, "cron": _job}.get(mode, _command)
        stayed = run(lab, model, mode, how)
        model.go_on()
    return _swept(lab.home, ledger, stayed)


def _swept(home: Path, ledger: str, stayed: bool) -> Ends:
    left = _rows(home)
    house = House(ledger, home, clock=SystemClock())
    house.sexton.sweep()
    house.sexton.close()
    return Ends(left, _rows(home), stayed)


def _served(lab: Lab, also: Mapping[str, str], how: str, look: Callable[[bool], Ends]) -> Ends:
    """A gateway whose API server has answered once; success is that it goes on running."""
    url = f"http://127.0.0.1:{also['API_SERVER_PORT']}/v1/chat/completions"
    body = {"model": "hermes", "messages": [{"role": "user", "content": "Good morning"}]}
    asked = Request(
        url,
        json.dumps(body).encode(),
        {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"},
    )
    with lab.started("gateway", "run") as process:
        _until(lambda: _answers(int(also["API_SERVER_PORT"])) or process.poll() is not None)
        with urlopen(asked, timeout=PATIENCE) as answer:
            assert ANSWER in answer.read().decode()
        if how == SUCCESS:
            return look(False)
        stayed = _ended(process, how)
    return look(stayed)


def _api_settings() -> dict[str, str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"ENABLED": "true", "KEY": KEY, "PORT": str(port), "HOST": "127.0.0.1"}
    return {f"API_SERVER_{name}": value for name, value in settings.items()}


def _answers(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0


def _command(lab: Lab, model: FakeModel, mode: str, how: str) -> bool:
    return _watched(lab, model, WORDS[mode], how, 2 if mode == "subagent" else 1)


def _job(lab: Lab, model: FakeModel, _mode: str, how: str) -> bool:
    lab.run("cron", "create", "every 12h", "Good morning")
    jobs: Any = json.loads((lab.home / "cron" / "jobs.json").read_text())
    [job] = jobs["jobs"] if isinstance(jobs, dict) else jobs
    return _watched(lab, model, ("cron", "run", job["id"]), how, 1)


def _watched(lab: Lab, model: FakeModel, words: tuple[str, ...], how: str, calls: int) -> bool:
    """A process that is ended while it waits for its model, or that is left to its end."""
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


def _ended(process: subprocess.Popen[bytes], how: str) -> bool:
    process.send_signal(signal.Signals[how])
    return not _is_gone(process, lambda: time.sleep(0.1))


def _is_gone(process: subprocess.Popen[bytes], meanwhile: Callable[[], None]) -> bool:
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


def _rows(home: Path) -> dict[str, str | None]:
    db = apsw.Connection(str(home / "state.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return dict(db.execute("SELECT source, end_reason FROM sessions ORDER BY started_at"))
    finally:
        db.close()


def _until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)
