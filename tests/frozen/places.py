"""Where is what the frozen files are made of? Nothing else here names a module of the package."""

from __future__ import annotations

from importlib import import_module
from typing import Any

PLACES = {
    "clock": "sexton.core.clock:SystemClock",
    "commands": "sexton.cli.root:root",
    "run": "sexton.cli:run",
    "statements": "sexton.store.statements:statements",
    "damaged home": "sexton.homes.hermes.demo.demo_writer:write_home",
    "host": "sexton.liveness.process_identity:host",
    "postgres server": "tests.kit.postgres_server:PostgresServer",
    "simulate": "tests.kit.simulation:simulate",
}


def place(name: str) -> Any:
    """What has this name."""
    module, _, what = PLACES[name].partition(":")
    return getattr(import_module(module), what)
