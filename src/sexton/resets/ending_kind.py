"""Decides which reset a session came to whose home only says that it was reset."""

from __future__ import annotations

from datetime import timedelta

from sexton.core.endings import NATIVE, EndKind, end_kind
from sexton.core.session import Session
from sexton.resets.policy import ResetPolicy, reset_reason

SAME_MOMENT = timedelta(minutes=1)
"""By how much the moment of a last activity may differ between a home and its owner."""


def told_reset(session: Session, policy: ResetPolicy | None) -> EndKind:
    """Which reset a session came to whose home says no more than that it was reset.

    What is reaped ends as of its last activity, and what the policy did not ask for a user did.
    """
    ended = session.ended_at or session.active_at
    if ended <= session.active_at:
        return EndKind.REAP
    reason = None if policy is None else reset_reason(session, policy, ended + SAME_MOMENT)
    return EndKind.USER if reason is None else end_kind(reason.code, NATIVE)
