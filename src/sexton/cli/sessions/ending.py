"""How does an operator end a session?"""

from __future__ import annotations

import uuid

from sexton.bootstrap import Sexton
from sexton.engine.apply import apply, new_receipt
from sexton.engine.preconditions import as_seen
from sexton.errors import HomeObserved, ProcessesRunning, SessionBusy, SessionEnded
from sexton.model.plan import EndSession, Outcome, Plan, Reason, Result
from sexton.model.session import NATIVE, Session
from sexton.policies.processes import listed, running

ATTEMPTS = 20


def open_native(opened: Sexton, name: str) -> Session:
    """The open session of our own that is meant; an error for any other."""
    found = native(opened, name)
    if not found.is_open:
        raise SessionEnded(f"the session {found.name} has ended: {found.end_reason}")
    return found


def native(opened: Sexton, name: str) -> Session:
    """The session of our own that is meant; sessions of observed homes are not changed.

    Of a conversation that was compressed, that is the newest.
    """
    found = opened.find(name)
    if found.home != NATIVE:
        raise HomeObserved(f"{found.name} belongs to the home '{found.home}'")
    return opened.ledger.compression.tip(found.ref) or found


def end_session(
    opened: Sexton, name: str, reason: Reason, *, force: bool = True
) -> tuple[str, Outcome]:
    """End the session whatever is written to it meanwhile; the receipt and the outcome.

    Without force SessionBusy if a turn runs in it, also one that begins at the same moment, and
    ProcessesRunning if background processes do.
    """
    receipt = new_receipt()
    for _ in range(ATTEMPTS):
        session = open_native(opened, name)
        if not force:
            _refuse_while_in_use(opened, session)
        plan = Plan(
            id=uuid.uuid4().hex,
            ledger=opened.ledger.id,
            policies="",
            made_at=opened.clock.now(),
            actions=(EndSession(seen=as_seen(session), reason=reason),),
        )
        for outcome in apply(opened.estate(), plan, receipt, just_made=True):
            if outcome.result is Result.DONE:
                return receipt, outcome
    raise SessionBusy(f"the session {name} is written to all the time", hint="Try again.")


def _refuse_while_in_use(opened: Sexton, session: Session) -> None:
    if opened.estate().is_busy(session):
        raise SessionBusy(f"a turn is running in the session {session.name}")
    if left := running(opened.overseer.of_native(session)):
        raise ProcessesRunning(f"the session {session.name} has processes: {listed(left)}")
