"""A verb has the same guards on the command line, in the API and on the pages."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from sexton.errors import SessionBusy
from sexton.finalizers.model import FinalizationState
from sexton.web.web_problems import status_of
from sexton.wiring import Sexton
from tests.scenario.finalizers_scene import configure, open_house, talk, webhook
from tests.surface.program import Cli
from tests.surface.visitor import Page, serving_client

pytestmark = pytest.mark.slow

Refused = Callable[[str, str, bool], tuple[int, str] | None]


@pytest.fixture
def house(any_cli: Cli) -> Iterator[Sexton]:
    with any_cli.opened() as opened:
        yield opened


@pytest.fixture
def client(house: Sexton) -> Iterator[TestClient]:
    with serving_client(house) as found:
        yield found


@pytest.fixture(params=["command line", "API", "page"])
def act(request: pytest.FixtureRequest, any_cli: Cli, client: TestClient) -> Refused:
    """Carry out a verb on a session; the exit code and the name of the error, if it is refused."""

    def by_command(verb: str, id: str, force: bool) -> tuple[int, str] | None:
        yes = ["--yes"] if verb == "end" else []
        answer = any_cli("sessions", verb, id, *yes, *(["--force"] if force else []), "--json")
        if answer.code == 0:
            return None
        assert answer.error()["exit_code"] == answer.code
        return answer.code, answer.error()["error"]

    def by_program(verb: str, id: str, force: bool) -> tuple[int, str] | None:
        query = {"action": verb, "session": id, **({"force": "true"} if force else {})}
        shown = client.get("/v1/plan", params=query)
        if shown.status_code != 200:
            return shown.status_code, shown.json()["error"]
        done = client.post("/v1/apply", json={"digest": shown.json()["digest"]}).json()
        assert (done["done"], done["skipped"]) == (1, 0)
        return None

    def by_page(verb: str, id: str, force: bool) -> tuple[int, str] | None:
        assert verb == "end"
        query = {"home": "native", "id": id, **({"force": "true"} if force else {})}
        shown = client.get(f"/act/end?{urlencode(query)}")
        if shown.status_code != 200:
            return shown.status_code, ""
        (form,) = [each for each in Page(200, shown.text).forms if each[""] == "/apply"]
        assert client.post("/apply", data={"digest": form["digest"]}).status_code == 200
        return None

    found: Refused = {"command line": by_command, "API": by_program, "page": by_page}[request.param]
    return found


def test_end_is_refused_under_a_running_turn_unless_it_is_forced(
    house: Sexton, act: Refused
) -> None:
    with house.worker() as worker:
        session = worker.session("a", source="telegram")
        with session.turn():
            assert is_busy_error(act("end", session.id, False))
            session.append(role="assistant", content="the turn goes on")
            assert act("end", session.id, True) is None
    assert not house.find(session.id).is_open


@pytest.mark.parametrize("act", ["command line", "API"], indirect=True)
def test_reset_is_refused_under_a_running_turn_unless_it_is_forced(
    house: Sexton, act: Refused
) -> None:
    with house.worker() as worker:
        session = worker.session("a", source="telegram")
        with session.turn():
            assert is_busy_error(act("reset", session.id, False))
            session.append(role="assistant", content="the turn goes on")
            assert act("reset", session.id, True) is None
    assert house.find(session.id).end_reason == "reset"


def is_busy_error(refused: tuple[int, str] | None) -> bool:
    """Whether a surface refused with SessionBusy, in its own form."""
    busy = SessionBusy("")
    forms = {
        (busy.exit_code, "SessionBusy"),
        (status_of(busy), "SessionBusy"),
        (status_of(busy), ""),
    }
    return refused in forms


@pytest.mark.parametrize("act", ["command line", "API"], indirect=True)
def test_reset_is_refused_while_processes_run_and_an_end_is_not(
    house: Sexton, act: Refused
) -> None:
    session = house.worker().session("a", source="telegram")
    with session.spawn(["sleep", "600"]) as child:
        refused = act("reset", session.id, False)
        assert refused is not None
        assert refused[1] == "ProcessesRunning"
        assert act("end", session.id, False) is None
        os.kill(child.pid, signal.SIGKILL)
        child.wait(240)


def test_a_turn_that_begins_after_a_reset_was_shown_is_not_cut_off(
    house: Sexton, client: TestClient
) -> None:
    with house.worker() as worker:
        session = worker.session("a", source="telegram")
        shown = client.get(f"/v1/plan?action=reset&session={session.id}").json()
        with session.turn():
            done = client.post("/v1/apply", json={"digest": shown["digest"]}).json()
            assert (done["done"], done["skipped"]) == (0, 1)
            session.append(role="assistant", content="the turn goes on")


@pytest.mark.parametrize("force", ["", "&force=true"])
def test_a_process_that_begins_after_a_reset_was_shown_is_not_left_behind(
    house: Sexton, client: TestClient, force: str
) -> None:
    session = house.worker().session("a", source="telegram")
    shown = client.get(f"/v1/plan?action=reset&session={session.id}{force}").json()
    with session.spawn(["sleep", "600"]) as child:
        refused = client.post("/v1/apply", json={"digest": shown["digest"]})
        assert (refused.status_code, refused.json()["error"]) == (409, "ProcessesRunning")
        assert house.find(session.id).is_open
        again = client.get(f"/v1/plan?action=reset&session={session.id}&force=true").json()
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
    shown = client.get(f"/v1/plan?action=pin&session={old}").json()
    client.post("/v1/apply", json={"digest": shown["digest"]})
    assert house.find(new).pinned
    any_cli.ok("sessions", "pin", old, "--off")
    assert not house.find(new).pinned


def test_only_work_that_was_given_up_is_retried_on_every_surface(
    any_cli: Cli, tmp_path: Path
) -> None:
    config = configure(tmp_path, webhook("http://127.0.0.1:9/"))
    with open_house(any_cli.url, config) as house, serving_client(house) as client:
        talk(house, "one")
        (job,) = client.get("/v1/finalizers").json()["items"]
        assert job["state"] == FinalizationState.PENDING
        path = f"/v1/plan?action=retry_finalizer&finalization={job['ref']}"
        assert client.get(path).json()["error"] == "InputInvalid"
        assert client.get(f"/act/retry?ref={job['ref']}").status_code == 422
    assert any_cli("finalizers", "retry", "--all", "--yes", "--json").json()["changed"] == []
