"""A home that is locked or can not be written is left whole, and is not waited for twice."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import pytest

from sexton.core.plan import Result
from sexton.homes.hermes.acting import PATIENCE
from tests.crash.small_disk import told_on_a_small_disk
from tests.golden import golden
from tests.scenario.hermes_home import HermesScene
from tests.scenario.hermes_house import DAY, House, ends, make_older

TALKS = 4
NOBODY = 65534
FILE = "session_small.json"
CONFIG = "session_reset: {mode: idle, idle_minutes: 60}\n"


@pytest.fixture
def house(tmp_path: Path, scene: HermesScene) -> Iterator[House]:
    opened = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path)
    yield opened
    opened.sexton.close()


@pytest.fixture
def overdue(scene: HermesScene) -> HermesScene:
    """A home whose conversations are over by its own settings, beside one that was left open."""
    (scene.path / "config.yaml").write_text(CONFIG)
    for number in range(TALKS):
        key = f"agent:main:telegram:dm:{number}"
        scene.start(f"talk {number}", "telegram", session_key=key)
        scene.say(f"talk {number}", "hello")
    scene.start("left")
    scene.say("left", "hello")
    make_older(scene, 3 * DAY)
    return scene


def test_what_was_done_is_known_at_once(house: House, overdue: HermesScene) -> None:
    overdue.close()
    plan = house.plan()
    assert len(plan.actions) == TALKS + 1
    assert set(house.apply(plan).values()) == {"done"}
    known = {id: (house.session(id).is_open, house.session(id).end_reason) for id in ends(overdue)}
    why = {"session_reset": "idle"}  # Hermes's word for every reset, and why it was one
    told = {id: str(reason) for id, reason in ends(overdue).items()}
    assert known == {id: (False, why.get(reason, reason)) for id, reason in told.items()}
    assert None not in ends(overdue).values()


def test_a_locked_home_is_waited_for_once_however_much_is_to_be_done(
    house: House, overdue: HermesScene
) -> None:
    overdue.close()
    plan = house.plan()
    overdue.ask("open")
    before = ends(overdue)
    overdue.sql("BEGIN IMMEDIATE")
    begun = house.clock.monotonic()  # moved by waiting only
    outcomes = house.sexton.apply(plan, "receipt", observed=True)
    assert house.clock.monotonic() - begun < 2 * PATIENCE
    assert [str(each.result) for each in outcomes] == ["skipped"] * (TALKS + 1)
    said = {each.detail for each in outcomes if each.action.seen.id.startswith("talk ")}
    golden("outcomes", "skipped: a locked home", shown(said, overdue.path))
    overdue.sql("ROLLBACK")
    assert ends(overdue) == before


def test_nothing_of_a_home_moves_that_its_user_may_not_write(overdue: HermesScene) -> None:
    with_a_file(overdue)
    overdue.close()
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        done = told_of(overdue.path, Path(scratch, "free"), nullcontext())
        assert "remove_files small" in done
        assert set(done.values()) == {"done"}, "and all that is needed is loaded now"
        closed = Path(scratch, "closed")
        told = told_of(overdue.path, closed, plain_user(closed))
        assert told.keys() == done.keys()
        told.pop("reap left")  # whose processes may not be looked at either
        assert all("closed/home" in each for each in told.values()), told
        assert (closed / "home" / "sessions" / FILE).exists()


def told_of(source: Path, folder: Path, rights: AbstractContextManager[None]) -> dict[str, str]:
    """What came of each action on a copy of a home, by its kind and session."""
    home = Path(shutil.copytree(source, folder / "home"))
    house = House(f"sqlite:///{folder / 'ledger.db'}", home)
    plan = house.plan()
    with rights:
        outcomes = house.sexton.apply(plan, observed=True)
    house.sexton.close()
    return {
        f"{each.action.kind} {each.action.seen.id}": (
            "done" if each.result is Result.DONE else each.detail
        )
        for each in outcomes
    }


def test_a_home_on_a_full_or_read_only_disk_stays_whole_and_the_hint_says_which(
    overdue: HermesScene, tmp_path: Path
) -> None:
    with_a_file(overdue)
    overdue.close()
    disk, ledgers = tmp_path / "disk", tmp_path / "ledgers"
    disk.mkdir()
    ledgers.mkdir()
    program = [sys.executable, "-m", "tests.scenario.hermes_small_disk"]
    lines = told_on_a_small_disk(disk, *program, str(overdue.path), str(ledgers), megabytes=8)
    told = [json.loads(line) for line in lines]
    for each in told[:2]:
        outcomes = each["reap"] + each["garbage"]
        assert each["same"]
        assert len(outcomes) == TALKS + 3
        assert {result for _, result, _ in outcomes} == {"skipped"}
        said = {detail for _, _, detail in outcomes}
        golden("outcomes", f"skipped: a {each['state']} disk", shown(said, disk))
        golden("outcomes", f"no ledger: a {each['state']} disk", each["ledger"][1])
    assert [each["ledger"][0] for each in told[:2]] == ["LedgerFull", "LedgerReadOnly"]
    usable = told[2]
    assert usable["same"] is False
    assert {result for _, result, _ in usable["garbage"]} == {"done"}


def shown(said: set[str], folder: Path) -> str:
    return "\n".join(sorted(said)).replace(str(folder), "<folder>")


def with_a_file(scene: HermesScene) -> None:
    """A session that is garbage, with a file beside the database."""
    scene.start("small")
    scene.end("small")
    make_older(scene, 40 * DAY)
    folder = scene.path / "sessions"
    folder.mkdir()
    (folder / FILE).write_text("{}")


@contextmanager
def plain_user(folder: Path) -> Iterator[None]:
    """With the rights of somebody who may do what he likes there, but not beside the database."""
    home = folder / "home"
    for each in (*folder.rglob("*"), folder):
        each.chmod(0o777 if each.is_dir() else 0o666)
    (home / "state.db").chmod(0o444)
    home.chmod(0o555)
    mighty = os.geteuid() == 0
    if mighty:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if mighty:
            os.seteuid(0)
        home.chmod(0o755)
