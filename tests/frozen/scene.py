"""Every command with --json on one fixed scene: `python -m tests.frozen.scene DIRECTORY`.

The scene is a ledger with native sessions in every state and a damaged Hermes home that is only
observed. The clock of this process stands where the scene puts it, in 2020, before anything that
the machine itself could date. What commands answered is written to standard output as JSON.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import sexton
from tests.frozen.places import place
from tests.surface.program import PATIENCE, ROOT, environment, program

NOON = datetime(2020, 6, 1, 12, tzinfo=UTC)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
TOKEN = "t" * 32
SETTINGS = {
    "homes": [{"path": "hermes", "name": "demo"}],
    "finalizers": [
        {"name": "fails", "kind": "command", "command": ["false"], "sources": ["mail"]}
        | {"attempts": 1},
        {"name": "works", "kind": "command", "command": ["true"], "sources": ["chat"]},
    ],
    "keeper": {"finalizers_at_once": 1},
    "budgets": [
        {"scope": "session", "tokens": 1000, "action": "pause"},
        {"scope": "day", "usd": 5},
        {"scope": "source", "tool_calls": 50},
    ],
    "prices": {"models": {"own": {"input": 1000, "output": 1000}}},
    "notify": {"webhook": "http://127.0.0.1:9/none", "events": ["dead_letter", "budget", "limit"]},
    "retention": {"classes": [{"sources": ["cron"], "rows": "archive", "rows_max_age": "30d"}]},
    "archive": {"directory": "vault", "format": "gzip"},
}
MCP: tuple[tuple[str, dict[str, Any]], ...] = (
    ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                    "clientInfo": {"name": "frozen", "version": "1"}}),
    ("notifications/initialized", {}),
    ("tools/list", {}),
    ("resources/list", {}),
    ("prompts/list", {}),
)  # fmt: skip


def stand_at(moment: datetime) -> None:
    """Let the wall clock of this process stand."""
    place("clock").now = staticmethod(lambda: moment)


def later() -> None:
    """A minute passes, so that what comes after another thing is told after it."""
    stand_at(place("clock").now() + MINUTE)


class Scene:
    """The directory of a scene, and what commands answered in it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.config = directory / "sexton.yaml"
        self.url = str(directory / "ledger.db")
        self.answers: dict[str, list[dict[str, Any]]] = {}

    def __call__(self, command: str, *arguments: object) -> Any:
        """Call a command in this process; what it answered."""
        said = [*command.split(), *map(str, arguments), "--json"]
        streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2)]
        with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
            code = place("run")([*said, "--ledger", self.url, "--config", str(self.config)])
        out, err = (each.buffer.getvalue().decode() for each in streams)
        return self.note(command, said, code, out, err)

    def note(self, command: str, said: list[str], code: int, out: str, err: str = "") -> Any:
        """Keep what a command answered, as values where it is JSON."""
        is_pid = command.startswith("processes")
        shown = ["<pid>" if is_pid and each.isdecimal() else each for each in said]
        told = {"said": shown[len(command.split()) :], "exit": code, "out": _values(out)}
        self.answers.setdefault(command, []).append(told | ({"err": _values(err)} if err else {}))
        return told["out"]

    @contextmanager
    def opened(self, moment: datetime) -> Iterator[sexton.Sexton]:
        """The ledger through the library, at a time."""
        stand_at(moment)
        with sexton.open(self.url, self.config) as house:
            yield house

    def program(self, command: str, *arguments: str) -> subprocess.Popen[str]:
        """The real program, whose clock is the machine's."""
        line = program(*command.split(), *arguments, "--json", "--ledger", self.url)
        return subprocess.Popen(
            line, env=environment(SEXTON_TOKEN=TOKEN), cwd=self.directory, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip


def _values(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        lines = text.splitlines()
    try:
        return {"lines": [json.loads(line) for line in lines]}
    except ValueError:
        return {"text": lines}


def furnish(scene: Scene) -> dict[str, str]:
    """The past: sessions of all kinds that are over, in our ledger and in the home."""
    ids: dict[str, str] = {}
    home = scene.directory / "hermes"
    home.mkdir()
    place("damaged home")(home, NOON, "UTC")
    for file in home.rglob("*.*"):
        if file.stat().st_mtime > NOON.timestamp() + 366 * 86400:
            os.utime(file, (NOON.timestamp(),) * 2)
    scene.config.write_text(json.dumps(SETTINGS), encoding="utf-8")
    with scene.opened(NOON - 40 * DAY) as house, house.worker() as worker:
        house.publish()
        for number in range(2):
            ids[f"cron {number}"] = _talk(worker, f"job {number}", 6, source="cron", end="done")
        ids["old"] = _talk(worker, "old", 8, source="chat", title="An old talk", end="closed")
        ids["empty"] = _talk(worker, "empty", 0, source="chat", end="closed")
        ids["hi"] = _talk(worker, "hi", 2, source="chat", end="closed")
        later()
        compressed = worker.session("compressed", source="chat")
        compressed.append_many([{"role": "user", "content": f"{n}"} for n in range(9)])
        ids["compressed"] = compressed.id
        compressed.compress(lambda _: "in short", keep_tail=2)
        compressed.end()
    return ids


def _talk(worker: Any, key: str, messages: int, *, end: str, **facts: str) -> str:
    later()
    session = worker.session(key, **facts)
    for number in range(messages):
        session.append(role=("user", "assistant")[number % 2], content=f"message {number}")
    session.end(reason=end)
    return str(session.id)


def hold(directory: Path) -> None:
    """Another process holds a session until it is killed."""
    with Scene(directory).opened(NOON - 20 * MINUTE) as house, house.worker() as worker:
        session = worker.session("leaked", source="cli")
        session.append(role="user", content="hello")
        sys.stdout.write(f"{session.id}\n")
        sys.stdout.flush()
        signal.pause()


def leak(scene: Scene) -> str:
    """A session whose process was killed; its id."""
    line = [sys.executable, "-m", "tests.frozen.scene", str(scene.directory), "hold"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=ROOT) as running:
        assert running.stdout is not None
        id = running.stdout.readline().strip()
        running.kill()
    return id


def live(scene: Scene, ids: dict[str, str], stack: ExitStack) -> tuple[int, int]:
    """The present: sessions that are open, held, pinned, spending and busy; two processes."""
    ids["leaked"] = leak(scene)
    house = stack.enter_context(scene.opened(NOON - 10 * MINUTE))
    with house.worker() as passing:
        pinned = passing.session("pinned", source="chat", title="A pinned talk")
        pinned.append(role="user", content="keep this")
        pinned.pin()
        later()
        left = passing.session("left", source="mail")
        left.append(role="user", content="call me back")
        ids["pinned"], ids["left"] = pinned.id, left.id
    later()
    worker = stack.enter_context(house.worker())
    held = worker.session("held", source="chat", title="A held talk")
    held.append_many([{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}])
    (held.directory / "notes.txt").write_text("notes")
    with held.turn() as turn:
        turn.reserve(input_tokens=900, model="own").commit(input_tokens=900, output_tokens=50)
    later()
    child = worker.session("child", source="subagent", parent=held, relation="subagent")
    child.append(role="user", content="run the tests")
    ids["held"], ids["child"] = held.id, child.id
    servers = []
    for name in ("a", "b"):
        later()
        servers.append(held.spawn(["sleep", "6000"], task=name, kind="server"))
        stack.callback(servers[-1].popen.wait)
        stack.callback(servers[-1].popen.kill)
    scene.keeping = (held, child, worker)  # type: ignore[attr-defined]  # held while it is referred to
    return servers[0].pid, servers[1].pid


def ask(scene: Scene, ids: dict[str, str], pid: int) -> None:
    """Commands that only ask, and those that write nothing but a file."""
    scene("doctor")
    scene("doctor", scene.directory / "hermes")
    scene("sessions list", "--all")
    scene("sessions list", "--home", "demo", "--limit", 5)
    for name in ("held", "leaked", "compressed", "pinned"):
        scene("sessions show", ids[name])
        scene("why", ids[name])
    scene("why", "no such session")
    for style in ("json", "jsonl", "markdown"):
        scene("sessions export", ids["held"], "--format", style)
    scene("workers list")
    scene("processes list", "--all")
    scene("processes stop", pid, "--dry-run")
    for options in ((ids["held"],), (ids["held"], "--tree"), ("--source", "chat"), ()):
        scene("budget show", *options)
    scene("report leaks")
    scene("plan")
    scene("plan", "-o", scene.directory / "plan.json")
    scene("gc", "--dry-run")
    scene("apply", "--dry-run")
    for command in ("show", "check", "schema"):
        scene(f"config {command}")
    scene("config check", "--effect")
    scene("config import-hermes", scene.directory / "hermes")
    scene("config import-hermes", scene.directory / "hermes", "-o", scene.directory / "new.yaml")
    scene("completion", "bash")
    scene("ledger migrate")


def decide(scene: Scene, ids: dict[str, str], pid: int, other: int) -> None:
    """Commands that change something, each where there is something to change."""
    scene("processes keep", pid)
    scene("processes release", pid)
    scene("processes stop", other, "--yes")
    for verb in ("unpin", "pin", "unpin"):
        scene(f"sessions {verb}", ids["pinned"])
    later()
    scene("sessions end", ids["held"], "--yes")
    later()
    scene("sessions end", ids["left"], "--yes", "--reason", "enough")
    later()
    scene("sessions reset", ids["pinned"])
    for _ in range(2):
        scene("budget set", ids["held"], "--tokens", 5000, "--action", "warn")
        scene("budget raise", ids["held"], "--tokens", 5000)
        scene("budget clear", ids["held"])
    scene("finalizers backfill", "works", "--since", "60d", "--yes")
    later()
    scene("keep", "--once")
    later()
    scene("keep", "--once")
    scene("finalizers list")
    scene("finalizers show", ids["left"])
    scene("finalizers retry", "--session", ids["left"], "--yes")
    scene("finalizers discard", "--finalizer", "fails", "--all", "--yes")
    scene("notices list")
    later()
    scene("apply", "--yes")
    scene("archive list")
    scene("archive verify")
    scene("archive restore", ids["cron 0"], "--dry-run")
    scene("archive restore", ids["cron 0"])
    later()
    done = scene("gc", "--yes", "--home", "native", "--trivial-days", 1)
    scene("trash list")
    scene("undo", done.get("receipt"), "--dry-run")
    scene("undo", done.get("receipt"))
    scene("undo", "000000000000")
    later()
    scene("gc", "--yes", "--home", "native", "--empty-hours", 1)
    scene("trash empty", "--all", "--dry-run")
    scene("trash empty", "--all", "--yes")
    scene("attach", scene.directory / "hermes", "--act")
    later()
    scene("apply", "--home", "demo", "--source", "telegram", "--yes")
    later()
    scene("journal", "--limit", 1000)
    scene("journal", "--session", ids["leaked"])
    scene("sessions list", "--all")
    scene("doctor")
    scene("detach", scene.directory / "hermes")
    scene("detach", scene.directory / "hermes", "--restore")


def install(scene: Scene) -> None:
    """What is put into other programs, on a PATH where none of those is."""
    path, os.environ["PATH"] = os.environ["PATH"], str(scene.directory / "none")
    scene("service install", "--dry-run")
    for word in ("install", "uninstall"):
        scene(f"hermes {word}", scene.directory / "hermes")
    for word in ("install", "status", "logs", "uninstall"):
        scene(f"service {word}")
    os.environ["PATH"] = path


def serve(scene: Scene) -> Any:
    """The two surfaces that go on: what each says first; the description of the API."""
    with scene.program("mcp", "--operator") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        replies = ""
        for number, (method, params) in enumerate(MCP):
            asked = {"jsonrpc": "2.0", "method": method, "params": params}
            wants = {} if method.startswith("notifications/") else {"id": number}
            running.stdin.write(json.dumps(asked | wants) + "\n")
            running.stdin.flush()
            replies += running.stdout.readline() if wants else ""
        running.stdin.close()
        code = running.wait(PATIENCE)
        scene.note("mcp", ["mcp", "--operator", "--json"], code, replies)
    with scene.program("serve", "--port", "0", "--no-keep") as running:
        assert running.stdout is not None
        try:
            line = running.stdout.readline()
            url = f"{json.loads(line)['url']}/v1/openapi.json"
            request = Request(url, headers={"Authorization": f"Bearer {TOKEN}"})
            with urlopen(request, timeout=PATIENCE) as reply:
                described = json.load(reply)
            running.terminate()
            running.wait(PATIENCE)
        finally:
            running.kill()
        scene.note("serve", ["serve", "--port", "0", "--json"], running.returncode, line)
    return described


def main(directory: Path) -> None:
    """Play the whole scene."""
    scene = Scene(directory)
    with ExitStack() as stack:
        shown = stack.enter_context(scene.program("demo"))
        ids = furnish(scene)
        pids = live(scene, ids, stack)
        stand_at(NOON + 5 * MINUTE)
        ask(scene, ids, pids[0])
        stand_at(NOON + 10 * MINUTE)
        decide(scene, ids, *pids)
        install(scene)
        out, _ = shown.communicate(timeout=PATIENCE)
        scene.note("demo", ["demo", "--json"], shown.returncode, out)
    described = serve(scene)
    json.dump({"answers": scene.answers, "openapi": described}, sys.stdout)


if __name__ == "__main__":
    (hold if "hold" in sys.argv else main)(Path(sys.argv[1]))
