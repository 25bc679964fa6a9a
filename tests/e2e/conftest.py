"""What the browser tests can ask for: a served home of the demonstration's size, and a browser."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from sexton.core.clock import SystemClock
from sexton.homes.hermes.demo.demo_writer import write_home
from tests import layers

ROOT = Path(__file__).parents[2]
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE = 240_000
"""Milliseconds for whatever a page is waited for; the machine may be busy."""
ENDING = 240.0
SETTINGS = """\
homes:
  - {{path: {home}, name: demo, act: false}}
keeper:
  sweep_every: 2s
finalizers:
  - {{name: memories, kind: command, command: ["false"], attempts: 1, sources: [cli]}}
budgets:
  - {{scope: session, usd: 2}}
  - {{scope: day, usd: 25}}
prices:
  models:
    town-model: {{input: 3, output: 15}}
"""


@dataclass(frozen=True)
class Town:
    """A served ledger: where it is, how one gets in, and what the agents' sessions are called."""

    ledger: str
    base: str
    link: str
    ids: dict[str, Any]


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    """A damaged home of the demonstration's size and a few agents, kept and served."""
    with tempfile.TemporaryDirectory(prefix="sexton-") as folder:
        yield from settled(Path(folder))


def settled(place: Path) -> Iterator[Town]:
    """A town in an empty directory."""
    home, ledger = place / "hermes", place / "ledger.db"
    write_home(home, SystemClock().now(), "UTC")
    (place / "sexton.yaml").write_text(SETTINGS.format(home=home))
    environ = {
        **os.environ,
        "HOME": str(place / "user"),
        "XDG_DATA_HOME": str(place / "data"),
        "SEXTON_LEDGER": str(ledger),
        "SEXTON_CONFIG": str(place / "sexton.yaml"),
        "PYTHONPATH": str(ROOT),
    }
    serve = [sys.executable, "-m", "sexton", "serve", "--port", "0", "--json"]
    agents = [sys.executable, "-m", "tests.e2e.town", str(ledger)]
    with ExitStack() as stack:
        served = stack.enter_context(program(serve, environ, signal.SIGTERM))
        ids = stack.enter_context(program(agents, environ))
        yield Town(str(ledger), served["url"], served["link"], ids)


@contextmanager
def program(
    arguments: list[str], environ: dict[str, str], ending: signal.Signals | None = None
) -> Iterator[dict[str, Any]]:
    """A program that says one line of JSON and runs until its block ends; what it said."""
    with subprocess.Popen(
        arguments, env=environ, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdin
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.stdin.close()
            if ending is not None:
                process.send_signal(ending)
            process.wait(ENDING)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, which is installed if it is not there."""
    layers.provide("install_chromium.sh")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=PATIENCE)
        yield started
        started.close()


@pytest.fixture(scope="module")
def entered(browser: Browser, town: Town) -> Any:
    """What a browser remembers that followed the one-time link."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(town.link)
    assert page.url == f"{town.base}/"
    remembered = context.storage_state()
    context.close()
    return remembered


class Watch:
    """What a page must never do: complain on the console, or ask anything."""

    def __init__(self) -> None:
        self.complaints: list[str] = []
        self.forgiven: tuple[str, ...] = ()

    def over(self, page: Page) -> None:
        page.on("console", lambda said: self._said(said.type, said.text))
        page.on("pageerror", lambda trouble: self.complaints.append(str(trouble)))
        page.on("dialog", self._asked)

    def _said(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and not any(each in text for each in self.forgiven):
            self.complaints.append(f"{kind}: {text}")

    def _asked(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Fails the test if any of its pages complained."""
    found = Watch()
    yield found
    assert found.complaints == []


@pytest.fixture
def visit(browser: Browser, entered: Any, town: Town) -> Iterator[BrowserContext]:
    """A browser that was let in."""
    context = browser.new_context(base_url=town.base, storage_state=entered)
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


@pytest.fixture
def page(visit: BrowserContext, watch: Watch) -> Page:
    """A tab of it that is watched."""
    opened = visit.new_page()
    watch.over(opened)
    return opened
