"""A ledger or a home that is set back while a plan for the home is carried out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sexton.core.plan import Action, EndSession, Outcome, Plan, Reason, RemoveFiles, Result
from sexton.core.session import Session
from sexton.errors import HomeRewound
from sexton.keeper.apply import apply, new_receipt
from sexton.keeper.keeper_context import Estate
from sexton.keeper.observe import observe_home
from sexton.keeper.preconditions import as_seen
from sexton.settings.settings_values import HomeSetting, Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.scenario.hermes_home import HermesScene
from tests.scenario.hermes_house import ends
from tests.scenario.rewinding import Rewind, SqliteRewind, once_reached, reached

ASKED = Reason("asked", "in a test")


@pytest.fixture
def house(rewind: Rewind, scene: HermesScene) -> Iterator[Sexton]:
    for id in ("one", "two"):
        scene.start(id)
    homes = (HomeSetting(path=scene.path, name="work", act=True),)
    with closing(
        Sexton(open_ledger(rewind.url), Settings(homes=homes), clock=ManualClock(datetime.now(UTC)))
    ) as house:
        yield house


def test_nothing_is_applied_to_a_home_that_a_set_back_ledger_does_not_know(
    rewind: Rewind, house: Sexton, scene: HermesScene
) -> None:
    rewind.back_up()
    estate = once_reached(house.estate)
    one, two = _observed(estate)
    file = scene.path / "sessions" / "request_dump_one_20260301_115900_000001.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text("precious")
    outcomes = _applying(
        estate,
        RemoveFiles(seen=as_seen(one), reason=ASKED, source="cli", size=8),
        EndSession(seen=as_seen(two), reason=ASKED),
    )
    rewind.restore()
    reached(house)
    den = house.ledger.homes.attach("den", "hermes", "/den", "host", False)
    assert den.ref == estate.records["work"].ref  # or the restore gave no number out again
    files, end = outcomes
    assert (files.result, file.read_text()) == (Result.SKIPPED, "precious")
    assert "set back" in files.detail
    assert house.ledger.homes.ids(den, open_only=False) == []
    assert end.result is Result.DONE, "the home itself is as it was seen"
    assert ends(scene)["two"] is not None


def test_a_home_is_attached_anew_after_the_ledger_was_set_back(
    rewind: Rewind, house: Sexton
) -> None:
    rewind.back_up()
    estate = once_reached(house.estate)
    assert len(_observed(estate)) == 2
    rewind.restore()
    reached(house)
    den = house.ledger.homes.attach("den", "hermes", "/den", "host", False)
    with pytest.raises(HomeRewound):
        _observed(estate)
    again = house.estate()
    assert [each.id for each in _observed(again)] == ["one", "two"]
    assert again.records["work"].ref != den.ref == estate.records["work"].ref
    assert len(_observed(estate)) == 2, "whoever remembers the former number finds it by its place"
    assert house.ledger.homes.ids(den, open_only=False) == []


def test_nothing_is_applied_to_sessions_that_a_set_back_home_does_not_have(
    house: Sexton, scene: HermesScene, tmp_path: Path
) -> None:
    home = SqliteRewind(scene.path / "state.db")
    home.back_up()
    scene.start("three")
    estate = house.estate()
    seen = [as_seen(each) for each in _observed(estate)]
    outcomes = _applying(estate, *(EndSession(seen=each, reason=ASKED) for each in seen))
    first = next(outcomes)
    home.restore()
    second, third = outcomes
    assert [first.result, second.result, third.result] == [Result.DONE, Result.DONE, Result.SKIPPED]
    assert third.detail
    assert ends(scene).keys() == {"one", "two"}


def _observed(estate: Estate) -> list[Session]:
    """Open sessions of the home as the ledger knows them."""
    observe_home(estate, estate.homes["work"], estate.records["work"])
    return sorted(estate.ledger.index.open("work", None, 100), key=lambda each: each.started_at)


def _applying(estate: Estate, *actions: Action) -> Iterator[Outcome]:
    plan = Plan(
        id="made before", ledger=estate.ledger.id, policies="", made_at=estate.clock.now(),
        actions=actions,
    )  # fmt: skip
    return apply(estate, plan, new_receipt(), observed=True, just_made=True)
