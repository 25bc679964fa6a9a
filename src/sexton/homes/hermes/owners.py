"""Whose is an open row of a Hermes home, and is its owner alive?

Hermes writes no owner into a row. What its home claims comes first, then who has the database
open: a conversation of the gateway is never dead, whatever a process of the command line may
own is suspect for as long as one has the database open, and where nobody has it, nobody owns.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import apsw

from sexton.core.record import replace
from sexton.homes.hermes.facts import CRON_ID
from sexton.homes.hermes.fingerprint import Shape
from sexton.homes.hermes.hermes_claims import Claims
from sexton.homes.hermes.hermes_turns import Sign, turn_in
from sexton.homes.hermes.holders import Census, Kind
from sexton.liveness.evidence import Evidence, Verdict

API = "api_server"
BY_GATEWAY = frozenset({API, "webhook", "msgraph_webhook"})
"""Sources that run inside the gateway without being a conversation of it."""
BY_THEMSELVES = BY_GATEWAY | {
    "", "cli", "tui", "desktop", "webui", "acp", "cron", "subagent", "tool", "unknown", "curator",
    "local", "test", "batch", "kanban",
}  # fmt: skip
"""Sources that are no conversation of the gateway; every other one is taken for one."""
NOT_BY_GATEWAY = frozenset({"cli"})
"""Sources that a gateway is known to own none of."""
LEEWAY = 60.0
"""Seconds by which the times of rows and processes may differ."""
DEEPEST = 20
"""So many parents up a subagent is looked for who started it."""


class OpenRow(NamedTuple):
    """What a row says about who may own it."""

    id: str
    source: str
    key: str | None
    parent: str | None
    handoff: str | None
    started_at: float | None
    active_at: float = 0.0
    over: int = 0
    answered: int | None = 1

    def is_conversation(self, routed: Collection[str]) -> bool:
        """Whether it is a conversation of the gateway, which goes on whoever is alive."""
        return bool(self.key) or self.id in routed or self.source not in BY_THEMSELVES


def rows_of(db: apsw.Connection, shape: Shape, ids: Collection[str]) -> dict[str, OpenRow]:
    """The rows of those ids and of the parents above them, as far as they are there."""
    found: dict[str, OpenRow] = {}
    wanted = set(ids)
    for _ in range(DEEPEST):
        fresh = [
            OpenRow._make((*map(_text, row[:5]), *row[5:])) for row in _select(db, shape, wanted)
        ]
        found |= {row.id: row for row in fresh}
        parents = {row.parent for row in fresh if row.source == "subagent" and row.parent}
        wanted = parents - found.keys()
        if not wanted:
            break
    return found


def owners(
    ids: Collection[str],
    rows: Mapping[str, OpenRow],
    claims: Claims,
    census: Census,
) -> dict[str, Evidence]:
    """What is known about the owner of each of the rows that are still open."""
    return {
        id: _owner(rows[id], rows, claims, census) for id in ids if id in rows and not rows[id].over
    }


def _owner(row: OpenRow, rows: Mapping[str, OpenRow], claims: Claims, census: Census) -> Evidence:
    family = list(_upwards(row, rows))
    for each in family:
        if each.id in claims.live:
            words = claims.live[each.id]
            return replace(_found(Verdict.LIVE, words), busy=words)
    root = family[-1]
    if root.is_conversation(claims.routed):
        return _conversation(row, root, claims, census)
    if row.handoff == "pending":
        return _found(Verdict.UNKNOWN, "it is about to be handed over to another platform")
    if root.source == API:
        return _of_the_api(census)
    runs = _runs(root, claims)
    alive = next((run for run in runs if run.alive), None)
    if alive is not None:
        return _found(Verdict.LIVE, f"its job runs as pid {alive.pid}")
    return _by_census(root, census, claims, executed=bool(runs))


def _conversation(row: OpenRow, root: OpenRow, claims: Claims, census: Census) -> Evidence:
    """A conversation waits for its next message; a subagent of one ends with the gateway."""
    found = _beside_gateway(row, root, claims, census)
    if row is not root:
        return found
    terminals = tuple((each.pid, each.ticks) for each in census.terminals)
    return replace(found, terminals=terminals, unclear=_unclear(row, claims, census))


def _unclear(row: OpenRow, claims: Claims, census: Census) -> str:
    """Who may go on with a conversation beside its gateway without being seen to, in words.

    Its gateway notes each use of it once more when the turn is over, so what was written later
    was written by somebody else, who may still be there.
    """
    if row.active_at <= claims.used.get(row.id, 0.0) or census.unclear is None:
        return ""
    return f"it was last used without its gateway, and {census.unclear}"


def _beside_gateway(row: OpenRow, root: OpenRow, claims: Claims, census: Census) -> Evidence:
    if census.gateway is not None:
        found = _found(
            Verdict.LIVE if row is root else Verdict.UNKNOWN,
            f"the gateway with pid {census.gateway} goes on with it",
        )
        busy = _turn(row, claims, census) if row is root else ""
        return replace(found, resets=row is root and claims.gateway_resets, busy=busy)
    if row is root:
        return _found(Verdict.UNKNOWN, "a conversation of the gateway, which is not running now")
    return _by_census(row, census, claims, executed=False)


def _turn(row: OpenRow, claims: Claims, census: Census) -> str:
    """What shows that a turn of a conversation runs: a lease of its key, or how it was left."""
    if row.key and row.key in claims.live:
        return claims.live[row.key]
    sign = Sign(row.active_at, claims.used.get(row.id, 0.0), answered=row.answered != 0)
    return turn_in(sign, census.gateway, claims.turns, claims.now)


def _of_the_api(census: Census) -> Evidence:
    if census.gateway is not None:
        words = f"the gateway with pid {census.gateway} serves it for as long as it runs"
        return _found(Verdict.LIVE, words)
    return _found(Verdict.UNKNOWN, "whoever asks the API server for it can go on with it")


def _by_census(row: OpenRow, census: Census, claims: Claims, *, executed: bool) -> Evidence:
    if census.gap is not None:
        return _found(Verdict.UNKNOWN, census.gap)
    if census.strangers:
        return _beside_strangers(row, census)
    if executed:
        return _dead("the process that ran its job is gone")
    return _beside_servers(row, census, claims)


def _beside_servers(row: OpenRow, census: Census, claims: Claims) -> Evidence:
    """Gateways and backends serve conversations and what grows out of them, no terminals."""
    gateways = [each.pid for each in census.holders if each.kind is Kind.GATEWAY]
    pid = gateways[0] if gateways else census.gateway
    if row.source in NOT_BY_GATEWAY and pid is not None:
        return _dead(f"only the gateway with pid {pid} is there, and it owns no '{row.source}'")
    if row.source not in NOT_BY_GATEWAY and pid is not None:
        return _found(Verdict.UNKNOWN, f"the gateway with pid {pid} may own it")
    if row.source not in NOT_BY_GATEWAY and claims.backends:
        words = f"the backend with pid {claims.backends[0]} says that it runs, and may own it"
        return _found(Verdict.UNKNOWN, words)
    return _dead("no process of Hermes has the database open")


def _beside_strangers(row: OpenRow, census: Census) -> Evidence:
    """What was used since one of them started may well be its; the rest can only be resumed."""
    for each in census.strangers:
        if row.active_at >= each.began - LEEWAY:
            return _found(Verdict.UNKNOWN, f"{each} may own it: it was used since that started")
    names = ", ".join(str(each) for each in census.strangers[:3])
    words = f"{names} has the database open, and Hermes does not say for which session"
    return _found(Verdict.SUSPECT, words)


def _runs(root: OpenRow, claims: Claims) -> list[Any]:
    job = CRON_ID.fullmatch(root.id)
    known = claims.executions.get(job[1], ()) if job else ()
    return [run for run in known if run.covers(root.started_at)]


def _upwards(row: OpenRow, rows: Mapping[str, OpenRow]) -> Iterator[OpenRow]:
    """A row and those whose process it runs in; a subagent has no process of its own."""
    seen = {row.id}
    yield row
    while row.source == "subagent" and row.parent not in seen:
        above = rows.get(row.parent or "")
        if above is None:
            return
        row = above
        seen.add(row.id)
        yield row


def _select(db: apsw.Connection, shape: Shape, ids: Collection[str]) -> list[Any]:
    names = ("id", "source", "session_key", "parent_session_id", "handoff_state")
    columns = [f"CAST(s.{name} AS BLOB)" if name in shape.sessions else "NULL" for name in names]
    beaten = "CAST(s.last_activity_at AS REAL)" if "last_activity_at" in shape.sessions else "0"
    calls = "COALESCE(CAST(m.tool_calls AS TEXT), '') IN ('', '[]', 'null')"
    answers = calls if "tool_calls" in shape.messages else "1"
    return db.execute(
        f"""
        SELECT {", ".join(columns)}, CAST(s.started_at AS REAL),
               MAX(COALESCE(CAST(s.started_at AS REAL), 0), COALESCE({beaten}, 0),
                   COALESCE((SELECT CAST(MAX(m.timestamp) AS REAL)
                             FROM messages AS m WHERE m.session_id = s.id), 0)),
               s.ended_at IS NOT NULL,
               (SELECT m.role = 'assistant' AND {answers} FROM messages AS m
                WHERE m.session_id = s.id ORDER BY m.timestamp DESC, m.id DESC LIMIT 1)
        FROM json_each(:ids) AS j CROSS JOIN sessions AS s WHERE s.id = j.value""",
        {"ids": json.dumps(sorted(ids))},
    ).fetchall()


def _text(raw: bytes | None) -> Any:
    return None if raw is None else raw.decode("utf-8", "replace")


def _found(verdict: Verdict, words: str) -> Evidence:
    return Evidence(verdict=verdict, kernel=True, signals=(words,))


def _dead(words: str) -> Evidence:
    return Evidence(verdict=Verdict.DEAD, code="owner_gone", kernel=True, signals=(words,))
