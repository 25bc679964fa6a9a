"""Real conversations of a real gateway: does the rig of the other scenarios hold what it says?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenario.fake_model import ANSWER
from tests.scenario.hermes_gateway import ALICE, BOB, conversations


@pytest.mark.parametrize("plugin", [False, True], ids=["alone", "inside"])
def test_two_people_write_to_a_gateway_and_each_has_a_conversation(
    furnished_python: Path, tmp_path: Path, plugin: bool
) -> None:
    with conversations(furnished_python, tmp_path, plugin=plugin) as home, home.gateway():
        assert home.say(ALICE, "Good morning") == ANSWER
        assert home.say(BOB, "Good morning") == ANSWER
        assert home.say(ALICE, "And again") == ANSWER
        assert home.rows("source", "user_id", "end_reason") == {
            home.row_of(ALICE): ("signal", ALICE, None),
            home.row_of(BOB): ("signal", BOB, None),
        }
        held = {each.id for each in home.sessions() if each.holders}
        assert held == ({home.row_of(ALICE), home.row_of(BOB)} if plugin else set())


def test_somebody_begins_anew_in_the_middle_of_nothing(
    furnished_python: Path, tmp_path: Path
) -> None:
    with conversations(furnished_python, tmp_path) as home, home.gateway():
        home.say(ALICE, "Good morning")
        left = home.row_of(ALICE)
        home.say(ALICE, "/new")
        assert home.say(ALICE, "Good evening") == ANSWER
        assert home.row_of(ALICE) != left
        assert home.rows()[left] == ("session_reset",)
