"""Every page can be read and used without scripts, whatever strangers wrote."""

from __future__ import annotations

import html
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import sexton
from sexton.core.session import State
from sexton.operations.asker import BY_OPERATOR as ASKED
from sexton.sessions.agent_session import OpenSession
from sexton.web.rendering import session_href
from sexton.wiring import Sexton
from tests.keeping import kept
from tests.scenario.finalizers_scene import configure, open_house, states, talk, webhook
from tests.scenario.process_programs import lives
from tests.surface.visitor import Page, Visitor, visiting

pytestmark = pytest.mark.slow

EVIL = "<script>alert(1)</script>\u202egnp.exe\x1b[31m'\"><img src=x onerror=alert(2)>"
PAGES = (
    "/", "/sessions", "/processes", "/workers", "/finalizers", "/journal", "/vault", "/settings",
    "/plan", "/plan?what=gc", "/login",
)  # fmt: skip
TREE = 'data-part="tree"'
EMPTY = 'class="empty"'
"""What marks a list that nothing is in, and says why."""


@pytest.fixture
def house(new_file: Path) -> Iterator[Sexton]:
    """A house without a keeper."""
    with sexton.open(f"sqlite:///{new_file}") as opened:
        yield opened


@pytest.fixture
def visitor(house: Sexton) -> Iterator[Visitor]:
    with visiting(house) as found:
        yield found


def talking(house: Sexton, key: str = "anna", messages: int = 3) -> OpenSession:
    """A session with messages, held by this process."""
    session = kept(house.worker().session(key, source="telegram"))
    for number in range(messages):
        session.append(role="user", content=f"message {number}")
    return session


def page_of(session: OpenSession) -> str:
    return session_href("native", session.id)


def link(page: Page, start: str) -> str:
    """The first link of a page to an address that starts like this."""
    return next(href for href in page.links.values() if href.startswith(start))


def leads_to(page: Page, start: str) -> bool:
    """Whether a page has a link to an address that starts like this."""
    return any(href.startswith(start) for href in page.links.values())


def following(page: Page) -> str | None:
    """Where a list goes on."""
    found = re.search(r'rel="next" href="([^"]+)"', page.html)
    return html.unescape(found[1]) if found else None


def results(page: Page) -> dict[str, int]:
    """How many actions of a plan came to which result."""
    rows = re.findall(r'data-result="(\w+)" data-count="(\d+)"', page.html)
    return {result: int(count) for result, count in rows}


def steps(page: Page) -> list[str]:
    """What a person is asked to confirm, step by step."""
    return re.findall(r'data-step="(\w+)"', page.html)


def is_error(page: Page, name: str) -> bool:
    """Whether a page tells of this kind of error."""
    return f'data-error="{name}"' in page.html


@pytest.mark.parametrize("path", PAGES)
def test_a_page_of_an_empty_ledger_says_what_is_missing(visitor: Visitor, path: str) -> None:
    lists = {"/": 2, "/login": 0}.get(path, 1)
    assert visitor.see(path).html.count(EMPTY) == lists


def test_a_page_with_something_on_it_misses_nothing(house: Sexton, visitor: Visitor) -> None:
    session = talking(house)
    house.ledger.book.mark(house.find(session.id).ref, pinned=True)
    with session.spawn(["sleep", "6000"]) as child:
        try:
            for path in ("/sessions", "/processes", "/workers"):
                assert visitor.see(path).html.count(EMPTY) == 0, path
        finally:
            child.popen.kill()
            child.wait(240)


def test_a_hostile_session_does_nothing_on_any_page(house: Sexton, visitor: Visitor) -> None:
    session = talking(house, key=EVIL.replace("\0", ""))
    session.retitle(EVIL)
    session.append(role="user", content=EVIL)
    session.append(role=EVIL, content={EVIL: [EVIL]})
    session.append(role="tool", content="x" * 1_000_000 + EVIL)
    session.end(reason="done")
    named = session_href("native", session.id)
    for path in (*PAGES, named, named + "&messages=0"):
        page = visitor.see(path)
        for acting in ("\u202e", "\x1b", "<script>alert", "<img"):
            assert acting not in page.html
    talk = visitor.see(named + "&messages=0")
    assert "RLO" in talk.text
    assert "<script>alert(1)</script>" in talk.text
    hidden = f"{996_000 + len(EVIL):,}".replace(",", " ")
    assert hidden in talk.text
    assert len(talk.html) < 100_000


def test_messages_are_shown_only_when_asked_for_and_page_by_page(
    house: Sexton, visitor: Visitor
) -> None:
    session = talking(house, messages=90)
    shut = visitor.see(page_of(session))
    assert "message 7" not in shut.text
    first = visitor.see(link(shut, page_of(session) + "&messages=0"))
    assert "message 39" in first.text
    assert "message 40" not in first.text
    second = visitor.see(following(first) or "")
    assert "message 40" in second.text
    assert "message 39" not in second.text
    assert following(visitor.see(following(second) or "")) is None


