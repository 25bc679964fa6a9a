"""`pin` and `unpin`: keep a session from being reset or collected, or not any more."""

from __future__ import annotations

from sexton.core.plan import Reason, Result
from sexton.core.session import NATIVE, Session
from sexton.keeper.keeper_context import Estate
from sexton.keeper.observe import observe_home
from sexton.operations.asker import Asker
from sexton.operations.changes.ending import changeable
from sexton.operations.verb_proposal import (
    ANY_TIME,
    Done,
    Draft,
    Going,
    Proposal,
    Step,
    outcome,
    proposed,
)
from sexton.store.journal import Entry

PINNED_THERE = "its home pins or archives it, and only there can that be taken back"
_WHY = {
    "pin": "no rule resets it, and nothing collects it",
    "unpin": "rules reset and collect it again as any other",
}
_NOW = {"pin": "it is pinned", "unpin": "it is not pinned any more"}
_ALREADY = {"pin": "it is pinned already", "unpin": "it is not pinned"}


def pin(asker: Asker, *, session: str) -> Proposal:
    """Keep a session from being reset or collected.

    A pinned session whose time has come is held back, and the plan says so. One whose process has
    died ends all the same, and keeps everything.
    """
    return _mark(asker, session, "pin")


def unpin(asker: Asker, *, session: str) -> Proposal:
    """Let rules reset and collect a session again."""
    return _mark(asker, session, "unpin")


def _mark(asker: Asker, name: str, verb: str) -> Proposal:
    found = changeable(asker.estate(), asker.find(name))
    reason, what = Reason("asked", asker.words), (found.home, found.id)
    other = "unpin" if verb == "pin" else "pin"

    def work(receipt: str, going: Going) -> Done:
        del going
        estate = asker.estate()
        entry = Entry(
            actor=asker.house.actor,
            receipt=receipt,
            home=found.home,
            session=found.id,
            action=verb,
            result=Result.DONE,
            reason=reason,
        )
        now = changeable(estate, asker.find(f"{found.home}/{found.id}"))
        is_new, stands = _marked(estate, now, entry, pinned=verb == "pin")
        is_done = is_new and stands.pinned is (verb == "pin")
        detail = _NOW[verb] if is_done else _ALREADY[verb]
        if stands.pinned and verb == "unpin":
            detail = f"it stays pinned: {PINNED_THERE}"
        result = Result.DONE if is_done else Result.SKIPPED
        return Done(
            outcomes=[outcome(verb, what, result, reason, detail, target=found.name)],
            undo={"verb": other, "session": f"{found.home}/{found.id}"} if is_done else None,
            more={"pinned": stands.pinned},
        )

    return proposed(
        asker,
        Draft(
            verb=verb,
            title=f"{verb.capitalize()} this session",
            says=found.title or found.name,
            home=found.home,
            session=found.id,
            target=found.name,
            reason=reason,
            steps=(Step(verb=verb, what=found.name, why=_WHY[verb]),),
            reversible=True,
            undoing=ANY_TIME,
            work=work,
        ),
    )


def _marked(
    estate: Estate, session: Session, entry: Entry, *, pinned: bool
) -> tuple[bool, Session]:
    """Whether it was marked, and the session as it stands then: its home may pin it as well."""
    is_new = session.pinned is not pinned
    if is_new or session.home != NATIVE:
        mark = (entry, estate.clock.now())
        estate.ledger.book.mark(session.ref, pinned=pinned, noted=mark)
    if not pinned and (record := estate.records.get(session.home)) is not None:
        observe_home(estate, estate.homes[session.home], record, anew=True)
    found = estate.ledger.index.find(session.home, session.id)
    return is_new, next(iter(found), session)
