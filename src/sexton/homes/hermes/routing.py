"""Which conversations does a gateway route where, and when were they last used?

The table is the truth since it exists; before, and as a copy since, it was `sessions.json`. Times
in both are local ones without a zone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from sexton.homes.hermes.documents import read_json

LARGEST = 50_000_000


class Route(NamedTuple):
    """A conversation of the gateway."""

    key: str
    session: str
    platform: str
    chat_type: str | None
    used_at: datetime
    finalized: bool


def routes_in(entries: Iterable[Any], zone: str) -> Iterator[Route]:
    """The conversations among stored entries; one that can not be understood is left out."""
    local = ZoneInfo(zone)
    for entry in entries:
        found = _route(entry, local) if isinstance(entry, dict) else None
        if found is not None:
            yield found


def routes_of_mirror(file: Path, zone: str) -> Iterator[Route]:
    """The conversations in the file of a home that has no table for them."""
    stored = read_json(file, LARGEST)
    if isinstance(stored, dict):
        yield from routes_in(stored.values(), zone)


def _route(entry: dict[str, Any], local: ZoneInfo) -> Route | None:
    key, session, used = (entry.get(name) for name in ("session_key", "session_id", "updated_at"))
    if not (isinstance(key, str) and isinstance(session, str) and isinstance(used, str)):
        return None
    try:
        moment = datetime.fromisoformat(used)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=local)
        used_at = aware.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    chat_type = entry.get("chat_type")
    return Route(
        key,
        session,
        str(entry.get("platform") or "unknown"),
        chat_type if isinstance(chat_type, str) else None,
        used_at,
        bool(entry.get("expiry_finalized") or entry.get("memory_flushed")),
    )
