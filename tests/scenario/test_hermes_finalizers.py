"""Sessions that Hermes ends are finalized with what was said in them, from outside."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from sexton.core.message import Message
from sexton.finalizers.policy import Owing
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import FinalizerKind, FinalizerSetting, HomeSetting, Settings
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.scenario.hermes_home import HermesScene
from tests.scenario.hermes_house import DAY, make_older

KEEP = "import json, sys; open(sys.argv[1], 'a').write(json.dumps(json.load(sys.stdin)) + '\\n')"


def said(house: Sexton, scene: HermesScene, since: int, through: int) -> list[Message]:
    session = house.find("work/talk")
    return list(scene.home.transcript(session, since, through))


NOTES = f"notes-{os.getpid()}"
"""Of this process only: an earlier attempt at the same work is stopped, also one of a neighbour."""


def keeping(url: str, home: Path, notes: Path, *, act: bool = False) -> Sexton:
    """A house that writes what it is given about each ended session into a file."""
    command = FinalizerSetting(
        name=NOTES, kind=FinalizerKind.COMMAND, command=(sys.executable, "-c", KEEP, str(notes))
    )
    settings = Settings(
        homes=(HomeSetting(path=home, name="work", act=act),),
        finalizers=(command,),
        rulebook=Rulebook(finalizers=(Owing(name=NOTES),)),
    )
    house = Sexton(open_ledger(url), settings)
    house.publish()
    return house


def noted(notes: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []


def test_what_hermes_ends_is_finalized_once_and_what_had_ended_before_is_not(
    engine_url: str, scene: HermesScene, tmp_path: Path
) -> None:
    scene.start("long ago")
    scene.say("long ago", "old news")
    scene.end("long ago")
    scene.start("talk", "telegram")
    for number in range(3):
        scene.say("talk", f"word {number}")
    notes = tmp_path / "notes.jsonl"
    with keeping(engine_url, scene.path, notes) as house:
        house.sweep()
        assert noted(notes) == []
        scene.end("talk")
        for _ in range(3):
            house.sweep()
        [note] = noted(notes)
        assert (note["home"], note["session"]["id"], note["end_reason"]) == (
            "work", "talk", "cli_close",
        )  # fmt: skip
        assert [each["content"] for each in note["messages"]] == ["word 0", "word 1", "word 2"]
        assert house.find("work/talk").state == "finalized"


def test_what_is_ended_from_outside_is_finalized_once(
    engine_url: str, scene: HermesScene, tmp_path: Path
) -> None:
    """A conversation that expired, one of the API server that is idle, a row that leaked."""
    (scene.path / "config.yaml").write_text("session_reset: {mode: idle, idle_minutes: 60}")
    key = "agent:main:telegram:dm:7"
    for id, source, named in (("talk", "telegram", key), ("asked", "api_server", None),
                              ("left", "cli", None)):  # fmt: skip
        scene.start(id, source, session_key=named)
        scene.say(id, f"what {id} says")
    make_older(scene, DAY * 2)
    scene.close()
    notes = tmp_path / "notes.jsonl"
    with keeping(engine_url, scene.path, notes, act=True) as house:
        for _ in range(3):
            house.sweep()
        told = {each["session"]["id"]: each for each in noted(notes)}
        assert len(noted(notes)) == len(told) == 3, "each of them once"
        assert {id: each["end_reason"] for id, each in told.items()} == {
            "talk": "idle", "asked": "idle", "left": "reaped",
        }  # fmt: skip
        for id, each in told.items():
            assert [message["content"] for message in each["messages"]] == [f"what {id} says"]
            assert house.find(f"work/{id}").state == "finalized"


def test_a_part_of_a_transcript_is_read_by_place_whatever_lies_between(
    engine_url: str, scene: HermesScene
) -> None:
    scene.start("talk")
    scene.start("other")
    for number in range(1, 6):
        scene.say("talk", f"{number}")
        scene.say("other", "noise")
    with keeping(engine_url, scene.path, Path("unused")) as house:
        house.sweep()
        assert [each.content for each in said(house, scene, 1, 4)] == ["2", "3", "4"]
        assert [each.seq for each in said(house, scene, 1, 4)] == [2, 3, 4]
        assert {each.role for each in said(house, scene, 0, 9)} == {"user"}
        assert len(said(house, scene, 0, 9)) == 5
