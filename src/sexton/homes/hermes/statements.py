"""The questions asked of a Hermes database, as text that fits the columns it has.

Values a column should not hold (text where a number belongs, times before 2001 or after 2100)
are answered as NULL. Text is answered as bytes, because it may not be valid UTF-8.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from sexton.homes.hermes.fingerprint import Shape

EARLIEST = 978_307_200  # 2001-01-01
LATEST = 4_102_444_800  # 2100-01-01
MOST = 1_000_000_000_000_000

COUNTERS = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
COSTS = ("estimated_cost_usd", "actual_cost_usd")
FLAGS = ("archived", "pinned")
TIMES = ("started_at", "ended_at", "last_activity_at")


class SessionRow(NamedTuple):
    """A row of `sessions`, with what its parent says about the relation between them."""

    id: bytes
    source: bytes | None
    session_key: bytes | None
    chat_type: bytes | None
    parent_session_id: bytes | None
    delegated: int
    branched: int
    parent_end_reason: bytes | None
    parent_ended_at: float | None
    started_at: float | None
    has_ended: int
    ended_at: float | None
    end_reason: bytes | None
    last_activity_at: float | None
    input_tokens: float | None
    output_tokens: float | None
    cache_read_tokens: float | None
    cache_write_tokens: float | None
    reasoning_tokens: float | None
    estimated_cost_usd: float | None
    actual_cost_usd: float | None
    title: bytes | None
    archived: float | None
    pinned: float | None


class MessageTally(NamedTuple):
    """What the messages of one session add up to, the compacted and undone ones included.

    The last two are of what Hermes still sends, where the home tells it apart.
    """

    session_id: str
    messages: int = 0
    bytes: int = 0
    from_user: int = 0
    first_from_user: int | None = None
    first_at: float | None = None
    last_at: float | None = None
    live_messages: int | None = None
    live_bytes: int | None = None


class SpendTally(NamedTuple):
    """What a session spent beside its main loop, and when it last spent anything."""

    session_id: str
    last_at: float | None = None
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    cache_read_tokens: float = 0.0
    cache_write_tokens: float = 0.0
    reasoning_tokens: float = 0.0
    cost_usd: float = 0.0


ALL_IDS = "SELECT CAST(id AS BLOB) FROM sessions ORDER BY id"
NEWER_IDS = "SELECT CAST(id AS BLOB) FROM sessions WHERE rowid > :rowid"
ID_AT = "SELECT CAST(id AS BLOB) FROM sessions WHERE rowid = :rowid"
LAST_ROW = "SELECT rowid, CAST(id AS BLOB) FROM sessions ORDER BY rowid DESC LIMIT 1"
COUNT_SESSIONS = "SELECT COUNT(*) FROM sessions"
LAST_MESSAGE = "SELECT COALESCE(MAX(id), 0) FROM messages"
# The sequence remembers the highest number ever given out, also when its row is gone.
LAST_NUMBER = "SELECT CAST(seq AS INTEGER) FROM sqlite_sequence WHERE name = 'messages'"
# The number is in the primary key; without the hint the planner may prefer an index.
WRITTEN_SINCE = (
    "SELECT DISTINCT CAST(session_id AS BLOB) FROM messages NOT INDEXED WHERE id > :message"
)
LAST_SPENT = f"""
    SELECT MAX(last_seen) FROM session_model_usage
    WHERE last_seen BETWEEN {EARLIEST} AND {LATEST}"""
SPENT_SINCE = f"""
    SELECT DISTINCT CAST(session_id AS BLOB) FROM session_model_usage
    WHERE last_seen > :spent AND last_seen <= {LATEST}"""

FIRST_WORDS = """
    SELECT id, substr(CAST(content AS BLOB), 1, 2048)
    FROM messages WHERE id IN (SELECT value FROM json_each(:messages))"""


def moved_on(shape: Shape) -> str:
    """Which of the sessions believed open have ended or, in newer homes, have been active."""
    active = " OR s.last_activity_at > :since" if "last_activity_at" in shape.sessions else ""
    return f"""
        SELECT CAST(s.id AS BLOB) FROM json_each(:ids) AS j CROSS JOIN sessions AS s
        WHERE s.id = j.value AND (s.ended_at IS NOT NULL{active})"""


def select_sessions(shape: Shape) -> str:
    """The rows of the given ids, as SessionRow."""
    have = shape.sessions
    own = {name: _text(f"s.{name}", name in have) for name in SessionRow._fields}
    own |= {name: _counter(f"s.{name}", name in have) for name in (*COUNTERS, *COSTS, *FLAGS)}
    own |= {name: _time(f"s.{name}", name in have) for name in TIMES}
    own |= {
        "delegated": _delegated(have),
        "branched": _tagged("_branched_from", have),
        "parent_end_reason": _text("p.end_reason", {"parent_session_id", "end_reason"} <= have),
        "parent_ended_at": _time("p.ended_at", "parent_session_id" in have),
        "has_ended": "s.ended_at IS NOT NULL",
    }
    parent = "LEFT JOIN sessions AS p ON p.id = s.parent_session_id"
    return f"""
        SELECT {", ".join(own[name] for name in SessionRow._fields)}
        FROM json_each(:ids) AS j CROSS JOIN sessions AS s ON s.id = j.value
        {parent if "parent_session_id" in have else ""}"""


def tally_messages(shape: Shape) -> str:
    """What the messages of each session add up to, as MessageTally."""
    live = "COUNT(*) FILTER ({0}), COALESCE(SUM(octet_length(content)) FILTER ({0}), 0)"
    told = live.format("WHERE active") if "active" in shape.messages else "NULL, NULL"
    return f"""
        SELECT session_id, COUNT(*), COALESCE(SUM(octet_length(content)), 0),
               COUNT(CASE role WHEN 'user' THEN 1 END), MIN(CASE role WHEN 'user' THEN id END),
               MIN(CASE WHEN timestamp BETWEEN {EARLIEST} AND {LATEST} THEN timestamp END),
               MAX(CASE WHEN timestamp BETWEEN {EARLIEST} AND {LATEST} THEN timestamp END), {told}
        FROM messages WHERE session_id IN (SELECT value FROM json_each(:ids))
        GROUP BY session_id"""


def tally_spend(shape: Shape) -> str | None:
    """What each session spent, as SpendTally; None in homes that do not record it.

    Calls beside the main loop carry the name of their task and are in no other figure.
    """
    have = shape.usage
    if not {"session_id", "last_seen"} <= have:
        return None
    aside = "FILTER (WHERE task <> '')" if "task" in have else "FILTER (WHERE 0)"
    counters = [f"TOTAL({_counter(name, name in have)}) {aside}" for name in COUNTERS]
    estimated, actual = (_counter(name, name in have) for name in COSTS)
    return f"""
        SELECT session_id, MAX({_time("last_seen", True)}), {", ".join(counters)},
               TOTAL(COALESCE(NULLIF({actual}, 0), {estimated})) {aside}
        FROM session_model_usage
        WHERE session_id IN (SELECT value FROM json_each(:ids)) GROUP BY session_id"""


def _text(column: str, there: bool) -> str:
    return f"CAST({column} AS BLOB)" if there else "NULL"


def _time(column: str, there: bool) -> str:
    return _between(column, EARLIEST, LATEST) if there else "NULL"


def _counter(column: str, there: bool) -> str:
    return _between(column, 0, MOST) if there else "NULL"


def _between(column: str, least: int, most: int) -> str:
    return f"CASE WHEN {column} BETWEEN {least} AND {most} THEN {column} END"


def _delegated(have: Collection[str]) -> str:
    """Whether its parent has delegated it; a subagent that is compressed hands its tag on."""
    if not {"parent_session_id", "end_reason"}.issubset(have):
        return _tagged("_delegate_from", have)
    is_next = "p.end_reason = 'compression' AND {0} <> s.parent_session_id"
    return _tagged("_delegate_from", have, f"{{0}} IS NOT NULL AND ({is_next}) IS NOT TRUE")


def _tagged(tag: str, have: Collection[str], test: str = "{0} IS NOT NULL") -> str:
    if "model_config" not in have:
        return "0"
    return f"""
        CASE WHEN typeof(s.model_config) = 'text' AND json_valid(s.model_config)
             THEN {test.format(f"json_extract(s.model_config, '$.{tag}')")} ELSE 0 END"""
