"""A real Hermes that does as it is told; runs in Hermes's own environment.

Reads one JSON request per line: the home, what to do there, the arguments.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

DATABASES: dict[str, Any] = {}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        answer = obey(request["home"], request["method"], request["arguments"], request["named"])
        sys.stdout.write(json.dumps(answer, default=str) + "\n")
        sys.stdout.flush()


def obey(home: str, method: str, arguments: list[Any], named: dict[str, Any]) -> Any:
    """Do one thing; what is not known here is a method of Hermes's session database."""
    match method:
        case "open":
            return database(home) and None
        case "close":
            return DATABASES.pop(home).close()
        case "sql":
            return [list(row) for row in database(home)._conn.execute(*arguments)]
        case "write_many":
            return write_many(database(home), *arguments)
        case "reset_policy" | "lock_holder":
            return reset_policy(home) if method == "reset_policy" else lock_holder()
        case _:
            return getattr(database(home), method)(*arguments, **named)


def database(home: str) -> Any:
    """The home's session database, opened once."""
    if home not in DATABASES:
        hermes_state = importlib.import_module("hermes_state")
        DATABASES[home] = hermes_state.SessionDB(Path(home) / "state.db")
    return DATABASES[home]


def write_many(database: Any, prefix: str, sessions: int, messages: int) -> int:
    """Write as a busy agent does; how many messages were acknowledged."""
    written = 0
    for number in range(sessions):
        database.create_session(f"{prefix}{number}", "cli")
        for turn in range(messages):
            database.append_message(f"{prefix}{number}", "user", f"message {turn}")
            written += 1
        if number % 2:
            database.end_session(f"{prefix}{number}", "cli_close")
    return written


def reset_policy(home: str) -> Any:
    """How Hermes's gateway understands the home's configuration."""
    os.environ["HERMES_HOME"] = home
    policy = importlib.import_module("gateway.config").load_gateway_config().default_reset_policy
    return [policy.mode, policy.idle_minutes, policy.at_hour]


def lock_holder() -> Any:
    """Under which name this process locks a session that it compresses."""
    compression = importlib.import_module("agent.conversation_compression")
    return compression._compression_lock_holder(object())


if __name__ == "__main__":
    main()
