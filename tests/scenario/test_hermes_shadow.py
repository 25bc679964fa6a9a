"""What would have been reaped in a real Hermes home that is only observed, and was it right?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sexton.core.plan import Result
from sexton.homes.hermes.home import HermesHome
from sexton.keeper.observe import observe_home
from sexton.keeper.swept import Sweep
from sexton.liveness.model import ShadowCount
from sexton.liveness.policy import LivenessPolicy
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import HomeSetting, Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.golden import golden
from tests.scenario.hermes_home import HermesScene

WEEK = timedelta(days=7)
BOUND = LivenessPolicy(inactivity_bound=(("cli", WEEK),))


class House:
    """A keeper's machine with one Hermes home, under a policy that can be changed."""

    def __init__(self, url: str, scene: HermesScene) -> None:
        self.clock = ManualClock(datetime.now(UTC))
        self.ledger = open_ledger(url)
        homes = (HomeSetting(path=scene.path, name="work"),)
        self.sexton = Sexton(self.ledger, Settings(homes=homes), clock=self.clock)

    def under(self, liveness: LivenessPolicy) -> None:
        rulebook = Rulebook(liveness=liveness)
        self.sexton.settings = replace(self.sexton.settings, rulebook=rulebook)
        self.sexton.publish()

    def sweep(self) -> Sweep:
        return self.sexton.sweep()

    def shadows(self) -> list[ShadowCount]:
        return self.ledger.samples.shadows()


@pytest.fixture
def house(engine_url: str, scene: HermesScene) -> Iterator[House]:
    opened = House(engine_url, scene)
    yield opened
    opened.sexton.close()


def rows(scene: HermesScene) -> list[list[Any]]:
    """Everything Hermes knows of its sessions."""
    return scene.sql("SELECT * FROM sessions ORDER BY id") + scene.sql(
        "SELECT * FROM messages ORDER BY id"
    )


def make_older(scene: HermesScene, by: timedelta) -> None:
    """Move all that Hermes has written into the past."""
    scene.sql("UPDATE sessions SET started_at = started_at - ?", by.total_seconds())
    scene.sql("UPDATE messages SET timestamp = timestamp - ?", by.total_seconds())


def recorded(sweep: Sweep) -> dict[str, str]:
    """The sessions that would have been ended, and why."""
    assert all(each.result is Result.RECORDED for each in sweep.outcomes)
    return {each.action.seen.id: each.action.reason.code for each in sweep.outcomes}


def test_a_row_without_evidence_is_left_alone_until_a_bound_is_set(
    house: House, scene: HermesScene
) -> None:
    scene.start("left")
    scene.start("chat", "slack")
    house.clock.advance(8 * WEEK)
    assert recorded(house.sweep()) == {}
    before = rows(scene)
    house.under(BOUND)
    first = house.clock.now()
    assert recorded(house.sweep()) == {"left": "reaped:inactive"}
    assert recorded(house.sweep()) == {}, "it is told once"
    house.clock.advance(WEEK)
    assert recorded(house.sweep()) == {"left": "reaped:inactive"}
    assert house.shadows() == [ShadowCount(home="work", recorded=1, contradicted=0)], "once"
    assert house.ledger.samples.first_shadow("work") == first
    assert rows(scene) == before


def test_whoever_would_have_been_reset_is_still_taken_for_dead_in_time(
    house: House, scene: HermesScene
) -> None:
    (scene.path / "config.yaml").write_text("session_reset: {mode: idle, idle_minutes: 60}")
    scene.start("chat", "slack", session_key="agent:main:slack:dm:U1")
    scene.say("chat", "hello")
    scene.close()
    house.under(LivenessPolicy(inactivity_bound=(("slack", timedelta(hours=3)),)))
    house.clock.advance(timedelta(hours=2))
    assert recorded(house.sweep()) == {"chat": "idle"}
    assert recorded(house.sweep()) == {}, "it is told once"
    house.clock.advance(timedelta(hours=2))
    assert recorded(house.sweep()) == {"chat": "reaped:inactive"}
    assert recorded(house.sweep()) == {}, "that too"


def expired_chat(house: House, scene: HermesScene) -> None:
    """Let the home's own settings be over for its one conversation."""
    (scene.path / "config.yaml").write_text("session_reset: {mode: idle, idle_minutes: 60}")
    scene.start("chat", "slack", session_key="agent:main:slack:dm:U1")
    scene.say("chat", "hello")
    scene.settle()
    house.clock.advance(timedelta(hours=2))


def test_what_a_keeper_has_only_recorded_a_person_still_finds_in_the_plan(
    house: House, scene: HermesScene
) -> None:
    expired_chat(house, scene)
    assert recorded(house.sweep()) == {"chat": "idle"}
    assert [each.seen.id for each in house.sexton.plan("work").actions] == ["chat"]
    assert recorded(house.sweep()) == {}, "asking does not tell it again"


