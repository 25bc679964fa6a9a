"""Decides whether a person may have a session open in a terminal that its size would end."""

from __future__ import annotations

from sexton.core.endings import EndKind, end_kind
from sexton.core.plan import Reason
from sexton.core.session import Session
from sexton.liveness.evidence import Evidence

NAMED = 3
"""The number of processes that a reason names."""


def is_for_size(wanted: Reason, home: str) -> bool:
    """Whether a session of that home would end because it has grown too large or too old."""
    return end_kind(wanted.code, home) is EndKind.SIZE_RESET


def open_in_terminal(wanted: Reason, session: Session, proof: Evidence | None) -> Reason | None:
    """The terminal that holds back a reset for the size of a session, or None.

    A clock does not wait for terminals: the gateway of Hermes, which has the same one, does not.
    """
    if proof is None or not is_for_size(wanted, session.home):
        return None
    if not proof.terminals:
        return _unclear(proof)
    pids = ", ".join(str(pid) for pid, _ in proof.terminals[:NAMED])
    words = f"a person may have it open in a terminal (pid {pids}), where its size does not end it"
    return Reason("terminal", words)


def _unclear(proof: Evidence) -> Reason | None:
    if not proof.unclear:
        return None
    words = f"a person may have it open where that is not to be seen: {proof.unclear}"
    return Reason("terminal", words)
