"""For each verb something to carry it out on, and something that it refuses, in a fresh ledger."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from sexton.errors import SextonError
from sexton.integrations.mcp.answers import Answers
from sexton.integrations.mcp.scope import Operator
from sexton.operations.asker import Asker
from sexton.operations.registry import VERBS
from sexton.operations.verb_proposal import Proposal
from sexton.settings.settings_values import Settings
from sexton.spending.model import Unit
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from sexton.wiring.choosing_ledger import load_settings
from tests.keeping import kept
from tests.surface.program import PATIENCE, Cli
from tests.surface.visitor import Page, serving_client

FAILS = {"name": "fails", "kind": "command", "command": ["false"], "sources": ["mail"]}
LATE = {"name": "late", "kind": "command", "command": ["true"], "sources": ["chat"]}
SETTINGS: dict[str, Any] = {
    "finalizers": [FAILS | {"attempts": 1}],
    "budgets": [{"scope": "session", "tokens": 1000}],
    "reset": {"max_messages": 3},
}
LATER = {**SETTINGS, "finalizers": [*SETTINGS["finalizers"], LATE]}
NOBODY = 2**22 + 1
"""A number that no process has."""


@dataclass
class Stage:
    """A ledger with its settings, and what was started on it."""

    house: Sexton
    config: Path
    children: list[subprocess.Popen[bytes]]
    held: list[object]

    def propose(self, verb: str, **given: Any) -> Proposal:
        """What a verb would do."""
        return VERBS[verb].propose(Asker(house=self.house), **given)

    def talk(self, key: str, *words: str, source: str = "chat", ended: bool = False) -> str:
        """A session that nobody holds any more; its id."""
        with self.house.worker() as worker:
            session = worker.session(key, source=source)
            for text in words:
                session.append(role="user", content=text)
            if ended:
                session.end()
            return session.id

    def child(self, *, kept_back: bool = False) -> int:
        """A background process of a session that is open; its pid."""
        session = kept(self.house.worker().session("spawning", source="chat"))
        spawned = session.spawn(["sleep", "600"], task="serve")
        self.children.append(spawned.popen)
        if kept_back:
            self.propose("keep_process", pid=spawned.pid).carry_out()
        return spawned.pid

    def dead_letter(self) -> str:
        """A session whose finalizer has failed for good; its id."""
        id = self.talk("mail", "call me back", source="mail", ended=True)
        self.house.sweep()
        (job,) = self.house.ledger.finalizing.tally()
        assert job[1] == "dead"
        return id

    def removed(self) -> tuple[str, str]:
        """A session in the trash; its id and the receipt."""
        id = self.talk("empty", ended=True)
        outcomes = self.house.apply(self.house.plan(gc={"empty_hours": 0}), receipt := "a" * 12)
        assert [each.result for each in outcomes] == ["done"]
        return id, receipt

    def late(self) -> dict[str, Any]:
        """A session that ended before there was a finalizer."""
        self.talk("before", "hello", ended=True)
        self.config.write_text(json.dumps(LATER), encoding="utf-8")
        self.house.settings = load_settings(self.config, {}) or Settings()
        self.house.publish()
        return {"finalizer": "late"}


Made = Callable[[Stage], dict[str, Any]]


@dataclass(frozen=True)
class Scene:
    """What a verb is told where it works, and where it is refused."""

    works: Made
    fails: Made
    error: str


def _open(stage: Stage) -> dict[str, Any]:
    return {"session": stage.talk("a", "hello")}


def _nothing(_: Stage) -> dict[str, Any]:
    return {"session": "nothing"}


def _busy(stage: Stage) -> dict[str, Any]:
    session = kept(stage.house.worker().session("busy", source="chat"))
    turn = session.turn()
    turn.__enter__()
    stage.held.append(turn)
    return {"session": session.id}


def _pinned(stage: Stage) -> dict[str, Any]:
    id = stage.talk("a", "hello")
    stage.propose("pin", session=id).carry_out()
    return {"session": id}


def _kept_child(stage: Stage) -> dict[str, Any]:
    return {"pid": stage.child(kept_back=True)}


def _limited(stage: Stage) -> dict[str, Any]:
    id = stage.talk("a", "hello")
    stage.propose("set_budget", session=id, unit=Unit.TOKENS, amount="50").carry_out()
    return {"session": id}


def _ended(stage: Stage) -> dict[str, Any]:
    id = stage.talk("a", "hello")
    receipt = stage.propose("end", session=id).carry_out()
    return {"receipt": receipt.id}


def _due(stage: Stage) -> dict[str, Any]:
    stage.talk("long", "one", "two", "three")
    return {}


SCENES: Mapping[str, Scene] = {
    "apply": Scene(_due, lambda _: {"home": "nowhere"}, "NoSuchHome"),
    "end": Scene(_open, _busy, "SessionBusy"),
    "reset": Scene(_open, _busy, "SessionBusy"),
    "pin": Scene(_open, _nothing, "SessionNotFound"),
    "unpin": Scene(_pinned, _nothing, "SessionNotFound"),
    "stop_process": Scene(
        lambda stage: {"pid": stage.child()}, lambda _: {"pid": NOBODY}, "ProcessNotFound"
    ),
    "keep_process": Scene(
        lambda stage: {"pid": stage.child()}, lambda _: {"pid": NOBODY}, "ProcessNotFound"
    ),
    "release_process": Scene(_kept_child, lambda _: {"pid": NOBODY}, "ProcessNotFound"),
    "retry_finalizer": Scene(
        lambda stage: {"session": stage.dead_letter()}, lambda _: {}, "InputInvalid"
    ),
    "discard_finalizer": Scene(
        lambda stage: {"session": stage.dead_letter()}, lambda _: {}, "InputInvalid"
    ),
    "backfill_finalizer": Scene(Stage.late, lambda _: {"finalizer": "nobody"}, "InputInvalid"),
    "set_budget": Scene(
        lambda stage: {**_open(stage), "unit": "tokens", "amount": "500"},
        lambda stage: {**_open(stage), "unit": "tokens", "amount": "much"},
        "InputInvalid",
    ),
    "clear_budget": Scene(_limited, lambda _: {}, "InputInvalid"),
    "raise_budget": Scene(
        lambda stage: {**_open(stage), "unit": "tokens", "amount": "500"},
        lambda stage: {**_open(stage), "unit": "usd", "amount": "5"},
        "InputInvalid",
    ),
    "gc": Scene(
        lambda stage: {"empty_hours": 0, "source": [stage.talk("e", ended=True), "chat"][1]},
        lambda _: {"home": "nowhere"},
        "NoSuchHome",
    ),
    "empty_trash": Scene(
        lambda stage: {"all": True, "source": [stage.removed(), "chat"][1]},
        lambda _: {"home": "nowhere"},
        "NoSuchHome",
    ),
    "restore": Scene(lambda stage: {"session": stage.removed()[0]}, _open, "InputInvalid"),
    "undo": Scene(_ended, lambda _: {"receipt": "0" * 12}, "NothingToUndo"),
}
PLACED = ("session", "pid", "receipt")
"""What a command takes without an option."""
OPTIONS = {"retry_finalizer": ("session",), "discard_finalizer": ("session",)}
"""Commands that take it by an option all the same."""


@dataclass(frozen=True)
class Told:
    """What a surface says of a verb: an error, or its results and the receipt, without ids."""

    error: str = ""
    results: Mapping[str, int] | None = None
    receipt: Any = None


def by_command(stage: Stage, cli: Cli, verb: str, given: Mapping[str, Any]) -> Told:
    """On the command line."""
    words: list[str] = []
    rest = dict(given)
    if "unit" in rest and "amount" in rest:
        words += [f"--{rest.pop('unit').replace('_', '-')}", str(rest.pop("amount"))]
    for name, value in rest.items():
        if (name in PLACED and name not in OPTIONS.get(verb, ())) or name == "finalizer":
            words.append(str(value))
        else:
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    command = VERBS[verb].command
    is_asking = "--yes" in cli.ok(*command, "--help")
    config = ("--config", str(stage.config), "--json", *(["--yes"] if is_asking else []))
    answer = cli(*command, *words, *config)
    if answer.code:
        return Told(error=answer.error()["error"])
    return _told(answer.json())


def by_program(stage: Stage, _: Cli, verb: str, given: Mapping[str, Any]) -> Told:
    """Over the API."""
    with serving_client(stage.house) as client:
        path = "/v1/plan" if verb == "apply" else f"/v1/plan/{verb}"
        shown = client.get(path, params=given)
        if shown.status_code != 200:
            return Told(error=shown.json()["error"])
        done = client.post("/v1/apply", json={"digest": shown.json()["digest"]})
        assert done.status_code == 200, done.text
        return _told(done.json())


def by_page(stage: Stage, _: Cli, verb: str, given: Mapping[str, Any]) -> Told:
    """On a page: what is shown is confirmed."""
    with serving_client(stage.house) as client:
        shown = client.get(f"/act/{verb}", params=given)
        found = re.search(r'data-error="(\w+)"', shown.text)
        if found is not None:
            return Told(error=found[1])
        return _confirm(client, shown.text)


def _confirm(client: TestClient, text: str) -> Told:
    (form,) = [each for each in Page(200, text).forms if each[""] == "/apply"]
    done = client.post("/apply", data={"digest": form["digest"]})
    assert done.status_code == 200, done.text
    counts = re.findall(r'data-result="(\w+)" data-count="(\d+)"', done.text)
    results: Counter[str] = Counter()
    for result, count in counts:
        results[result] += int(count)
    return Told(results=results)


def by_agent(stage: Stage, _: Cli, verb: str, given: Mapping[str, Any]) -> Told:
    """Over MCP, as an operator's assistant: what is shown is confirmed."""
    answers = Answers(stage.house, Operator(stage.house))
    tools = {each.__name__: each for each in answers.more()}
    try:
        units = {"unit": Unit(given["unit"])} if "unit" in given else {}
        shown = tools[verb](**(dict(given) | units))
    except SextonError as trouble:
        return Told(error=type(trouble).__name__)
    return _told(tools["confirm"](digest=shown["digest"]))


