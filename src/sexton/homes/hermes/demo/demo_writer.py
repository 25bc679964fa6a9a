"""How is the demonstration home written? As Hermes would have left it, file by file."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import apsw

from sexton.homes.hermes.demo.figures import BIG, FILE_BYTES, SERVED_HOURS
from sexton.homes.hermes.demo.population import CONVERSATION, Resident, population, spoken
from sexton.homes.hermes.hermes_places import DATABASE

CONFIG = """\
# A home like those that were reported, with the mistakes people made in this file.
model: demo-model
session_reset:
  mode: both
  idle_minutes: 120
  at_hour: 6
sessions:
  auto_prune: 'false'
  write_json_snapshots: true
fallback_providers:
  - openrouter
"""
DOTENV = "API_SERVER_ENABLED=true\nAPI_SERVER_KEY=changeme\n"
TOKENS = 40
TALK = (
    "please,now,could you,then,once more:,I will,next,first",
    "look at,test,rename,explain,deploy,measure,clean up,write down,compare,restart",
    "the preview server,the nightly report,the build,the logs,that error,the backup,the chart",
    "and tell me,before noon,as we did yesterday,without the old files,and send it,in one table",
)

ADD_SESSION = """
    INSERT INTO sessions (id, source, session_key, chat_type, model, parent_session_id, started_at,
        ended_at, end_reason, message_count, input_tokens, output_tokens,
        compression_failure_error, compression_fallback_streak)
    VALUES (?, ?, ?, ?, 'demo-model', ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
ADD_MESSAGE = "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)"
ADD_ROUTE = """
    INSERT INTO gateway_routing (scope, session_key, entry_json, updated_at)
    VALUES (?, ?, ?, ?)"""


class Server(NamedTuple):
    """A process that a session started and forgot: it runs, with this number since that tick."""

    pid: int
    ticks: int
    command: str


def write_home(
    home: Path, now: datetime, zone: str, servers: Sequence[Server] = ()
) -> list[Resident]:
    """Write a whole damaged home into an empty directory; its sessions."""
    (everybody, lost), words = population(now), _words()
    (home / "sessions").mkdir(parents=True)
    for name, text in (("config.yaml", CONFIG), (".env", DOTENV)):
        _write(home / name, text)
    routes = [_route(each, ZoneInfo(zone)) for each in everybody if each.source == "telegram"
              and each.reason is None]  # fmt: skip
    _write(home / "processes.json", json.dumps([_entry(each, now) for each in servers]))
    _write(home / "sessions" / "sessions.json", json.dumps({each["session_key"]: each
           for each in routes}))  # fmt: skip
    _database(home, everybody, words, routes)
    _snapshots(home / "sessions", [*everybody, *lost], words)
    return everybody


def _database(
    home: Path, everybody: Sequence[Resident], words: Sequence[str], routes: Sequence[Any]
) -> None:
    connection = apsw.Connection(str(home / DATABASE))
    try:
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "off")  # if it breaks half-way, it is thrown away
        with connection:
            connection.execute(resources.files(__package__).joinpath("schema.sql").read_text())
            connection.executemany(ADD_SESSION, map(_row, everybody))
            connection.executemany(
                ADD_MESSAGE,
                ((each.id, *said) for each in everybody for said in spoken(each, words)),
            )
            scope = str((home / "sessions").resolve())
            connection.executemany(
                ADD_ROUTE,
                ((scope, each["session_key"], json.dumps(each), 0.0) for each in routes),
            )
    finally:
        connection.close()


def _row(each: Resident) -> tuple[Any, ...]:
    ended = None if each.reason is None else each.active_at
    kind = "dm" if each.source == "telegram" else None
    spent = TOKENS * each.messages * each.messages, TOKENS * each.messages
    streak = 1 if each.error else 0
    return (
        each.id, each.source, each.key, kind, each.parent, each.started_at, ended, each.reason,
        each.messages, *spent, each.error, streak,
    )  # fmt: skip


def _route(each: Resident, zone: ZoneInfo) -> dict[str, Any]:
    def local(moment: float) -> str:
        return datetime.fromtimestamp(moment, UTC).astimezone(zone).replace(tzinfo=None).isoformat()

    return {
        "session_key": each.key,
        "session_id": each.id,
        "created_at": local(each.started_at),
        "updated_at": local(each.active_at),
        "platform": "telegram",
        "chat_type": "dm",
        "expiry_finalized": False,
    }


def _entry(server: Server, now: datetime) -> dict[str, Any]:
    started = now - timedelta(hours=SERVED_HOURS)
    return {
        "session_id": f"proc_{server.pid:012x}",
        "command": server.command,
        "pid": server.pid,
        "pid_scope": "host",
        "host_start_time": server.ticks,
        "started_at": started.timestamp(),
        "task_id": "default",
        "session_key": CONVERSATION,
    }


def _snapshots(folder: Path, everybody: Sequence[Resident], words: Sequence[str]) -> None:
    having = [each for each in everybody if each.has_file]
    for each, size in zip(having, _sizes(having), strict=True):
        file = folder / f"session_{each.id}.json"
        _write(file, _snapshot(each, words, size))
        os.utime(file, (each.active_at, each.active_at))


def _sizes(having: Sequence[Resident]) -> Iterator[int]:
    """How big each file is, together exactly what was reported."""
    chance = random.Random(FILE_BYTES)  # noqa: S311  # to be repeated, not to be guessed
    big = dict(BIG)
    left = FILE_BYTES - sum(big.get(each.messages, 0) for each in having)
    shares = [0.0 if each.messages in big else chance.uniform(0.6, 1.4) for each in having]
    whole = sum(shares)
    for each, share in zip(having, shares, strict=True):
        size = big.get(each.messages) or round(left * share / whole)
        left, whole = (left, whole) if each.messages in big else (left - size, whole - share)
        yield size


def _snapshot(each: Resident, words: Sequence[str], size: int) -> str:
    """A session as Hermes dumps it; the system prompt fills it up to its size."""
    said = [{"role": role, "content": text} for role, text, _ in spoken(each, words)]
    head = {"session_id": each.id, "model": "demo-model", "platform": each.source}
    tail = {"message_count": each.messages, "messages": said, "system_prompt": ""}
    text = json.dumps({**head, **tail})
    prose = " ".join(words)
    missing = max(size - len(text), 0)
    filled = (prose * (missing // len(prose) + 1))[:missing]
    return text.removesuffix('""}') + f'"{filled}"}}'


def _words() -> list[str]:
    """Sentences that look like talk, and say nothing."""
    chance = random.Random(1)  # noqa: S311
    heads, acts, things, ends = (part.split(",") for part in TALK)
    parts = heads, acts, things, ends
    return [" ".join(chance.choice(part) for part in parts) for _ in range(300)]


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
