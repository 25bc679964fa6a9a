"""Sessions that stay held until a test is over.

A worker leaves its sessions when nobody refers to it or to a handle of its sessions. A helper that
wants a session to stay held keeps the handle here.
"""

from __future__ import annotations

from sexton.sessions.agent_session import OpenSession

_handles: list[OpenSession] = []


def kept(session: OpenSession) -> OpenSession:
    """The session, held until the test is over."""
    _handles.append(session)
    return session


def let_go() -> None:
    """Refer to none of them any more."""
    _handles.clear()
