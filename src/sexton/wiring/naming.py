"""Which session does a person mean?"""

from __future__ import annotations

from sexton.core.session import Session, check_name
from sexton.errors import SessionAmbiguous, SessionNotFound
from sexton.sessions.index import LedgerIndex

SHORTEST = 4
"""So many characters of an id are enough to name a session, if no other begins like that."""
CANDIDATES = 10


def find_session(index: LedgerIndex, name: str) -> Session:
    """The session that `[HOME/]ID` or the beginning of an id means."""
    check_name("session", name)
    home, slash, id = name.partition("/")
    found = index.find(home, id) if slash else []
    found = found or index.find(None, name)
    if not found and len(name) >= SHORTEST:
        found = index.begins_with(name, CANDIDATES)
    if not found:
        raise SessionNotFound(f"there is no session '{name}'")
    if len(found) > 1:
        names = ", ".join(f"{each.home}/{each.id}" for each in found)
        raise SessionAmbiguous(f"'{name}' means several sessions: {names}")
    return found[0]