def test_what_was_only_recorded_is_done_once_the_home_may_be_changed(
    house: House, scene: HermesScene
) -> None:
    expired_chat(house, scene)
    assert recorded(house.sweep()) == {"chat": "idle"}
    homes = (replace(house.sexton.settings.homes[0], act=True),)
    house.sexton.settings = replace(house.sexton.settings, homes=homes)
    assert [each.result for each in house.sweep().outcomes] == [Result.DONE]
    assert scene.sql("SELECT end_reason FROM sessions") == [["session_reset"]]


def test_a_home_that_is_not_attached_here_is_left_to_whoever_reaches_it(
    house: House, engine_url: str, scene: HermesScene
) -> None:
    expired_chat(house, scene)
    estate = house.sexton.estate()
    observe_home(estate, estate.homes["work"], estate.records["work"])
    other = Sexton(open_ledger(engine_url), Settings(), clock=house.clock)
    try:
        assert other.plan().actions == ()
        assert other.sweep().outcomes == ()
    finally:
        other.close()
    assert recorded(house.sweep()) == {"chat": "idle"}


def test_a_bound_that_is_taken_back_reaps_nothing_more(house: House, scene: HermesScene) -> None:
    scene.start("left")
    house.under(BOUND)
    assert recorded(house.sweep()) == {}
    house.under(LivenessPolicy())
    assert recorded(house.sweep()) == {}
    house.clock.advance(2 * WEEK)
    assert recorded(house.sweep()) == {}
    assert house.shadows() == []


def test_a_bound_that_grows_shorter_is_noticed_although_the_home_did_not_change(
    house: House, scene: HermesScene
) -> None:
    scene.start("left")
    scene.settle()
    house.under(LivenessPolicy(inactivity_bound=(("cli", 8 * WEEK),)))
    house.clock.advance(WEEK / 2)
    assert recorded(house.sweep()) == {}
    house.clock.advance(WEEK)
    house.under(BOUND)
    assert recorded(house.sweep()) == {"left": "reaped:inactive"}


def test_activity_after_a_recorded_reap_contradicts_it_also_if_the_session_has_ended_since(
    house: House, scene: HermesScene
) -> None:
    for id in ("goes on", "says goodbye", "is closed", "stays"):
        scene.start(id, "slack")
        scene.say(id, "hello")
    make_older(scene, 2 * WEEK)
    before = rows(scene)
    house.under(LivenessPolicy(inactivity_bound=(("slack", WEEK),)))
    assert len(recorded(house.sweep())) == 4
    assert house.shadows() == [ShadowCount(home="work", recorded=4, contradicted=0)]
    assert rows(scene) == before
    for id in ("goes on", "says goodbye"):
        scene.say(id, "I was only asleep")
    for id in ("says goodbye", "is closed"):
        scene.end(id)
    house.clock.advance(60)
    assert recorded(house.sweep()) == {}
    assert house.shadows() == [ShadowCount(home="work", recorded=4, contradicted=2)]
    house.clock.advance(2 * WEEK)
    assert "goes on" in recorded(house.sweep()), "it may be taken for dead again"
    assert house.shadows() == [ShadowCount(home="work", recorded=5, contradicted=2)]


class WithoutRules(HermesHome):
    """A home whose agent never resets."""

    def rules(self) -> str:
        return ""


def test_a_home_without_resets_of_its_own_is_bound_all_the_same(
    house: House, scene: HermesScene
) -> None:
    for id, source in (("left", "cli"), ("chat", "telegram")):
        scene.start(id, source)
    house.under(BOUND)
    estate = house.sexton.estate()
    home = WithoutRules(scene.path, "work", clock=house.clock)
    observe_home(estate, home, estate.records["work"])
    left, chat = (house.ledger.index.find("work", id)[0] for id in ("left", "chat"))
    assert (left.due_at, chat.due_at) == (left.active_at + WEEK, None)
    house.clock.advance(2 * WEEK)
    assert [each.seen.id for each in house.sexton.plan().actions] == ["left"]


def test_why_tells_what_a_bound_means_for_a_row_without_evidence(
    house: House, scene: HermesScene
) -> None:
    scene.start("left")
    house.sweep()

    def told() -> tuple[str, str]:
        answers = house.sexton.why("left").answers
        return next((each.answer, each.detail) for each in answers if each.question == "reap")

    answer, detail = told()
    assert answer == "kept"
    golden("why", "reap: nothing is known and nothing bound", detail)
    house.under(BOUND)
    house.sweep()
    answer, detail = told()
    assert answer == "kept"
    golden("why", "reap: nothing is known, silence bound", detail)
    house.clock.advance(2 * WEEK)
    assert told()[0] == "due"
