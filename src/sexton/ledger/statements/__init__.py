"""Which SQL does a name stand for?

Statements are kept as text, one name each, in the `.sql` files of this folder. A name may be
followed by `[sqlite]` or `[postgres]` where the engines need different words.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

SESSION = """s.ref, h.name, s.id, s.key, s.source, s.chat_type, s.job, s.parent, s.relation,
    s.state, s.epoch, s.started_at, s.active_at, s.due_at, s.ended_at, s.end_reason,
    s.message_count, s.byte_count, s.turn_count, s.input_tokens, s.output_tokens,
    s.cached_tokens, s.reasoning_tokens, s.cost_micros, s.title, s.preview,
    s.pinned, s.human_touched, s.errored, s.warned"""

WORKER = """w.id, w.host, w.boot_id, w.pid, w.started, w.inode, w.pid_namespace, w.uid,
    w.kind, w.version, w.beat, w.registered_at, w.left_at, w.swept_at,
    w.dead_at, w.evidence"""

ROW = (
    "ref", "home", "id", "key", "source", "chat_type", "job", "parent", "relation", "state",
    "epoch", "started_at", "active_at", "due_at", "policy_serial", "ended_at", "end_reason",
    "last_seq", "message_count", "byte_count", "turn_count", "input_tokens", "output_tokens",
    "cached_tokens", "reasoning_tokens", "cost_micros", "title", "preview", "pinned",
    "human_touched", "errored", "warned", "inherited", "compress_after", "vault",
)  # fmt: skip
"""Every column of a session."""

_PAIRS = ", ".join(f"'{name}', s.{name}" for name in ROW)
_AS_JSON = {
    "sqlite": f"json_object({_PAIRS})",
    "postgres": f"CAST(json_build_object({_PAIRS}) AS TEXT)",
}

_HEADER = re.compile(r"^-- (\w+)(?: \[(\w+)\])?$", re.MULTILINE)
_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")
_BYTES = re.compile(r"%\((contents|extras)\)s")


_INCLUDED = re.compile(r"\{(\w+)\}")


@cache
def statements(dialect: str) -> dict[str, str]:
    """Every statement by name, in the words of one engine."""
    columns = {"session": SESSION, "worker": WORKER, "row": _AS_JSON[dialect]}
    found = dict(columns)
    for file in sorted(Path(__file__).parent.glob("*.sql")):
        parts = _HEADER.split(file.read_text(encoding="utf-8"))[1:]
        for name, only, text in zip(parts[0::3], parts[1::3], parts[2::3], strict=True):
            if only in (None, dialect):
                found[name] = text.strip()
    return {name: _translate(found, name, dialect) for name in found if name not in columns}


def _translate(found: dict[str, str], name: str, dialect: str) -> str:
    """The statement with what it includes, columns or another statement, and its parameters."""
    sql = _INCLUDED.sub(lambda match: found[match[1]].rstrip(";"), found[name])
    if dialect == "sqlite":
        return sql
    named = _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%"))
    return _BYTES.sub(r"%(\1)b", named)  # sent as they are, not as hexadecimal text
