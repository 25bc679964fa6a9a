"""A verb does the same on the command line, in the API, on the pages and over MCP."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from sexton.errors import ProcessNotFound, SessionNotFound
from sexton.finalizers.model import FinalizationState
from sexton.integrations.mcp.answers import Answers
from sexton.integrations.mcp.scope import Caller
from sexton.operations.registry import VERBS
from sexton.wiring import Sexton
from tests.scenario.finalizers_scene import configure, open_house, talk, webhook
from tests.surface.program import Cli
from tests.surface.verb_scenes import SCENES, SURFACES, Told, journal, staged
from tests.surface.visitor import serving_client

pytestmark = pytest.mark.slow


@pytest.fixture
def house(any_cli: Cli) -> Iterator[Sexton]:
    with any_cli.opened() as opened:
        yield opened


@pytest.fixture
def client(house: Sexton) -> Iterator[TestClient]:
    with serving_client(house) as found:
        yield found


def test_every_verb_is_played() -> None:
    assert SCENES.keys() == VERBS.keys()


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_does_the_same_on_every_surface(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played = {}
    for name, surface in SURFACES.items():
        place = tmp_path / name
        place.mkdir()
        with staged(place) as (stage, url):
            given = SCENES[verb].works(stage)
            since = stage.house.ledger.board.newest_entry()
            told = surface(stage, Cli(capsys, url), verb, given)
            played[name] = (told, journal(stage.house, since))
    first, entries = played["command"]
    assert first.error == ""
    assert entries
    for told, noted in played.values():
        assert (told.error, noted) == ("", entries)
        assert told.results == first.results
        assert told.receipt in (None, first.receipt)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_refused_alike_on_every_surface(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, surface in SURFACES.items():
        place = tmp_path / name
        place.mkdir()
        with staged(place) as (stage, url):
            given = SCENES[verb].fails(stage)
            since = stage.house.ledger.board.newest_entry()
            told = surface(stage, Cli(capsys, url), verb, given)
            assert (name, told) == (name, Told(error=SCENES[verb].error))
            assert journal(stage.house, since) == []


def test_an_agent_has_the_verbs_that_are_for_agents_only(tmp_path: Path) -> None:
    with staged(tmp_path) as (stage, _):
        own, other = stage.talk("own", "hello"), stage.talk("other", "hello")
        caller = Caller(stage.house, lambda: stage.house.find(own))
        tools = {each.__name__: each for each in Answers(stage.house, caller).more()}
        assert tools.keys() == {name for name, verb in VERBS.items() if verb.for_agents}
        with pytest.raises(SessionNotFound):
            tools["stop_process"](session=other)
        with pytest.raises(ProcessNotFound):
            tools["stop_process"](pid=stage.child())


@pytest.mark.parametrize("verb", ["end", "reset"])
@pytest.mark.parametrize("surface", SURFACES)
def test_an_end_under_a_running_turn_is_forced(
    verb: str, surface: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with staged(tmp_path) as (stage, url):
        given = SCENES[verb].fails(stage)
        assert SCENES[verb].error == "SessionBusy"
        told = SURFACES[surface](stage, Cli(capsys, url), verb, given | {"force": True})
        assert (told.error, told.results) == ("", {"done": 1})
        assert not stage.house.find(given["session"]).is_open


@pytest.mark.parametrize("surface", SURFACES)
def test_reset_is_refused_while_processes_run_and_an_end_is_not(
    surface: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with staged(tmp_path) as (stage, url):
        play, cli = SURFACES[surface], Cli(capsys, url)
        stage.child()
        (process,) = stage.house.ledger.registry.running()
        given = {"session": process.session}
        assert play(stage, cli, "reset", given) == Told(error="ProcessesRunning")
        assert play(stage, cli, "end", given).results == {"done": 1}


def test_a_turn_that_begins_after_a_reset_was_shown_is_not_cut_off(
    house: Sexton, client: TestClient
) -> None:
    with house.worker() as worker:
        session = worker.session("a", source="telegram")
        shown = client.get(f"/v1/plan/reset?session={session.id}").json()
        with session.turn():
            done = client.post("/v1/apply", json={"digest": shown["digest"]}).json()
            assert (done["done"], done["skipped"]) == (0, 1)
            session.append(role="assistant", content="the turn goes on")


@pytest.mark.parametrize("force", ["", "&force=true"])
def test_a_process_that_begins_after_a_reset_was_shown_is_not_left_behind(
    house: Sexton, client: TestClient, force: str
) -> None:
    session = house.worker().session("a", source="telegram")
    shown = client.get(f"/v1/plan/reset?session={session.id}{force}").json()
    with session.spawn(["sleep", "600"]) as child:
        refused = client.post("/v1/apply", json={"digest": shown["digest"]})
        assert (refused.status_code, refused.json()["error"]) == (409, "ProcessesRunning")
        assert house.find(session.id).is_open
        again = client.get(f"/v1/plan/reset?session={session.id}&force=true").json()
        assert client.post("/v1/apply", json={"digest": again["digest"]}).json()["done"] == 1
        os.kill(child.pid, signal.SIGKILL)
        child.wait(240)


def test_a_pin_is_put_on_the_newest_session_of_a_conversation_on_every_surface(
    house: Sexton, client: TestClient, any_cli: Cli
) -> None:
    with house.worker() as worker:
        session = worker.session("a", source="telegram")
        old = session.id
        for number in range(5):
            session.append(role="user", content=str(number))
        session.compress(lambda _: "a summary", keep_head=1, keep_tail=1)
        new = session.id
    assert new != old
    shown = client.get(f"/v1/plan/pin?session={old}").json()
    client.post("/v1/apply", json={"digest": shown["digest"]})
    assert house.find(new).pinned
    any_cli.ok("sessions", "unpin", old)
    assert not house.find(new).pinned


def test_only_work_that_was_given_up_is_retried_on_every_surface(
    any_cli: Cli, tmp_path: Path
) -> None:
    config = configure(tmp_path, webhook("http://127.0.0.1:9/"))
    with open_house(any_cli.url, config) as house, serving_client(house) as client:
        talk(house, "one")
        (job,) = client.get("/v1/finalizers").json()["items"]
        assert job["state"] == FinalizationState.PENDING
        path = f"/v1/plan/retry_finalizer?job={job['ref']}"
        assert client.get(path).json()["error"] == "InputInvalid"
        assert client.get(f"/act/retry_finalizer?job={job['ref']}").status_code == 422
    assert any_cli("finalizers", "retry", "--all", "--yes", "--json").json()["outcomes"] == []
