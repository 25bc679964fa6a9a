"""Which SQL does a name stand for?

Statements are kept as text, one name each, in the `.sql` files of this folder. A name may be
followed by `[sqlite]` or `[postgres]` where the engines need different words.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache

SESSION = """s.ref, h.name, s.id, s.key, s.source, s.chat_type, s.job, s.parent, s.relation,
    s.state, s.epoch, s.started_at, s.active_at, s.due_at, s.ended_at, s.end_reason,
    s.message_count, s.byte_count, s.turn_count, s.input_tokens, s.output_tokens,
    s.cached_tokens, s.reasoning_tokens, s.cost_micros, s.title, s.preview,
    s.pinned, s.human_touched, s.errored, s.warned, s.spared_at, s.live_messages, s.live_bytes"""

WORKER = """w.id, w.host, w.boot_id, w.pid, w.started, w.inode, w.pid_namespace, w.uid,
    w.kind, w.version, w.beat, w.registered_at, w.left_at, w.swept_at,
    w.dead_at, w.evidence"""

ROW = (
    "ref", "home", "id", "key", "source", "chat_type", "job", "parent", "relation", "state",
    "epoch", "started_at", "active_at", "due_at", "policy_serial", "ended_at", "end_reason",
    "last_seq", "message_count", "byte_count", "turn_count", "input_tokens", "output_tokens",
    "cached_tokens", "reasoning_tokens", "cost_micros", "title", "preview", "pinned",
    "human_touched", "errored", "warned", "inherited", "compress_after", "root", "guard", "untold",
    "vault", "active_slot", "kept", "spared_at", "live_messages", "live_bytes",
)  # fmt: skip
"""Every column of a session."""

_PAIRS = ", ".join(f"'{name}', s.{name}" for name in ROW)
_AS_JSON = {
    "sqlite": f"json_object({_PAIRS})",
    "postgres": f"CAST(json_build_object({_PAIRS}) AS TEXT)",
}

_HEADER = r"(?m)^-- (\w+)(?: \[(\w+)\])?$"
_INCLUDED = r"\{(\w+)\}"
_PARAMETER = r"(?<!:):([a-z_]+)"
_BYTES = r"%\((contents|extras)\)s"


@cache
def statements(dialect: str) -> dict[str, str]:
    """Every statement by name, in the words of one engine."""
    columns = {"session": SESSION, "worker": WORKER, "row": _AS_JSON[dialect]}
    found = dict(columns)
    for text in _files():
        parts = re.split(_HEADER, text)[1:]
        for name, only, sql in zip(parts[0::3], parts[1::3], parts[2::3], strict=True):
            if only in (None, dialect):
                found[name] = sql.strip()
    return {name: _translate(found, name, dialect) for name in found if name not in columns}


def _files() -> Iterator[str]:
    folder = os.path.dirname(__file__)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".sql"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                yield file.read()


def _translate(found: dict[str, str], name: str, dialect: str) -> str:
    """The statement with what it includes, columns or another statement, and its parameters."""
    sql = re.sub(_INCLUDED, lambda match: found[match[1]].rstrip(";"), found[name])
    if dialect == "sqlite":
        return sql
    named = re.sub(_PARAMETER, r"%(\1)s", sql.replace("%", "%%"))
    return re.sub(_BYTES, r"%(\1)b", named)  # sent as they are, not as hexadecimal text
