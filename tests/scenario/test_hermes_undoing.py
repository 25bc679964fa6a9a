"""What was ended in a home of Hermes is open again after an undo, whoever ended it and how."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from sexton.errors import NothingToUndo
from tests.scenario.hermes_home import HermesScene
from tests.scenario.hermes_house import DAY, House, ends, make_older
from tests.surface.program import Cli

IDLE = "session_reset: {mode: idle, idle_minutes: 60}"
SOURCES = {
    "cli": None,
    "cron": None,
    "api_server": None,
    "webhook": None,
    "subagent": None,
    "telegram": "agent:main:telegram:dm:7",
}


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Cli:
    return Cli(capsys, f"sqlite:///{tmp_path / 'ledger.db'}")


@pytest.fixture
def config(scene: HermesScene, tmp_path: Path) -> tuple[str, str]:
    file = tmp_path / "sexton.yaml"
    homes = [{"path": str(scene.path), "act": True, "name": "hermes"}]
    file.write_text(yaml.safe_dump({"homes": homes}))
    return "--config", str(file)


def begin(scene: HermesScene) -> None:
    """A session of every source, each with a message."""
    for source, key in SOURCES.items():
        scene.start(source, source, session_key=key)
        scene.say(source, "Good morning")
    scene.close()


VERBS: dict[str, tuple[tuple[str, ...], str]] = {
    "end": (("end", "--yes", "--force"), "closed"),
    "end with a word of their own": (
        ("end", "--yes", "--force", "--reason", "abandoned"),
        "abandoned",
    ),
    "reset": (("reset", "--force"), "reset"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_what_an_operator_ends_is_open_again_after_the_undo_that_was_promised(
    cli: Cli, scene: HermesScene, config: tuple[str, str], verb: str
) -> None:
    begin(scene)
    cli.ok("plan", *config)
    (name, *options), word = VERBS[verb]
    for source, key in SOURCES.items():
        done = cli("sessions", name, f"hermes/{source}", *options, "--json", *config).json()
        assert ends(scene)[source] == ("session_reset" if key else word)
        scene.close()
        cli.ok("undo", done["receipt"], *config)
        assert ends(scene)[source] is None
        scene.close()
    assert set(ends(scene).values()) == {None}
    scene.say("cli", "I go on")
    assert scene.sql("SELECT COUNT(*) FROM messages WHERE session_id = 'cli'") == [[2]]


@pytest.fixture
def house(tmp_path: Path, scene: HermesScene) -> Iterator[House]:
    opened = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path, max_messages=3)
    yield opened
    opened.sexton.close()


def test_what_the_policies_end_is_open_again_for_whatever_reason(
    house: House, scene: HermesScene
) -> None:
    (scene.path / "config.yaml").write_text(IDLE)
    begin(scene)
    scene.start("full", "telegram", session_key="agent:main:telegram:dm:8")
    for number in range(4):
        scene.say("full", f"{number}")
    make_older(scene, DAY, *SOURCES)
    scene.close()
    house.clock.advance(timedelta(minutes=1))  # beyond what Hermes has written by its own clock
    plan = house.plan()
    asked = {each.seen.id: each.reason.code for each in plan.actions}
    assert asked["full"] == "max_messages"
    assert asked["telegram"] == asked["api_server"] == "idle"
    assert asked["cli"] == "reaped:owner_gone"
    assert set(house.apply(plan, "ended").values()) == {"done"}
    assert house.sexton.undo("ended") == []
    found = ends(scene)
    assert {id: found[id] for id in asked} == dict.fromkeys(asked)


def test_what_hermes_had_reset_before_the_apply_came_to_it_stays_ended(
    house: House, scene: HermesScene
) -> None:
    """The journal says that the apply meant to end it; Hermes did so by the same word."""
    (scene.path / "config.yaml").write_text(IDLE)
    scene.start("talk", "telegram", session_key="agent:main:telegram:dm:7")
    make_older(scene, DAY)
    scene.close()
    house.clock.advance(timedelta(minutes=1))  # beyond what Hermes has written by its own clock
    plan = house.plan()
    scene.ask("end_session", "talk", "session_reset")
    scene.close()
    assert house.apply(plan, "late") == {"talk": "skipped"}
    with pytest.raises(NothingToUndo):
        house.sexton.undo("late")
    assert ends(scene) == {"talk": "session_reset"}


def test_what_hermes_has_ended_in_the_same_word_since_stays_ended(
    house: House, scene: HermesScene
) -> None:
    (scene.path / "config.yaml").write_text(IDLE)
    scene.start("served", "api_server")
    make_older(scene, DAY)
    scene.close()
    assert house.apply(house.plan(), "ended") == {"served": "done"}
    at = house.clock.now() + timedelta(minutes=1)
    scene.sql("UPDATE sessions SET ended_at = ? WHERE id = 'served'", at.timestamp())
    scene.close()
    with pytest.raises(NothingToUndo):
        house.sexton.undo("ended")
    assert ends(scene) == {"served": "idle"}
