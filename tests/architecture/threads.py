"""Every thread that the package starts, and how it survives what it meets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.architecture.source import Module, modules

ONE_JOB = "one job, ends"


class Started(NamedTuple):
    """A place that starts a thread: the file below the package, and the target as it is written."""

    path: str
    target: str


THREADS = {
    Started("liveness/heartbeat.py", "self._run"): "catches Exception, logs by kind, goes on",
    Started("sessions/compression.py", "self._work"): ONE_JOB,
    Started("wiring/__init__.py", "keeper.run"): "every step in `Keeper._outlive`",
    Started("cli/signals.py", "_listen"): "tries again to stop the program, logs by kind",
    Started("keeper/beside.py", "target"): "`Runner.run` and `Keeper._send` catch Exception; if"
    " one dies all the same, the keeper starts it again before its next sweep",
    Started("finalizers/runner.py", "self._carry_out"): ONE_JOB,
    Started("integrations/hermes_plugin/plugin_ending.py", "_end_late"): ONE_JOB,
    Started("store/postgres_pool.py", "request"): ONE_JOB,
    Started("store/group_commit.py", "self._loop"): "catches Exception, opens the gate of the"
    " batch, logs by kind, goes on",
    Started("store/postgres_pool.py", "_watch"): "catches Exception, logs by kind, goes on",
    Started("finalizers/effects/command_effect.py", "stop"): ONE_JOB,
    Started("finalizers/effects/http_post.py", "ask"): ONE_JOB,
    Started("notifications/channels.py", "ask"): ONE_JOB,
    Started("web/lookout.py", "self._listen"): "catches Exception, logs by kind, goes on",
    Started("web/web_serving.py", "self._run"): "uvicorn survives what a request meets;"
    " if it ends all the same, that is logged and the program ends with an error",
}


def known_threads(root: Path) -> list[str]:
    """Every thread has its way to survive: an entry in tests/architecture/threads.py."""
    return [
        module.at(node, f"starts a thread with target {started.target}")
        for module in modules(root)
        for node, started in started_in(module)
        if started not in THREADS
    ]


def started_in(module: Module) -> Iterator[tuple[ast.AST, Started]]:
    """Every thread that a module starts; one without a plain target is named for what it is."""
    for node in module.nodes:
        if isinstance(node, ast.Call) and module.meaning(node.func) in _STARTERS:
            targets = [ast.unparse(each.value) for each in node.keywords if each.arg == "target"]
            yield node, Started(module.inside, targets[0] if targets else ast.unparse(node))
        elif isinstance(node, ast.ClassDef) and _STARTERS & set(map(module.meaning, node.bases)):
            yield node, Started(module.inside, f"class {node.name}")


_STARTERS: set[str | None] = {"threading.Thread", "threading.Timer", "_thread.start_new_thread"}
