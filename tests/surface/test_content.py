"""A shared ledger shows nothing of what was said, on any surface, unless its settings allow it."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from sexton.integrations.mcp.answers import Answers
from sexton.integrations.mcp.scope import Operator
from sexton.keeper.apply import new_receipt
from sexton.wiring import Sexton
from tests.scenario.effects_server import Server, reply
from tests.scenario.finalizers_scene import configure, open_house, owed, states, wait_until, webhook
from tests.scenario.hermes_home import HermesScene
from tests.scenario.hermes_house import make_older
from tests.surface.program import Cli
from tests.surface.visitor import Page, Visitor, routes_of, serving_client

UNLISTED = {"/login", "/login/{code}", "/v1/events"}
"""Asked in another way, or not about a ledger's sessions."""


ENTRANCES = {"/login", "/logout", "/v1/links"}


@pytest.fixture(params=[False, True], ids=["messages off", "messages on"])
def is_shown(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def secret() -> str:
    return f"secret{uuid.uuid4().hex}"


@pytest.fixture
def hermes_home(scene: HermesScene, secret: str) -> HermesScene:
    """A home with the secret in messages and in an error, whose sessions are overdue or garbage."""
    (scene.path / "config.yaml").write_text("session_reset: {mode: idle, idle_minutes: 60}\n")
    for id in ("talk", "stuck"):
        scene.start(id, "telegram", session_key=f"agent:main:telegram:dm:{id}")
        scene.say(id, f"tell nobody {secret}")
    for id in ("small", "little"):
        scene.start(id)
        scene.say(id, secret)
        scene.end(id)
    scene.sql(
        "UPDATE sessions SET compression_failure_error = ?, compression_fallback_streak = 3 "
        "WHERE id = 'stuck'",
        f"the model does not like {secret}",
    )
    make_older(scene, timedelta(days=40))
    return scene


@pytest.fixture
def config(tmp_path: Path, secret: str, is_shown: bool, hermes_home: HermesScene) -> Iterator[Path]:
    """Settings with a program that fails and a webhook that refuses, both quoting the secret."""
    failing = tmp_path / "failing.py"
    failing.write_text(f"import sys; sys.exit('cannot do {secret}')")
    with Server([reply(400, f"no {secret} here".encode())]) as server:
        yield configure(
            tmp_path,
            {"name": "program", "kind": "command", "attempts": 1,
             "command": [sys.executable, str(failing)]},
            webhook(server.url, attempts=1),
            serve={"messages": is_shown},
            homes=[{"path": str(hermes_home.path), "name": "work"}],
        )  # fmt: skip


@pytest.fixture
def house(postgres_url: str, config: Path, secret: str) -> Iterator[Sexton]:
    """A shared ledger with the secret in messages, in arguments of a tool, and in errors."""
    with open_house(postgres_url, config) as opened:
        with opened.worker() as worker:
            for key, is_over in (("over", True), ("open", False)):
                session = worker.session(key, source="telegram")
                with session.turn():
                    session.append(role="user", content=f"tell nobody {secret}")
                    session.append(role="assistant", content=[{"tool": "sh", "args": secret}])
                    session.append(role="tool", content=f"out {secret}", arguments=secret)
                if is_over:
                    session.end()
        opened.sweep()
        wait_until(lambda: states(opened) == {"dead": 2})
        assert any(secret in (each.last_error or "") for each in owed(opened))
        yield opened


@pytest.fixture
def client(house: Sexton) -> Iterator[TestClient]:
    with serving_client(house) as found:
        yield found


def paths(house: Sexton, client: TestClient) -> Iterator[str]:
    """Every route that can be looked at, for every session and job."""
    sessions = client.get("/v1/sessions?all=true").json()["items"]
    jobs = [each["ref"] for each in client.get("/v1/finalizers").json()["items"]]
    pairs = [(each["home"], each["id"]) for each in sessions]
    for route in routes_of(house):
        if "GET" in (route.methods or ()) and route.path not in UNLISTED:
            yield from asked_of(route, pairs)
    for ref in jobs:
        yield f"/act/retry_finalizer?job={ref}"
        yield f"/v1/plan/retry_finalizer?job={ref}"
        yield f"/v1/plan/discard_finalizer?job={ref}"
    for deed in ("end", "reset", "pin", "unpin"):
        yield from (f"/v1/plan/{deed}?session={id}&force=true" for _, id in pairs)


def asked_of(route: APIRoute, pairs: list[tuple[str, str]]) -> Iterator[str]:
    """What one route can be asked about these sessions."""
    names = {each.name for each in route.dependant.query_params}
    yield f"{route.path}?{urlencode({name: new_receipt() for name in names & {'receipt', 'id'}})}"
    for home, id in pairs:
        yield route.path.replace("{id:path}", quote(f"{home}/{id}"))
        more = {"home": home, "id": id, "what": "session", "force": "true", "messages": "0"}
        yield f"{route.path}?{urlencode({name: more[name] for name in names & set(more)})}"


CONTENT = {
    "/v1/sessions", "/v1/finalizers", "/sessions", "/session", "/finalizers",
    "/act/retry_finalizer", "/v1/plan/retry_finalizer", "/v1/plan/discard_finalizer",
    "/v1/sessions/", "/v1/findings", "/settings",
}  # fmt: skip


def test_no_route_shows_what_was_said_unless_it_may(
    house: Sexton, client: TestClient, secret: str, is_shown: bool
) -> None:
    telling = {path for path in paths(house, client) if secret in client.get(path).text}
    roots = {"/v1/sessions/" if each.startswith("/v1/sessions/") else each.partition("?")[0]
             for each in telling}  # fmt: skip
    assert roots == (CONTENT if is_shown else set())


def test_no_answer_to_a_deed_shows_what_was_said(
    house: Sexton, client: TestClient, secret: str, is_shown: bool
) -> None:
    visitor, told = Visitor(client), dict[str, str]()

    def post(path: str, **body: Any) -> Any:
        answer = client.post(path, json=body)
        assert answer.status_code == 200, answer.text
        told[path] = answer.text
        return answer.json()

    def send(asked: str, path: str) -> Page:
        answer = visitor.send(visitor.see(asked), path, allow_observed="yes")
        told[path] = told.get(path, "") + answer.html
        return answer

    assert (secret in client.get("/v1/sessions?home=work").text) == is_shown
    for job in owed(house):
        send(f"/act/retry_finalizer?job={job.ref}", "/apply")
    plan = visitor.fetch("/v1/plan?home=work")
    assert len(plan["actions"]) == 2, plan
    report = post("/v1/apply", **plan, allow_observed=True)
    assert [each["result"] for each in report["outcomes"]] == ["done", "done"]
    post("/v1/undo", receipt=report["receipt"])
    done = send("/plan?what=gc&home=work", "/apply")
    send("/act/restore?session=work/small", "/apply")
    [undo] = {to for to in done.links.values() if to.startswith("/act/undo?")}
    send(undo, "/apply")
    posted = {route.path for route in routes_of(house) if "POST" in (route.methods or ())}
    assert told.keys() == posted - ENTRANCES
    # Whoever was shown a plan has read it; what came of it is told without a word of it.
    assert [path for path, text in told.items() if secret in text] == []


def test_no_event_and_no_word_to_an_agent_tells_it(
    house: Sexton, secret: str, is_shown: bool
) -> None:
    entries = house.ledger.board.journal_since(0, 1000)
    assert entries
    assert secret not in repr(entries)  # which is what events, the journal and metrics tell
    asked = Answers(house, Operator(house))
    told: list[Any] = [asked.my_sessions(), asked.my_processes()]
    told += [asked.why(each["id"]) for each in told[0]["sessions"]]
    assert (secret in json.dumps(told)) == is_shown


def test_no_command_tells_it(
    any_command: Cli, house: Sexton, config: Path, secret: str, is_shown: bool
) -> None:
    ids = [each.id for each in house.ledger.board.live(10)] + [owed(house)[0].session]
    commands = [
        ["sessions", "list"], ["doctor"], ["journal"], ["finalizers", "list"], ["notices", "list"],
        ["plan"], ["processes", "list"], ["workers", "list"], ["report", "leaks"],
        ["trash", "list"], ["archive", "list"], ["config", "check", "--effect"],
        *(["sessions", "show", id] for id in ids), *(["why", id] for id in ids),
        *(["finalizers", "show", id] for id in ids), ["finalizers", "retry", "--all", "--yes"],
    ]  # fmt: skip
    telling = set()
    for command in commands:
        for form in ([], ["--json"]):
            answer = any_command(*command, *form, "--config", str(config))
            assert answer.code == 0, answer.err
            if secret in answer.out + answer.err:
                telling.add(" ".join(command[:2]))
    assert {each.split()[0] for each in telling} == (
        {"sessions", "finalizers", "why", "doctor"} if is_shown else set()
    )


@pytest.fixture
def any_command(capsys: pytest.CaptureFixture[str], postgres_url: str) -> Cli:
    return Cli(capsys, postgres_url)
