"""`sexton mcp`: an agent asks a real server over its standard streams, and sees only its own."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from sexton.core.session import Session
from sexton.operations.asker import BY_AGENT as ASKED
from sexton.operations.question_registry import QUESTIONS
from sexton.operations.registry import VERBS
from sexton.processes.model import TAG_VARIABLE
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.agent_worker import AgentWorker
from sexton.spending.model import Unit
from sexton.wiring.visitor import visit
from tests.golden import golden
from tests.surface.program import PATIENCE, Cli, call, environment, program

pytestmark = pytest.mark.slow

WAITING = [sys.executable, "-c", "import time; time.sleep(600)"]


def ask(
    cli: Cli,
    options: list[str],
    *calls: tuple[str, dict[str, Any]],
    log: TextIO = sys.stderr,
    env: Mapping[str, str] = MappingProxyType({}),
) -> list[Any]:
    """What a server says to calls of its tools; an error is given as its words."""

    async def talk() -> list[Any]:
        words = program("mcp", *options, "--ledger", cli.url)
        server = StdioServerParameters(
            command=words[0], args=words[1:], env=dict(environment(**env))
        )
        async with (
            stdio_client(server, log) as (reader, writer),
            ClientSession(reader, writer) as client,
        ):
            await client.initialize()
            if not calls:
                return [each.model_dump() for each in (await client.list_tools()).tools]
            return [_said(await client.call_tool(name, given)) for name, given in calls]

    return asyncio.run(asyncio.wait_for(talk(), PATIENCE))


def _said(result: Any) -> Any:
    text = result.content[0].text
    dumped = result.model_dump()
    failed = dumped.get("is_error", dumped.get("isError"))
    if failed:  # before it the library says which tool it was
        return text.partition(": ")[2] or text
    return json.loads(text)


@contextmanager
def working(cli: Cli) -> Iterator[tuple[AgentWorker, OpenSession, OpenSession]]:
    """An agent with a session of its own, and a session of somebody else."""
    with cli.opened() as opened, opened.worker() as worker:
        mine = worker.session("mine", source="telegram")
        mine.append(role="user", content="hello")
        yield worker, mine, worker.session("another", source="telegram")


def test_an_agent_sees_its_session_and_what_came_of_it_and_nothing_else(any_cli: Cli) -> None:
    with working(any_cli) as (worker, mine, other):
        child = worker.session("child", source="subagent", parent=mine.id, relation="subagent")
        below = worker.session("below", source="subagent", parent=child.id, relation="subagent")
        sessions, why, refused, unknown = ask(
            any_cli,
            ["--session", mine.id],
            ("my_sessions", {}),
            ("why", {}),
            ("why", {"session": other.id}),
            ("why", {"session": "nobody"}),
        )
        ids = [each["id"] for each in sessions["sessions"]]
        assert ids[0] == mine.id
        assert set(ids) == {mine.id, child.id, below.id}
        assert why["session"]["id"] == mine.id
        assert {each["question"] for each in why["answers"]} >= {"state", "reset"}
        golden("mcp", "a session of somebody else", refused)
        assert refused == unknown.replace("nobody", other.id)  # it does not tell what others have


def test_an_operator_sees_all_sessions(cli: Cli) -> None:
    with working(cli) as (_, mine, other):
        sessions, why, own = ask(
            cli,
            ["--operator"],
            ("my_sessions", {}),
            ("why", {"session": other.id}),
            ("why", {}),
        )
        assert {each["id"] for each in sessions["sessions"]} == {mine.id, other.id}
        assert why["session"]["id"] == other.id
        golden("mcp", "an operator names no session", own)


def test_a_process_of_ones_own_is_listed_kept_and_stopped_and_no_other(cli: Cli) -> None:
    with working(cli) as (worker, mine, other):
        own = worker.spawn(WAITING, session=mine, kind="server", ttl=timedelta(hours=1))
        foreign = worker.spawn(WAITING, session=other)
        try:
            listed, kept, refused, stopped, after = ask(
                cli,
                ["--key", "mine"],
                ("my_processes", {}),
                ("keep_process", {"pid": own.pid}),
                ("stop_process", {"pid": foreign.pid}),
                ("stop_process", {"pid": own.pid}),
                ("my_processes", {}),
            )
            assert [each["pid"] for each in listed["processes"]] == [own.pid]
            assert kept["done"] == 1
            golden("mcp", "a process of somebody else", refused.replace(str(foreign.pid), "<pid>"))
            assert stopped["done"] == 1
            assert own.wait(PATIENCE) is not None
            assert foreign.poll() is None
            assert after["processes"] == []
            journal = cli("journal", "--receipt", stopped["receipt"], "--json").items()
            assert ASKED in journal[0]["reason"]["text"]
        finally:
            foreign.popen.kill()
            foreign.wait(PATIENCE)


def test_what_a_person_keeps_an_agent_can_not_stop_or_let_go_of(cli: Cli) -> None:
    with working(cli) as (worker, mine, _):
        own = worker.spawn(WAITING, session=mine)
        try:
            assert cli("processes", "keep", str(own.pid)).code == 0
            refused, again, held = ask(
                cli,
                ["--session", mine.id],
                ("stop_process", {"pid": own.pid}),
                ("keep_process", {"pid": own.pid}),
                ("release_process", {"pid": own.pid}),
            )
            golden("mcp", "stop what a person keeps", refused.replace(str(own.pid), "<pid>"))
            assert again["done"] == 1
            golden("mcp", "let go of what a person keeps", held.replace(str(own.pid), "<pid>"))
            assert own.poll() is None
            [shown] = ask(cli, ["--operator"], ("stop_process", {"pid": own.pid}))
            assert own.poll() is None
            assert shown["actions"][0]["steps"][0]["verb"] == "stop"
        finally:
            own.popen.kill()
            own.wait(PATIENCE)


def test_a_server_that_an_agent_spawned_knows_whose_it_is(cli: Cli) -> None:
    with working(cli) as (worker, mine, _):
        spawned = worker.spawn(WAITING, session=mine, kind="mcp")
        try:
            tags = {TAG_VARIABLE: f"{'0' * 32}:{spawned.tag}"}
            [found] = ask(cli, [], ("my_sessions", {}), env=tags)
            assert [each["id"] for each in found["sessions"]] == [mine.id]
            mine.append(role="user", content="more")
            new = mine.reset(force=True)
            [found] = ask(cli, [], ("why", {}), env=tags)
            assert found["session"]["id"] == new.id  # a conversation goes on after a reset
        finally:
            spawned.popen.kill()
            spawned.wait(PATIENCE)


def test_a_budget_is_told_with_what_is_spent(cli: Cli) -> None:
    with working(cli) as (_, mine, _other):
        with mine.turn() as turn:
            turn.reserve(input_tokens=900, max_output_tokens=100).commit(
                input_tokens=800, output_tokens=50
            )
        [told] = ask(cli, ["--session", mine.id], ("my_budget", {}))
        spent = {each["budget"]: each["spent"] for each in told["budgets"]}
        assert 850 in spent.values()


def test_a_budget_of_a_session_of_a_home_is_told_as_the_command_tells_it(
    any_cli: Cli, tmp_path: Path
) -> None:
    with any_cli.opened() as opened, visit(opened, tmp_path, "hermes") as inside:
        now = opened.clock.now()
        facts: dict[str, Any] = {"ref": 0, "home": "", "key": None, "source": "cli"}
        told = Session(id="talk", started_at=now, active_at=now, **facts)
        with inside.hold(told).turn() as turn:
            turn.beside({Unit.INPUT: 850}, None)
        name = f"{inside.home.name}/talk"
        [as_agent], [as_operator] = (
            ask(any_cli, options, ("my_budget", given))
            for options, given in (
                (["--session", name], {}),
                (["--operator"], {"session": name}),
            )
        )
    shown = any_cli("budget", "show", name, "--json").items()
    assert as_agent["budgets"] == as_operator["budgets"] == shown
    assert 850 in [each["spent"] for each in shown]


def test_what_a_caller_asked_for_is_in_no_log(cli: Cli, tmp_path: Path) -> None:
    cli.talk("a", "1")
    with (tmp_path / "log").open("w+", encoding="utf-8") as log:
        said = ask(
            cli,
            ["--operator", "-vv"],
            ("why", {"session": "secret name"}),
            ("stop_process", {"pid": "secret pid"}),
            ("secret tool", {"secret": "secret"}),
            log=log,
        )
        assert all("secret" in each for each in said)  # the caller is told
        log.seek(0)
        assert "secret" not in log.read()


def test_every_tool_says_what_it_is_for(cli: Cli) -> None:
    cli.talk("a", "1")
    tools = {each["name"]: each["description"] for each in ask(cli, ["--operator"])}
    assert set(tools) == {
        "my_sessions",
        "why",
        "my_processes",
        "my_budget",
        "confirm",
        *QUESTIONS,
        *VERBS,
    }
    assert all(len(words) > 40 for words in tools.values())


@pytest.mark.parametrize(
    ("options", "code", "scene"),
    [
        ([], 62, "for whom?"),
        (["--session", "nobody"], 20, "no such session"),
        (["--key", "a", "--operator"], 2, "for several"),
    ],
)
def test_whom_it_can_not_answer_is_told(
    cli: Cli, options: list[str], code: int, scene: str
) -> None:
    cli.talk("a", "1")
    answer = call("mcp", *options, "--ledger", cli.url, **{TAG_VARIABLE: ""})
    assert answer.code == code
    golden("mcp", scene, answer.err)


def test_without_the_library_it_says_how_to_install_it(cli: Cli) -> None:
    cli.talk("a", "1")
    without = "import sys; sys.modules['mcp'] = None; from sexton.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", without, "mcp", "--operator", "--ledger", cli.url],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 60
    assert "sexton[mcp]" in done.stderr
