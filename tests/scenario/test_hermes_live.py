"""A keeper acts on a home that a real gateway and an idle command line of Hermes have open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sexton.core.clock import SystemClock
from sexton.homes.hermes.holders import Kind, take_census
from tests.scenario.fake_model import ANSWER, FakeModel
from tests.scenario.hermes_home import Hermes, HermesScene
from tests.scenario.hermes_house import DAY, House, ends, is_sound, make_older, many, reasons
from tests.scenario.hermes_lab import Lab, Terminal

TALK = "agent:main:telegram:dm:7"


@dataclass(frozen=True)
class Live:
    """A home that its gateway and one command line have open."""

    lab: Lab
    scene: HermesScene
    house: House
    terminal: Terminal
    gateway: int


@pytest.fixture
def live(hermes: Hermes, hermes_python: Path, tmp_path: Path) -> Iterator[Live]:
    scene = HermesScene(hermes, tmp_path / "home")
    scene.start("forgotten")
    scene.say("forgotten", "Good morning")
    scene.start("talk", "telegram", session_key=TALK)
    make_older(scene, 20 * DAY)
    scene.close()
    house = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path, clock=SystemClock())
    with FakeModel() as model:
        lab = Lab(hermes_python, scene.path, model.url)
        with lab.gateway() as gateway:
            census = take_census(scene.path, scene.database)
            assert [(each.pid, each.kind) for each in census.holders] == [(gateway, Kind.GATEWAY)]
            assert census.gap is None
            # Beside the gateway alone the forgotten row is proved to be nobody's.
            assert house.swept() == {"forgotten": "done reaped:owner_gone"}
            with lab.terminal() as terminal:
                terminal.wait_for("❯")
                terminal.type("Good morning")
                terminal.wait_for(ANSWER)
                yield Live(lab, scene, house, terminal, gateway)
    house.sexton.close()


def test_the_owner_of_an_idle_terminal_keeps_its_row(live: Live) -> None:
    """And what somebody else may have resumed is left to a person."""
    live.scene.start("leaked")
    make_older(live.scene, DAY, "leaked")
    live.scene.close()
    assert live.house.swept() == {}
    plan = live.house.plan()
    assert reasons(plan) == {"leaked": "reaped:suspect"}
    assert live.house.apply(plan) == {"leaked": "done"}
    found = ends(live.scene)
    live.scene.close()
    assert (found.pop("forgotten"), found.pop("leaked"), found.pop("talk")) == (
        "reaped", "reaped", None,
    )  # fmt: skip
    assert list(found.values()) == [None], "the row of the terminal"


def test_garbage_goes_and_comes_back_and_the_terminal_goes_on(live: Live) -> None:
    scene, house = live.scene, live.house
    many(scene, "old", 40, 4)
    make_older(scene, 20 * DAY, *(f"old{number}" for number in range(40)))
    before = scene.sql("SELECT * FROM messages ORDER BY id")
    scene.close()
    plan = house.garbage()
    assert len([id for id in reasons(plan) if id.startswith("old")]) == 40
    assert set(house.apply(plan, "live").values()) == {"done"}
    live.terminal.type("Are you still there?")
    live.terminal.wait_for(ANSWER, 2)
    house.sexton.undo("live")
    assert scene.sql("SELECT * FROM messages ORDER BY id")[: len(before)] == before
    scene.close()
    assert is_sound(scene.database)
    live.terminal.type("Good night")
    live.terminal.wait_for(ANSWER, 3)
    rows = scene.sql("SELECT COUNT(*) FROM messages WHERE content = 'Good night'")
    scene.close()
    assert rows == [[1]]
    errors = (live.lab.home / "logs" / "errors.log").read_text()
    assert not re.search("database|sqlite|session_db", errors, re.IGNORECASE), errors


def test_what_was_reaped_is_resumed_as_the_same_session(live: Live) -> None:
    sessions = len(ends(live.scene))
    assert ends(live.scene)["forgotten"] == "reaped"
    live.scene.close()
    assert ANSWER in live.lab.ask("Where were we?", "--resume", "forgotten")
    said = live.scene.sql("SELECT role FROM messages WHERE session_id = 'forgotten' ORDER BY id")
    assert len(ends(live.scene)) == sessions, "nothing was forked"
    live.scene.close()
    assert [role for (role,) in said] == ["user", "user", "assistant"]
    # A single question leaves its row open although it is done; a person may end it again.
    live.house.observe()
    assert live.house.session("forgotten").is_open
    assert is_sound(live.scene.database)
