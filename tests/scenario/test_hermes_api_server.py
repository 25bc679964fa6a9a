"""Clients of Hermes's API server whose session was ended: they are told, and go on in another."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

import pytest
import yaml

from sexton.spending.model import Act, Scope, Unit
from tests import layers
from tests.scenario.fake_model import ANSWER, PATIENCE, ToolUse
from tests.scenario.finalizers_scene import wait_until
from tests.scenario.hermes_exits import AIOHTTP, KEY, answers, api_settings, rows
from tests.scenario.hermes_inside import furnished_environment
from tests.scenario.hermes_spender import budget, spender, working

OPENING, SETTLING = "Go on for ever", "Answer me now"


@pytest.fixture(scope="module")
def python(hermes_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment whose Hermes can serve its API."""
    made = furnished_environment(hermes_python, tmp_path_factory.mktemp("environment"))
    pip = [str(made), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", AIOHTTP]
    done = subprocess.run(pip, capture_output=True, text=True, timeout=600, check=False)
    if "from versions: none" in done.stderr:
        layers.unavailable("aiohttp can not be fetched here")
    assert done.returncode == 0, done.stderr
    return made


class Answered(NamedTuple):
    """What a client was told, and in which session."""

    words: str
    session: str


class Client:
    """Somebody who sends a whole conversation each time, as clients of that kind of API do."""

    def __init__(self, port: str) -> None:
        self._url = f"http://127.0.0.1:{port}/v1/chat/completions"

    def say(self, *words: str, session: str | None = None) -> Answered:
        """Send a conversation, what was answered in it left out."""
        said = [{"role": "user", "content": each} for each in words]
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        if session is not None:
            headers["X-Hermes-Session-Id"] = session
        body = json.dumps({"model": "hermes", "messages": said}).encode()
        with urlopen(Request(self._url, body, headers), timeout=PATIENCE) as answer:
            told = json.load(answer)["choices"][0]["message"]["content"]
            return Answered(told, answer.headers["X-Hermes-Session-Id"])


def eager(messages: Sequence[Any]) -> str | ToolUse:
    """A model that calls tools for ever, unless it is told to answer."""
    [*_, last] = [str(each["content"]) for each in messages if each["role"] == "user"]
    return ANSWER if SETTLING in last else working(list(messages))


def test_after_a_kill_or_a_reset_a_client_with_the_same_opening_goes_on_in_another_session(
    python: Path, tmp_path: Path
) -> None:
    with spender(python, tmp_path, "approvals: {mode: off}\n") as home:
        home.publish(budget(Scope.SESSION, Unit.ITERATIONS, 3, Act.KILL))
        home.model.reply = eager
        settings = tmp_path / "sexton.yaml"
        settings.write_text(yaml.safe_dump({"homes": [{"path": str(home.lab.home), "act": True}]}))
        api = api_settings()
        client, port = Client(api["API_SERVER_PORT"]), int(api["API_SERVER_PORT"])
        with home.lab.started("gateway", "run", **api) as process:
            wait_until(lambda: answers(port) or process.poll() is not None)
            told, first = client.say(OPENING)
            assert "[sexton]" in told
            assert len(home.model.asked) == 3
            told, second = client.say(OPENING, SETTLING)
            assert ANSWER in told
            told, same = client.say(OPENING, SETTLING, SETTLING)
            assert (ANSWER in told, same) == (True, second), "it goes on as long as it is open"
            home.sexton("sessions", "reset", f"hermes/{second}", "--config", str(settings))
            told, third = client.say(OPENING, SETTLING, SETTLING, SETTLING)
            assert ANSWER in told
            assert len({first, second, third}) == 3
            asked = len(home.model.asked)
            told, named = client.say(SETTLING, session=first)
            assert ("[sexton]" in told, named) == (True, first), "whoever names it is told"
            assert len(home.model.asked) == asked
        ends = {each.id: each.end_reason for each in home.sessions()}
        assert ends == {first: "budget:session.iterations", second: "reset", third: None}
        assert set(rows(home.lab.home)) == set(ends)
