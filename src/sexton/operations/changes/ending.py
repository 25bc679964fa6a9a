"""`end` and `reset`: end one session, whatever the policies say."""

from __future__ import annotations

import uuid

from sexton.core.plan import EndSession, Plan, Reason
from sexton.core.session import NATIVE, Session, check_end_reason
from sexton.errors import HomeObserved, ProcessesRunning, SessionBusy, SessionEnded
from sexton.keeper.keeper_context import Estate
from sexton.keeper.observe import observe_home
from sexton.keeper.preconditions import as_seen
from sexton.operations.asker import Asker
from sexton.operations.changes.applying import RESET, of_plan
from sexton.operations.verb_proposal import Proposal
from sexton.processes.policy import listed, running
from sexton.processes.watched_processes import of_session
from sexton.store.ledger import Ledger

AGAIN = "Can be undone until its conversation goes on."


def end(asker: Asker, *, session: str, reason: str = "closed", force: bool = False) -> Proposal:
    """End a session; what still writes to it is refused from then on.

    Refused while a turn runs in it, unless `force` is given. `reason` is a word for programs.
    """
    return _end(asker, session, check_end_reason(reason), force=force)


def reset(asker: Asker, *, session: str, force: bool = False) -> Proposal:
    """End a session so that its key begins anew.

    Refused while a turn or background processes of it run, unless `force` is given.
    """
    return _end(asker, session, RESET, force=force)


def _end(asker: Asker, name: str, code: str, *, force: bool) -> Proposal:
    """A turn that begins after this call changes the session, so the proposal is then skipped."""
    verb, estate = RESET if code == RESET else "end", asker.estate()
    found = _looked_at(estate, changeable(estate, asker.find(name)))
    found = changeable(estate, found)
    if not found.is_open:
        raise SessionEnded(f"the session {found.name} has ended: {found.end_reason}")
    is_busy, left = estate.is_busy(found), running(of_session(estate, found))
    if is_busy and not force:
        raise SessionBusy(f"a turn is running in the session {found.name}")
    if left and code == RESET and not force:
        raise ProcessesRunning(f"the session {found.name} has processes: {listed(left)}")
    words = {
        "end": f"ended: {asker.words}",
        RESET: f"reset so that its key begins anew: {asker.words}",
    }
    plan = Plan(
        id=uuid.uuid4().hex,
        ledger=estate.ledger.id,
        policies="",
        made_at=estate.clock.now(),
        actions=(EndSession(seen=as_seen(found), reason=Reason(code, words[verb])),),
    )
    says = ["What still writes to it is refused from then on."]
    if is_busy:
        says.insert(0, "A turn is running in it right now.")
    if left:
        says.append(f"It has processes: {listed(left)}.")
    title = f"{verb.capitalize()} {found.title or found.name}"
    return of_plan(
        asker, plan, verb=verb, title=title, says=" ".join(says), just_made=True, undoing=AGAIN
    )


def changeable(estate: Estate, session: Session) -> Session:
    """The session that a change is about: the newest of a conversation that was compressed.

    Raises HomeObserved for one of a home that may not be changed, and what is the matter with a
    home that cannot be reached.
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


def newest(ledger: Ledger, session: Session) -> Session:
    """The newest session of a conversation that was compressed here, which is the one meant."""
    return ledger.compression.tip(session.ref) or session if session.home == NATIVE else session


def _looked_at(estate: Estate, session: Session) -> Session:
    """A session as its home shows it now."""
    record = estate.records.get(session.home)
    if record is None:
        return session
    observe_home(estate, estate.homes[session.home], record)
    return next(iter(estate.ledger.index.find(session.home, session.id)), session)
