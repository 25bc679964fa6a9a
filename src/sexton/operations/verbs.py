"""What must hold before an operator changes one session or job; every surface asks here."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Final, Literal

from sexton.core.plan import EndSession, Plan, Reason
from sexton.core.session import NATIVE, Session
from sexton.errors import (
    HomeObserved,
    InputInvalid,
    ProcessesRunning,
    SessionBusy,
    SessionEnded,
)
from sexton.finalizers.model import Finalization, FinalizationState
from sexton.keeper.keeper_context import Estate
from sexton.keeper.observe import observe_home
from sexton.keeper.preconditions import as_seen
from sexton.processes.listed import of_session
from sexton.processes.policy import listed, running
from sexton.store.journal import Entry
from sexton.store.ledger import Ledger

RESET = "reset"
"""The reason of an end that an operator asks for so that the key begins anew."""
PINNED_THERE = "its home pins or archives it, and only there can that be taken back"
Verb = Literal["retry", "discard"]
DECIDABLE: Final[Mapping[Verb, tuple[FinalizationState, ...]]] = {
    "retry": (FinalizationState.DEAD,),
    "discard": (FinalizationState.PENDING, FinalizationState.DEAD),
}
"""The states in which a job may be retried or discarded."""


def newest(ledger: Ledger, session: Session) -> Session:
    """The newest session of a conversation that was compressed here, which is the one meant."""
    return ledger.compression.tip(session.ref) or session if session.home == NATIVE else session


def changeable(estate: Estate, session: Session) -> Session:
    """The session that a change is about.

    Raises HomeObserved for one of a home that may not be changed, and what is the matter with a
    home that can not be reached.
    """
    record = estate.records.get(session.home)
    if record is None and (trouble := estate.closed.get(session.home)) is not None:
        raise trouble
    if session.home != NATIVE and record is None:
        raise HomeObserved(
            f"{session.name} belongs to the home '{session.home}', which the settings do not list",
            hint="Write the home under homes in sexton.yaml, with 'act: true'.",
        )
    if record is not None and not record.act:
        raise HomeObserved(
            f"{session.name} belongs to the home '{session.home}', which is only observed",
            hint="Set 'act: true' for the home in sexton.yaml.",
        )
    return newest(estate.ledger, session)


def endable(estate: Estate, session: Session) -> Session:
    """The session that ends if this one is named; SessionEnded if it has ended already."""
    found = changeable(estate, session)
    if not found.is_open:
        raise SessionEnded(f"the session {found.name} has ended: {found.end_reason}")
    return found


def plan_end(estate: Estate, session: Session, reason: Reason, *, force: bool) -> Plan:
    """A plan that ends a session as it is now, under the guards of `end` and `reset`.

    Without force it raises SessionBusy while a turn runs in it. A reset also raises
    ProcessesRunning while background processes of it run. A turn that begins after this
    call changes the session, so the plan is then skipped.
    """
    found = endable(estate, _looked_at(estate, changeable(estate, session)))
    if not force:
        if estate.is_busy(found):
            raise SessionBusy(f"a turn is running in the session {found.name}")
        if reason.code == RESET and (left := running(of_session(estate, found))):
            raise ProcessesRunning(f"the session {found.name} has processes: {listed(left)}")
    return Plan(
        id=uuid.uuid4().hex,
        ledger=estate.ledger.id,
        policies="",
        made_at=estate.clock.now(),
        actions=(EndSession(seen=as_seen(found), reason=reason),),
    )


def pin(estate: Estate, session: Session, noted: Entry, *, pinned: bool) -> Session:
    """Pin a session, or let go of it; as it stands then, since its home may pin it as well."""
    found = changeable(estate, session)
    if found.pinned is not pinned or found.home != NATIVE:
        estate.ledger.book.mark(found.ref, pinned=pinned, noted=(noted, estate.clock.now()))
    if not pinned and (record := estate.records.get(found.home)) is not None:
        observe_home(estate, estate.homes[found.home], record, anew=True)
    return next(iter(estate.ledger.index.find(found.home, found.id)), found)


def check_as_shown(estate: Estate, plan: Plan) -> None:
    """Raise ProcessesRunning if a reset that was shown would leave processes that began since."""
    for action in plan.actions:
        if not isinstance(action, EndSession) or action.reason.code != RESET:
            continue
        for session in estate.ledger.index.find(action.seen.home, action.seen.id):
            left = running(of_session(estate, session))
            late = [each for each in left if each.process.started_at > plan.made_at]
            if late:
                words = f"processes of the session {session.name} began since: {listed(late)}"
                raise ProcessesRunning(words)


def _looked_at(estate: Estate, session: Session) -> Session:
    """A session as its home shows it now."""
    record = estate.records.get(session.home)
    if record is None:
        return session
    observe_home(estate, estate.homes[session.home], record)
    return next(iter(estate.ledger.index.find(session.home, session.id)), session)


def check_decidable(verb: Verb, job: Finalization) -> None:
    """Raise InputInvalid if a job is in no state in which it may be retried or discarded."""
    if job.state not in DECIDABLE[verb]:
        states = " or ".join(DECIDABLE[verb])
        raise InputInvalid(
            f"{job.finalizer} of {job.home}/{job.session} is {job.state}",
            hint=f"Work that is {states} can be {'retried' if verb == 'retry' else 'discarded'}.",
        )
