"""A town of agents: real processes that hold sessions, spend, start others and end some."""

from __future__ import annotations

import json
import sys
from subprocess import DEVNULL
from typing import Any

import sexton
from sexton.processes.agent_processes import SpawnedProcess
from sexton.sessions.agent_session import OpenSession

EVIL = "<script>document.title='owned'</script>\u202egnp.exe\x1b[31m\"><img src=x onerror=alert(2)>"
TALK = (
    ("user", "Could you look at why the nightly report is empty?"),
    ("assistant", "I will. The job ran at 02:00 and wrote no rows; let me see its log."),
    ("tool", {"tool": "terminal", "command": "tail -n 3 report.log", "exit": 0}),
    ("assistant", "The source table was renamed on Friday. I changed the query and ran it again."),
    ("user", "Thank you. Please keep the preview server running for an hour."),
)


def settle(url: str) -> tuple[dict[str, Any], SpawnedProcess]:
    """Open everything, and say what it is called."""
    house = sexton.open(url)
    worker = house.worker()
    report = worker.session("report", source="telegram", title="Why is the nightly report empty?")
    for role, content in TALK:
        report.append(role=role, content=content)
    _spend(report, 41_200)
    preview = ["python3", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    process = report.spawn(preview, task="preview", kind="server", stdout=DEVNULL, stderr=DEVNULL)
    build = worker.session("build", source="cli", title="Build the release and measure it")
    build.append(role="user", content="build it")
    _spend(build, 12_900)
    tests = worker.session(
        "tests", source="subagent", title="Run the tests", parent=build, relation="subagent"
    )
    tests.append(role="user", content="run them")
    evil = worker.session("evil", source="telegram", title=EVIL)
    evil.append(role="user", content=EVIL)
    evil.append(role="assistant", content="x" * 1_000_000 + EVIL)
    over = [_over(worker, "cli", number) for number in range(4)]
    for number in range(12):
        _over(worker, "cron", number)
    garbage = house.plan(gc={"trivial_days": 0, "source": "cron"})
    house.apply(garbage)
    ids = {
        "report": report.id,
        "build": build.id,
        "tests": tests.id,
        "evil": evil.id,
        "over": over,
        "process": process.pid,
    }
    return ids, process


def _spend(session: OpenSession, tokens: int) -> None:
    with session.turn() as turn:
        grant = turn.reserve(input_tokens=tokens, max_output_tokens=900, model="town-model")
        grant.commit(input_tokens=tokens, output_tokens=700)


def _over(worker: Any, source: str, number: int) -> str:
    session = worker.session(f"{source} {number}", source=source, title=f"Rename report {number}")
    session.append(role="user", content="rename it")
    session.end(reason="done")
    return str(session.id)


if __name__ == "__main__":
    ids, started = settle(sys.argv[1])
    with started:
        sys.stdout.write(json.dumps(ids) + "\n")
        sys.stdout.flush()
        sys.stdin.read()
        started.stop()