def test_messages_of_a_shared_ledger_are_not_shown(postgres_url: str) -> None:
    with sexton.open(postgres_url) as opened, visiting(opened) as visitor:
        session = talking(opened)
        page = visitor.see(page_of(session) + "&messages=0")
        assert "message 1" not in page.text
        assert not leads_to(page, page_of(session) + "&messages=")


def test_a_session_is_ended_by_a_plan_that_was_shown_and_once_only(
    house: Sexton, visitor: Visitor
) -> None:
    session = talking(house)
    plan = visitor.see(link(visitor.see(page_of(session)), "/act/end?"))
    assert house.find(session.id).is_open
    done = visitor.send(plan, "/apply")
    assert results(done) == {"done": 1}
    assert house.find(session.id).end_reason == "closed"
    again = visitor.send(plan, "/apply")  # another tab that still shows it
    assert results(again) == {"skipped": 1}


def test_what_was_ended_is_opened_again_from_its_receipt(house: Sexton, visitor: Visitor) -> None:
    session = talking(house)
    plan = visitor.see(link(visitor.see(page_of(session)), "/act/end?"))
    done = visitor.send(plan, "/apply")
    ask = visitor.see(link(done, "/act/undo?"))
    assert steps(ask) == ["reopen"]
    assert not house.find(session.id).is_open
    undone = visitor.send(ask, "/apply")
    assert house.find(session.id).is_open
    assert not leads_to(undone, "/act/undo?"), "an undo is not undone itself"
    receipt = link(done, "/act/undo?").partition("receipt=")[2]
    assert not leads_to(visitor.see(f"/receipt?id={receipt}"), "/act/undo?")
    assert is_error(visitor.send(ask, "/apply", status=404), "NothingToUndo")


def test_a_plan_that_was_never_shown_is_refused(visitor: Visitor) -> None:
    page = visitor.see("/plan")
    assert page.forms[-1][""] != "/apply"
    page.forms.append({"": "/apply", "digest": "sha256:0"})
    assert is_error(visitor.send(page, "/apply", status=422), "PlanInvalid")


def test_what_is_removed_is_brought_back_from_its_receipt(house: Sexton, visitor: Visitor) -> None:
    session = talking(house, messages=0)
    session.end(reason="done")
    plan = visitor.see("/plan?what=gc")
    assert EMPTY in plan.html
    garbage = house.plan(gc={"empty_hours": 0, "trivial_days": 0})
    receipt = "1f2e3d4c5b6a"
    assert [each.result for each in house.apply(garbage, receipt)] == ["done"]
    assert leads_to(visitor.see("/vault"), f"/act/undo?receipt={receipt}")
    ask = visitor.see(link(visitor.see(f"/receipt?id={receipt}"), "/act/undo?"))
    assert steps(ask) == ["restore"]
    assert house.find(session.id).state is State.TRASHED
    visitor.send(ask, "/apply")
    assert house.find(session.id).state is State.ENDED
    assert not leads_to(visitor.see(f"/receipt?id={receipt}"), "/act/undo?")


def test_a_limit_is_asked_for_shown_set_and_taken_away_again(
    house: Sexton, visitor: Visitor
) -> None:
    session = talking(house)
    asked = visitor.see(link(visitor.see(page_of(session)), "/act/set_budget?"))
    assert not leads_to(asked, "/apply")
    (form,) = [each for each in asked.forms if each[""] == "/act/set_budget"]
    assert form["session"] == f"native/{session.id}"
    ask = visitor.see(f"/act/set_budget?session=native/{session.id}&unit=usd&amount=12.50&source=")
    assert steps(ask) == ["set"]
    done = visitor.send(ask, "/apply")
    assert limits(visitor, session.id)["session.usd"] == 12_500_000
    visitor.send(visitor.see(link(done, "/act/clear_budget?")), "/apply")
    assert "session.usd" not in limits(visitor, session.id)


def limits(visitor: Visitor, session: str) -> dict[str, int]:
    """The limit of each budget of a session."""
    found = visitor.fetch(f"/v1/budgets?session={session}")["items"]
    return {each["budget"]: each["limit"] for each in found}


def test_a_pin_is_shown_set_and_taken_off_again(house: Sexton, visitor: Visitor) -> None:
    session = talking(house)
    ask = visitor.see(link(visitor.see(page_of(session)), "/act/pin?"))
    assert steps(ask) == ["pin"]
    done = visitor.send(ask, "/apply")
    assert house.find(session.id).pinned
    undo = visitor.see(link(done, "/act/unpin?"))
    visitor.send(undo, "/apply")
    assert not house.find(session.id).pinned


def test_a_process_is_kept_and_stopped_after_it_was_shown(house: Sexton, visitor: Visitor) -> None:
    session = talking(house)
    with session.spawn(["sleep", "600"]) as child:
        processes = visitor.see("/processes")
        assert f"pid {child.pid}" in processes.text
        kept = visitor.send(visitor.see(link(processes, "/act/keep_process?")), "/apply")
        assert leads_to(kept, "/act/release_process?")
        (process,) = house.ledger.registry.running()
        assert process.kept
        ask = visitor.see(link(visitor.see("/processes"), "/act/stop_process?"))
        assert "sleep 600" in ask.text
        assert steps(ask) == ["stop"]
        assert child.poll() is None
        done = visitor.send(ask, "/apply")
        assert not leads_to(done, "/act/")  # a stop has no undo
        assert child.wait(240) == -signal.SIGTERM


