"""Is a session garbage, and where is one that was removed?"""

from __future__ import annotations

from datetime import datetime

from sexton.core.plan import Reason
from sexton.core.session import Session, State
from sexton.retention.garbage import Collection, find
from sexton.retention.garbage_collection import family_of
from sexton.store.ledger import Ledger


def garbage(
    ledger: Ledger, session: Session, policy: Collection, now: datetime
) -> tuple[str, Reason] | None:
    """Whether `gc` would remove an ended session, or what keeps it; None of an unknown one."""
    members = ledger.removable.relatives(session.home, named=[session.id], below=[])
    if not members:
        return None
    finding = find(members[0], family_of(ledger, session.home, members), policy, now)
    if finding.holding is not None:
        return "kept", finding.holding
    assert finding.wanted is not None
    return finding.wanted.code, finding.wanted


def whereabouts(ledger: Ledger, session: Session) -> tuple[str, str]:
    """Where a removed session is, and how to have it back."""
    file = ledger.vault.of_session(session.ref)
    if file is None:
        return "nowhere", "what was said in it was given up for good"
    where = f"in {file.place} on {file.host}, file {file.name}"
    if session.state is State.ARCHIVED:
        return "archive", f"{where}; 'sexton archive restore {session.id}' brings it back"
    assert file.expires_at is not None
    until = f"until {file.expires_at:%Y-%m-%d %H:%M} UTC"
    return "trash", f"{where}; {until} 'sexton undo {file.receipt}' brings it back"
