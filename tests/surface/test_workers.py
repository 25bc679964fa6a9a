"""`sexton workers list`: who holds sessions, and does it live?"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from sexton.core.clock import SystemClock
from sexton.liveness.model import Worker
from tests.golden import golden
from tests.surface.holding import holder
from tests.surface.program import Cli


def test_workers_are_listed_with_what_is_known_of_them(any_cli: Cli) -> None:
    with any_cli.opened() as opened, opened.worker(kind="bot") as worker:
        worker.session("a", source="telegram")
        busy = worker.session("b", source="telegram")
        with busy.turn():
            (found,) = any_cli("workers", "list", "--json").items()
        registered = opened.ledger.workers.all()[0].registered_at
    assert found["registered_at"].startswith(f"{registered:%Y-%m-%dT%H:%M:%S}")
    assert found["because"]
    assert {**found, "registered_at": "", "because": [], "version": "", "beat": 0} == {
        "id": worker.id,
        "kind": "bot",
        "version": "",
        "host": opened.processes.myself().host,
        "pid": os.getpid(),
        "registered_at": "",
        "beat": 0,
        "verdict": "live",
        "because": [],
        "sessions": 2,
        "busy": 1,
        "stalled": 0,
        "stalled_seconds": 0,
    }
    assert any_cli("workers", "list", "--json").items() == []


def test_what_workers_share_is_counted_for_each_and_a_turn_for_its_own(any_cli: Cli) -> None:
    with any_cli.opened() as opened, opened.worker("bot") as bot, opened.worker("aide") as aide:
        bot.session("alone", source="telegram")
        bot.session("shared", source="telegram")
        with aide.session("shared", source="telegram").turn():
            found = any_cli("workers", "list", "--json").items()
    assert {each["kind"]: (each["sessions"], each["busy"]) for each in found} == {
        "bot": (2, 0),
        "aide": (1, 1),
    }


def test_a_dead_worker_is_listed_until_its_sessions_are_seen_to(any_cli: Cli) -> None:
    with holder(any_cli.url, "a", "cli") as (process, _):
        process.kill()
        process.wait()
        (found,) = any_cli("workers", "list", "--json").items()
        assert (found["pid"], found["verdict"]) == (process.pid, "dead")
        assert (found["sessions"], found["busy"]) == (1, 0)
        any_cli.ok("keep", "--once")
        assert any_cli("workers", "list", "--json").items() == []


def test_a_worker_elsewhere_is_unknown_from_here(cli: Cli) -> None:
    with cli.opened() as opened:
        far = Worker(
            id="far",
            identity=replace(opened.processes.myself(), host="else\x1b[31mwhere"),
            kind="agent",
            version="0",
            beat=0,
            registered_at=opened.clock.now(),
        )
        opened.ledger.workers.register(far)
    (found,) = cli("workers", "list", "--json").items()
    assert found["verdict"] == "unknown"
    golden("workers", "why one elsewhere is unknown", "\n".join(found["because"]))
    assert "\x1b" not in cli.ok("workers", "list")


def test_a_turn_without_progress_is_shown_as_stalled(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = SystemClock().now()
    monkeypatch.setattr(SystemClock, "now", lambda _: now)
    with cli.opened() as opened, opened.worker() as worker:
        session = worker.session("a", source="telegram")
        with session.turn():
            later = now + timedelta(minutes=20)
            monkeypatch.setattr(SystemClock, "now", lambda _: later)
            (found,) = cli("workers", "list", "--json").items()
            assert (found["verdict"], found["busy"], found["stalled"]) == ("live", 1, 1)
            assert found["stalled_seconds"] == 1200
            _, row = cli.ok("workers", "list").splitlines()
            golden("workers", "a turn is stalled", re.split(r" {2,}", row)[8])


def test_a_list_without_workers_says_so_and_makes_no_ledger(cli: Cli) -> None:
    assert cli("workers", "list").code == 10
    assert not Path(cli.url).exists()
    cli.talk("a", "hello")
    answer = cli("workers", "list")
    assert (answer.code, answer.out) == (0, "")
    golden("workers", "no worker is registered", answer.err)
