"""How is a session ended, pinned or brought back from a page?"""

from __future__ import annotations

from starlette.responses import Response

from sexton.core.plan import Reason
from sexton.core.session import Session
from sexton.core.wording import counted
from sexton.errors import InputInvalid
from sexton.keeper.apply import new_receipt
from sexton.operations.verbs import endable, plan_end
from sexton.processes.listed import of_session
from sexton.processes.policy import listed, running
from sexton.retention.model import AWAY, removed
from sexton.retention.recover import recover
from sexton.retention.undo import removed_with, undo
from sexton.web.answers.errands import propose_pin
from sexton.web.desk import Desk
from sexton.web.pages.acts.act_proposal import Proposal, asked, done, proposed
from sexton.web.pages.deeds import Deed, Deeds
from sexton.web.pages.planning import plan_page
from sexton.web.pages.session_page import named
from sexton.web.proposals import Step
from sexton.web.rendering import session_href

ASKED = Reason("closed", "ended by an operator on the dashboard")


def ending(desk: Desk, home: str, id: str, *, force: bool) -> Response:
    """The plan that ends one session; the guards are those of `plan_end`."""
    found, estate = named(desk, home, id), desk.lookout.fresh()
    plan = plan_end(estate, found, ASKED, force=force)
    return plan_page(
        desk, plan, page="sessions", title="End this session",
        says=_in_use(desk, endable(estate, found)), back=session_href(home, id),
    )  # fmt: skip


def _in_use(desk: Desk, found: Session) -> str:
    """What goes on in it, for who is about to end it."""
    words, estate = ["Whoever still writes to it is refused from then on."], desk.lookout.fresh()
    if estate.is_busy(found):
        words.insert(0, "A turn is running in it right now.")
    if left := running(of_session(estate, found)):
        words.append(f"It has processes: {listed(left)}.")
    return " ".join(words)


def pinning(desk: Desk, home: str, id: str, *, pinned: bool) -> Response:
    """What a pin, or its removal, would do."""
    found = named(desk, home, id)
    return asked(
        desk,
        "sessions",
        propose_pin(desk, f"{home}/{id}", pinned=pinned),
        title="Pin this session" if pinned else "Unpin this session",
        says=found.title or found.name,
        back=session_href(home, id),
    )


def restoring(desk: Desk, home: str, id: str) -> Response:
    """What comes back with a session that was put away."""
    found = _away(desk, home, id)
    files, refs = removed_with(desk.house.ledger, found)
    steps = [
        Step(
            kind="restore",
            verb="bring back",
            what=f"what of it is in {each.kind} file {each.name[:8]}",
            why=f"put away under receipt {each.receipt}",
        )
        for each in files
    ]
    return proposed(
        desk,
        "vault",
        Proposal(
            title="Bring this session back",
            says=f"{counted(len(refs), 'session')}: with the rest of its conversation and all "
            "that descends from it.",
            steps=steps,
            verb="Bring back",
            undoing="Nothing is lost by it; it can be put away again.",
            action="/act/restore",
            back=session_href(home, id),
            fields=(("home", home), ("id", id)),
        ),
    )


def restore(desk: Desk, deeds: Deeds, home: str, id: str) -> Response:
    """Bring a session back with all that belongs to it."""
    estate, receipt = desk.lookout.fresh(), new_receipt()
    assert estate.removing is not None
    recover(estate.removing, estate.evidence, receipt)
    files, refs = removed_with(desk.house.ledger, _away(desk, home, id))
    back = list(undo(estate.removing, files, receipt, refs))
    for each in back:
        if each.trouble is not None:
            raise each.trouble
    words = f"{counted(sum(each.sessions for each in back), 'session')} brought back"
    return done(deeds, receipt, Deed(words=words))


def _away(desk: Desk, home: str, id: str) -> Session:
    found = named(desk, home, id)
    if found.state not in AWAY:
        raise InputInvalid(f"{found.name} is not put away", hint=f"It is {found.state}.")
    if desk.house.ledger.vault.of_session(found.ref) is None:
        raise removed(found.id, found.state, None)
    return found
