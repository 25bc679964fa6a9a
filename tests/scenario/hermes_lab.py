"""Real Hermes processes that use a home: its gateway, its command line, a single question."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.scenario.hermes_starting import Started, run, start

CONFIG = """
model: {{provider: custom, default: fake-model, base_url: "{url}", api_key: sk-fake, context_length: 131072}}
security: {{allow_lazy_installs: false, tirith_enabled: false}}
auxiliary: {{title_generation: {{enabled: false}}}}
memory: {{memory_enabled: false, user_profile_enabled: false}}
agent: {{max_turns: 400, environment_probe: false}}
"""  # noqa: E501  # as Hermes reads it
PATIENCE = 240.0
HERMES = ("-m", "hermes_cli.main")
TRUSTED = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
AUTHORITY = Path(__file__).with_name("authority.pem")
"""Hermes loads all authorities that it trusts eight times at each start; here nobody speaks TLS."""
REVIEW = 16
"""The iterations of Hermes's review of a turn."""
WHERE_IS_THE_CURSOR, AT_THE_TOP = b"\x1b[6n", b"\x1b[1;1R"


class Lab:
    """Starts Hermes processes in one home; all of them end with the test."""

    def __init__(
        self, python: Path, home: Path, url: str, also: Mapping[str, str] | None = None
    ) -> None:
        home.mkdir(parents=True, exist_ok=True)
        (home / "config.yaml").write_text(CONFIG.format(url=url))
        nobody = home.with_name("nobody")
        nobody.mkdir(exist_ok=True)
        self.home = home
        self._python = python
        self._environment = {
            **os.environ,
            "HERMES_HOME": str(home),
            "HOME": str(nobody),
            "HERMES_DISABLE_LAZY_INSTALLS": "1",
            "TERM": "xterm",
            "COLUMNS": "120",
            "LINES": "40",
            "LANGUAGE": "C",
            **dict.fromkeys(TRUSTED, str(AUTHORITY)),
            **(also or {}),
        }
        self._environment.pop("PYTHONPATH", None)

    def add(self, name: str, value: str) -> None:
        """Set a variable for all that begin from now on."""
        self._environment[name] = value

    @contextmanager
    def gateway(self) -> Iterator[int]:
        """The home's gateway, running; its pid."""
        with self.started("gateway", "run") as process:
            running = self.home / "gateway.pid"
            opened = self.home / "state.db-shm"
            _wait(lambda: running.exists() and opened.exists(), process)
            yield process.pid

    @contextmanager
    def terminal(self, *words: str) -> Iterator[Terminal]:
        """An interactive command line that waits for what is typed."""
        master, slave = pty.openpty()
        command = [str(self._python), *HERMES, *words]
        streams = (slave, slave, slave)
        process = start(command, self._environment, self.home, streams, session=True)
        os.close(slave)
        terminal = Terminal(process, master)
        try:
            yield terminal
        finally:
            process.terminate()
            deadline = time.monotonic() + PATIENCE
            while process.poll() is None and time.monotonic() < deadline:
                terminal.read()  # one that still writes cannot end while nobody reads
            _end(process)
            os.close(master)

    def ask(self, question: str, *words: str) -> str:
        """Ask one question and wait for what is answered."""
        return self.run("chat", *words, "-q", question).stdout

    def job(self, task: str = "Good morning") -> str:
        """A new job of cron; its id."""
        self.run("cron", "create", "every 12h", task)
        jobs: Any = json.loads((self.home / "cron" / "jobs.json").read_text())
        made = (jobs["jobs"] if isinstance(jobs, dict) else jobs)[-1]
        return str(made["id"])

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of Hermes to its end."""
        return self._run(*HERMES, *words)

    def run_program(self, text: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program in Hermes's interpreter to its end."""
        return self._run("-c", text, *words)

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run([str(self._python), *words], self._environment, self.home)

    @contextmanager
    def started(self, *words: str, **also: str) -> Iterator[Started]:
        """A command of Hermes that runs, with more in its environment if need be."""
        command = [str(self._python), *HERMES, *words]
        with open(os.devnull, "r+b") as nothing:
            streams = (nothing.fileno(),) * 3
            process = start(command, {**self._environment, **also}, self.home, streams)
        try:
            yield process
        finally:
            _end(process)


class Terminal:
    """What somebody types into a running Hermes, and what it shows."""

    def __init__(self, process: Started, master: int) -> None:
        self.process = process
        self._master = master
        self.pid = process.pid
        self.shown = b""

    def wait_for(self, words: str, times: int = 1) -> None:
        """Read until the words were shown so often."""
        deadline = time.monotonic() + PATIENCE
        while self.shown.count(words.encode()) < times:
            assert self.process.poll() is None, self.shown[-2000:]
            assert time.monotonic() < deadline, self.shown[-2000:]
            self.read()

    def type(self, line: str) -> None:
        """Type a line and the key that sends it."""
        os.write(self._master, line.encode() + b"\r")

    def read(self) -> None:
        """Take in what is shown, and answer as a terminal does."""
        if select.select([self._master], [], [], 0.1)[0]:
            with suppress(OSError):
                shown = os.read(self._master, 65536)
                self.shown += shown
                if WHERE_IS_THE_CURSOR in shown:
                    os.write(self._master, AT_THE_TOP)


def turns_ended(lab: Lab) -> int:
    """How many turns of Hermes are over, those of its reviews too."""
    return len(_ended(lab))


def own_turns_ended(lab: Lab) -> int:
    """The same without reviews, which may ask so often at most; they come when Hermes likes."""
    return sum(not each.endswith(f"/{REVIEW}") for each in _ended(lab))


def _ended(lab: Lab) -> list[str]:
    log = lab.home / "logs" / "agent.log"
    return re.findall(r"Turn ended:.* budget=(\S+)", log.read_text()) if log.exists() else []


def listen(terminal: Terminal, happened: Callable[[], bool]) -> None:
    """Read on until something has happened: a terminal that nobody reads stands still."""
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, terminal.shown[-2000:]
        terminal.read()


def _wait(happened: object, process: Started) -> None:
    deadline = time.monotonic() + PATIENCE
    assert callable(happened)
    while not happened():
        assert process.poll() is None, f"Hermes has ended with {process.poll()}"
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _end(process: Started) -> None:
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