def test_what_a_stop_spares_is_shown_before_and_the_journal_says_who_asked(
    house: Sexton, visitor: Visitor
) -> None:
    session = talking(house)
    command = ["sh", "-c", "sleep 600 & echo $!; wait"]
    with session.spawn(command, stdout=subprocess.PIPE) as child:
        assert child.popen.stdout
        with child.popen.stdout as said:
            below = session.register_process(int(said.readline()))
        house.ledger.registry.keep(below.ref, True, house.clock.now())
        try:
            ask = visitor.see(f"/act/stop_process?process={child.process.ref}")
            assert sorted(steps(ask)) == ["kept", "stop"]
            visitor.send(ask, "/apply")
            assert child.wait(240) == -signal.SIGTERM
            assert lives(below.identity.pid)
        finally:
            os.kill(below.identity.pid, signal.SIGKILL)
            child.popen.kill()
            child.wait(240)
        assert ASKED in visitor.see("/journal").text


def test_a_lineage_is_a_tree_around_the_session(house: Sexton, visitor: Visitor) -> None:
    worker = house.worker()
    root = worker.session("root", source="cli")
    assert TREE not in visitor.see(page_of(root)).html
    children = [
        worker.session(f"child {number}", source="subagent", parent=root, relation="subagent")
        for number in range(3)
    ]
    grandchild = worker.session("deep", source="subagent", parent=children[0], relation="branch")
    page = visitor.see(page_of(grandchild))
    assert {root.id, *(each.id for each in children)} <= page.links.keys()
    assert TREE in page.html


def test_pages_of_the_list_are_whole_and_without_repeats(house: Sexton, visitor: Visitor) -> None:
    worker = house.worker()
    names = {worker.session(f"key {number}", source="cli").id for number in range(120)}
    seen: list[str] = []
    path: str | None = "/sessions"
    for _ in range(5):
        if path is None:
            break
        page = visitor.see(path)
        seen += [name for name in names if f">{name}<" in page.html]
        path = following(page)
    assert sorted(seen) == sorted(names)


def test_a_filter_that_matches_nothing_says_so(house: Sexton, visitor: Visitor) -> None:
    talking(house)
    for asked in ("text=nowhere", "source=x", "state=archived", "age=silent-7d", "home=elsewhere"):
        assert EMPTY in visitor.see(f"/sessions?{asked}").html
    assert EMPTY not in visitor.see("/sessions?state=live&age=1h").html


def test_a_session_that_is_not_there_is_a_page_that_says_so(visitor: Visitor) -> None:
    missing = visitor.see("/session?home=native&id=x", status=404)
    assert is_error(missing, "SessionNotFound")
    assert visitor.see("/session", status=422)
    assert visitor.see("/nowhere", status=404)


def test_whatever_an_address_or_a_form_says_is_answered_with_a_page(visitor: Visitor) -> None:
    huge, nul = 10**30, "%00"
    for asked in (f"/journal?before={huge}", f"/session?home=x&id={nul}", f"/vault?before={huge}",
                  f"/act/stop_process?process={huge}", f"/receipt?id={nul}"):  # fmt: skip
        assert visitor.see(asked, status=422)
    sessions = f"/sessions?text={nul}&source={nul}&home={nul}&age=x&state=x&sort=x"
    work = f"/finalizers?finalizer={nul}&state=x"
    for asked in (sessions, work, "/vault?kind=x", "/plan?what=x"):
        assert visitor.see(asked)
    assert visitor.see("/sessions?after=x", status=422)
    page = visitor.see("/plan")
    page.forms += [
        {"": "/apply", "digest": "x"},
    ]
    assert visitor.send(page, "/apply", status=422)


def test_only_those_dead_letters_are_tried_again_that_were_shown(
    new_file: Path, tmp_path: Path
) -> None:
    config = configure(tmp_path, webhook("http://127.0.0.1:9/"))
    with open_house(str(new_file), config) as house, visiting(house) as visitor:
        given_up(house, "one", "two")
        ask = visitor.see(link(visitor.see("/finalizers"), "/act/retry_finalizer?all="))
        assert steps(ask) == ["retry"] * 2
        given_up(house, "three")
        visitor.send(ask, "/apply")
        assert states(house) == {"pending": 2, "dead": 1}
        visitor.send(ask, "/apply")
        assert states(house) == {"pending": 2, "dead": 1}
        ask = visitor.see(link(visitor.see("/finalizers"), "/act/retry_finalizer?job="))
        visitor.send(ask, "/apply")
        assert states(house) == {"pending": 3}


def given_up(house: Sexton, *keys: str) -> None:
    """Sessions that have ended, with work that was given up."""
    talk(house, *keys)
    now, finalizing = house.clock.now(), house.ledger.finalizing
    with house.worker() as worker:
        for taken in finalizing.claim(worker.id, ["hook"], len(keys), now):
            assert finalizing.put_back(taken, "it is down", None, now)
