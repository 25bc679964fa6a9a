"""What becomes of processes when a session of Hermes ends, by the kind of end it came to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sexton.processes.handling import Handling, ProcessPolicy
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import Settings
from sexton.wiring import Sexton
from sexton.wiring.visitor import visit
from tests.scenario.hermes_home import HermesScene
from tests.scenario.hermes_house import DAY, House, ends, make_older

TALK = "agent:main:telegram:dm:7"
IDLE = "session_reset: {mode: idle, idle_minutes: 60}"
DAILY = "session_reset: {mode: daily, at_hour: 4}"
OCCASIONS = ("on_idle_reset", "on_daily_reset", "on_end", "on_reap")


@pytest.fixture
def house(tmp_path: Path, scene: HermesScene) -> Iterator[House]:
    opened = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path)
    yield opened
    opened.sexton.close()


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    )
    yield process
    process.kill()
    process.communicate()


def publish(house: House, **handling: Any) -> None:
    """Put policies for processes in force."""
    rules = Rulebook(processes=ProcessPolicy(**handling))
    Sexton(house.ledger, Settings(rulebook=rules), clock=house.clock).publish()


def begin(house: House, scene: HermesScene, server: subprocess.Popen[bytes], source: str) -> None:
    """A session of Hermes that has started a process, as the plugin tells the ledger."""
    scene.start("talk", source, session_key=TALK if source == "telegram" else None)
    scene.say("talk", "Good morning")
    house.observe()
    with visit(house.sexton, scene.path, "hermes") as inside:
        inside.hold(house.session("talk")).register_process(server.pid, kind="server")


def end(house: House, scene: HermesScene, occasion: str) -> None:
    """Let the session end in one of the ways Hermes and the keeper end sessions."""
    if occasion == "on_idle_reset":  # by the keeper, as there is no gateway
        (scene.path / "config.yaml").write_text(IDLE)
        house.clock.advance(timedelta(hours=2))
    elif occasion == "on_daily_reset":  # by Hermes's own watcher
        (scene.path / "config.yaml").write_text(DAILY)
        make_older(scene, 2 * DAY, "talk")
        assert scene.ask("promote_to_session_reset", "talk")
    elif occasion == "on_end":  # by a user's /new in a chat: the same word for another thing
        (scene.path / "config.yaml").write_text(IDLE)
        scene.ask("end_session", "talk", "session_reset")
    scene.close()


@pytest.mark.parametrize(
    ("occasion", "source", "word"),
    [
        ("on_idle_reset", "telegram", "session_reset"),
        ("on_daily_reset", "telegram", "session_reset"),
        ("on_end", "telegram", "session_reset"),
        ("on_reap", "cli", "reaped"),
    ],
)
@pytest.mark.parametrize("stops", [True, False], ids=["stops", "keeps"])
def test_the_policy_for_that_kind_of_end_applies_and_no_other(
    house: House,
    scene: HermesScene,
    server: subprocess.Popen[bytes],
    occasion: str,
    source: str,
    word: str,
    stops: bool,
) -> None:
    meant, others = Handling.STOP, Handling.KEEP
    if not stops:
        meant, others = others, meant
    publish(house, **{each: meant if each == occasion else others for each in OCCASIONS})
    begin(house, scene, server, source)
    end(house, scene, occasion)
    house.swept()
    assert ends(scene) == {"talk": word}
    house.swept()  # the row that the keeper has changed is known now
    house.clock.advance(timedelta(hours=1))
    house.swept()  # a stop by a daily reset was announced half an hour before
    if stops:
        assert server.wait(240) != 0
    else:
        assert server.poll() is None
    left = [each.ended_how for each in house.ledger.registry.page(None, 10)]
    assert (left[0] is not None) == stops


def test_what_was_compressed_goes_on_and_its_processes_are_left_alone(
    house: House, scene: HermesScene, server: subprocess.Popen[bytes]
) -> None:
    publish(house, **dict.fromkeys(OCCASIONS, Handling.STOP))
    begin(house, scene, server, "telegram")
    scene.ask("end_session", "talk", "compression")
    scene.start("child", "telegram", session_key=TALK, parent_session_id="talk")
    scene.close()
    house.swept()
    house.swept()
    assert server.poll() is None
    assert house.ledger.registry.running()


def test_a_report_counts_what_was_reaped_in_whatever_words(
    house: House, scene: HermesScene
) -> None:
    for id in ("one", "two", "three"):
        scene.start(id, "cli")
    scene.end("three")
    scene.close()
    assert set(house.swept().values()) == {"done reaped:owner_gone"}
    house.observe()
    record = house.sexton.estate().records["work"]
    (day,) = house.ledger.homes.census.started(record, house.clock.now() - 7 * DAY)
    assert (day.sessions, day.open, day.reaped) == (3, 0, 2)
