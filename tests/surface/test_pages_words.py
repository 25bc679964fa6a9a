"""What a person reads on the pages: a scene or two of each, under a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from sexton.wiring.choosing_ledger import load_settings
from tests.golden.pages import golden_page
from tests.scenario.finalizers_scene import configure, webhook
from tests.surface.test_pages import PAGES, given_up, link, page_of, talking
from tests.surface.visitor import Visitor, visiting

pytestmark = pytest.mark.slow


@pytest.fixture
def house(new_file: Path, manual_clock: ManualClock) -> Iterator[Sexton]:
    """A house without a keeper."""
    with Sexton(open_ledger(str(new_file)), Settings(), clock=manual_clock) as opened:
        yield opened


@pytest.fixture
def visitor(house: Sexton) -> Iterator[Visitor]:
    with visiting(house) as found:
        yield found


def screen_of(path: str) -> str:
    return "page_" + (path.strip("/").partition("?")[0] or "overview")


@pytest.mark.parametrize("path", [path for path in PAGES if path != "/settings"])
def test_a_page_of_an_empty_ledger(visitor: Visitor, path: str) -> None:
    scene = "nothing is there, gc" if path.endswith("gc") else "nothing is there"
    golden_page(screen_of(path), scene, visitor.see(path))


@pytest.mark.parametrize("path", ["/", "/sessions", "/workers"])
def test_a_page_with_a_session(house: Sexton, visitor: Visitor, path: str) -> None:
    talking(house)
    golden_page(screen_of(path), "one live session", visitor.see(path))


def test_the_sessions_that_a_filter_leaves(house: Sexton, visitor: Visitor) -> None:
    talking(house)
    golden_page("page_sessions", "nothing matches", visitor.see("/sessions?text=nowhere"))


def test_a_session_from_its_life_to_its_end_and_back(house: Sexton, visitor: Visitor) -> None:
    session = talking(house)
    session.retitle("the nightly report")
    golden_page("page_session", "live", visitor.see(page_of(session)))
    plan = visitor.see(link(visitor.see(page_of(session)), "/act/end?"))
    golden_page("page_plan", "a person ends a session", plan)
    done = visitor.send(plan, "/apply")
    golden_page("page_receipt", "a session was ended", done)
    golden_page("page_receipt", "it had ended already", visitor.send(plan, "/apply"))
    ask = visitor.see(link(done, "/act/undo?"))
    golden_page("page_confirm", "an end is undone", ask)
    golden_page("page_receipt", "a session was opened again", visitor.send(ask, "/apply"))
    golden_page("page_problem", "nothing to undo", visitor.send(ask, "/apply", status=404))


def test_a_session_that_ended_by_itself(house: Sexton, visitor: Visitor) -> None:
    session = talking(house)
    session.end(reason="abandoned")
    golden_page("page_session", "abandoned", visitor.see(page_of(session)))


def test_messages_and_lineage(house: Sexton, visitor: Visitor) -> None:
    worker, root = house.worker(), talking(house)
    child = worker.session("child", source="subagent", parent=root, relation="branch")
    page = visitor.see(page_of(child) + "&messages=0")
    golden_page("page_session", "a branch without messages", page)
    page = visitor.see(page_of(root) + "&messages=0")
    golden_page("page_session", "with its messages", page)


def test_the_messages_of_a_shared_ledger(postgres_url: str, manual_clock: ManualClock) -> None:
    house = Sexton(open_ledger(postgres_url), Settings(), clock=manual_clock)
    with house, visiting(house) as visitor:
        page = visitor.see(page_of(talking(house)) + "&messages=0")
        golden_page("page_session", "of a shared ledger", page)


def test_a_pin(house: Sexton, visitor: Visitor) -> None:
    ask = visitor.see(link(visitor.see(page_of(talking(house))), "/act/pin?"))
    golden_page("page_confirm", "pin", ask)
    golden_page("page_receipt", "pinned", visitor.send(ask, "/apply"))


def test_a_process_that_is_kept_and_stopped(house: Sexton, visitor: Visitor) -> None:
    with talking(house).spawn(["sleep", "600"]) as child:
        try:
            ask = visitor.see(f"/act/keep_process?process={child.process.ref}")
            golden_page("page_confirm", "keep a process", ask)
            golden_page("page_receipt", "a process is kept", visitor.send(ask, "/apply"))
            ask = visitor.see(f"/act/stop_process?process={child.process.ref}")
            golden_page("page_confirm", "stop a process", ask)
            golden_page("page_receipt", "a process was stopped", visitor.send(ask, "/apply"))
        finally:
            child.popen.kill()
            child.wait(240)


def test_garbage_in_the_vault_and_back(house: Sexton, visitor: Visitor) -> None:
    talking(house, messages=0).end(reason="done")
    receipt = "1f2e3d4c5b6a"
    house.apply(house.plan(gc={"empty_hours": 0, "trivial_days": 0}), receipt)
    golden_page("page_vault", "one session in the trash", visitor.see("/vault"))
    ask = visitor.see(f"/act/undo?receipt={receipt}")
    golden_page("page_confirm", "garbage is brought back", ask)
    golden_page("page_receipt", "garbage was brought back", visitor.send(ask, "/apply"))


def test_dead_letters_that_are_tried_again(
    new_file: Path, tmp_path: Path, manual_clock: ManualClock
) -> None:
    settings = load_settings(configure(tmp_path, webhook("http://127.0.0.1:9/")), {})
    assert settings
    house = Sexton(open_ledger(str(new_file)), settings, clock=manual_clock)
    with house, visiting(house) as visitor:
        house.publish()
        given_up(house, "one", "two")
        golden_page("page_finalizers", "two dead letters", visitor.see("/finalizers"))
        golden_page("page_overview", "two dead letters", visitor.see("/"))
        ask = visitor.see("/act/retry_finalizer?all=true")
        golden_page("page_confirm", "dead letters are tried again", ask)
        visitor.send(ask, "/apply")
        golden_page("page_receipt", "all had moved on", visitor.send(ask, "/apply"))


def test_what_is_not_there(visitor: Visitor) -> None:
    missing = visitor.see("/session?home=native&id=x", status=404)
    golden_page("page_problem", "no such session", missing)
    golden_page("page_problem", "not understood", visitor.see("/session", status=422))
    golden_page("page_problem", "no such page", visitor.see("/nowhere", status=404))
