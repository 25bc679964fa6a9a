"""A shared ledger shows nothing of what was said, on any surface, unless its settings allow it."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from sexton.bootstrap import Sexton
from sexton.engine.apply import new_receipt
from sexton.integrations.mcp.answers import Answers
from sexton.integrations.mcp.scope import Operator
from tests.scenario.effects_server import Server, reply
from tests.scenario.finalizers_scene import configure, open_house, owed, states, wait_until, webhook
from tests.surface.program import Cli
from tests.surface.visitor import routes_of, serving_client

UNLISTED = {"/login", "/login/{code}", "/v1/events"}
"""Asked in another way, or not about a ledger's sessions."""


@pytest.fixture(params=[False, True], ids=["messages off", "messages on"])
def is_shown(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def secret() -> str:
    return f"secret{uuid.uuid4().hex}"


@pytest.fixture
def config(tmp_path: Path, secret: str, is_shown: bool) -> Iterator[Path]:
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
        yield f"/act/retry?ref={ref}"
        yield f"/v1/plan?action=retry_finalizer&finalization={ref}"
        yield f"/v1/plan?action=discard_finalizer&finalization={ref}"
    for deed in ("end", "reset", "pin", "unpin"):
        yield from (f"/v1/plan?action={deed}&session={id}&force=true" for _, id in pairs)


def asked_of(route: APIRoute, pairs: list[tuple[str, str]]) -> Iterator[str]:
    """What one route can be asked about these sessions."""
    names = {each.name for each in route.dependant.query_params}
    yield f"{route.path}?{urlencode({name: new_receipt() for name in names & {'receipt', 'id'}})}"
    for home, id in pairs:
        yield route.path.replace("{id:path}", quote(f"{home}/{id}"))
        more = {"home": home, "id": id, "what": "session", "force": "true", "messages": "0"}
        yield f"{route.path}?{urlencode({name: more[name] for name in names & set(more)})}"


CONTENT = {
    "/v1/sessions", "/v1/finalizers", "/v1/plan", "/sessions", "/session", "/finalizers",
    "/act/retry", "/v1/sessions/",
}  # fmt: skip


def test_no_route_shows_what_was_said_unless_it_may(
    house: Sexton, client: TestClient, secret: str, is_shown: bool
) -> None:
    telling = {path for path in paths(house, client) if secret in client.get(path).text}
    roots = {"/v1/sessions/" if each.startswith("/v1/sessions/") else each.partition("?")[0]
             for each in telling}  # fmt: skip
    assert roots == (CONTENT if is_shown else set())


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