SURFACES = {"command": by_command, "API": by_program, "page": by_page, "MCP": by_agent}


def _told(receipt: Any) -> Told:
    results = Counter({name: receipt[name] for name in ("done", "skipped") if receipt[name]})
    told = {name: value for name, value in receipt.items() if name not in BESIDE}
    return Told(results=results, receipt=masked(told))


BESIDE = ("rest", "homes", "unattached", "sources")
"""What a command tells beside a receipt."""


def masked(value: Any) -> Any:
    """A value without what differs from ledger to ledger: ids, and numbers of two digits."""
    if isinstance(value, dict):
        return {name: masked(each) for name, each in value.items()}
    if isinstance(value, list):
        return [masked(each) for each in value]
    if isinstance(value, str):
        return re.sub(r"\d+", "<n>", re.sub(r"\b[0-9a-f]{8}[0-9a-f-]{4,}\b", "<id>", value))
    return "<n>" if isinstance(value, int) and value > 9 else value


def journal(house: Sexton, since: int) -> list[Any]:
    """What the journal has got since, as every surface shows it, without ids and times."""
    found = house.ledger.board.journal_since(since, 1000)
    return [
        masked(
            {
                "action": each.action,
                "result": each.result,
                "about": [each.home, each.session],
                "reason": [each.reason.code, each.reason.text],
                "has a receipt": each.receipt is not None,
            }
        )
        for each in found
    ]


@contextmanager
def staged(place: Path) -> Iterator[tuple[Stage, str]]:
    """A stage in a directory, and the URL of its ledger."""
    config = place / "sexton.yaml"
    config.write_text(json.dumps(SETTINGS), encoding="utf-8")
    url = str(place / "ledger.db")
    with Sexton(open_ledger(url), load_settings(config, {}) or Settings()) as house:
        house.publish()
        stage = Stage(house, config, [], [])
        try:
            yield stage, url
        finally:
            for each in stage.children:
                each.kill()
                each.wait(PATIENCE)
