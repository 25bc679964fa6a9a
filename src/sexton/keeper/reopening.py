"""Which sessions did an apply end, and how are they opened again?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

from sexton.core.plan import INTENDED, JournalEntry, Reason, Result
from sexton.core.record import record, replace
from sexton.core.session import NATIVE, Session
from sexton.errors import NothingToUndo
from sexton.finalizers.model import FinalizationState, Wanted
from sexton.homes.home_ports import Ended, Sighting
from sexton.keeper.keeper_context import Estate, Rules, rules_now
from sexton.resets.policy import reset_reason
from sexton.retention.model import AWAY
from sexton.retention.undo import UNDO
from sexton.store.journal import Entry
from sexton.store.ledger import Ledger

PAGE = 500
REAP = "reap"
ENDING = (REAP, "end")
TOLD = 20
"""So many sessions are remarked upon; a receipt may stand for very many."""


@record
class Remark:
    """What a person should know of a session that was opened again, or was not."""

    session: str
    says: str


@record
class Reopened:
    """How many sessions are open again, how many stay as they are, and what is to be said of some.

    `begun` is how much of the work that their end had brought about was begun, and stays done.
    """

    sessions: int = 0
    stayed: int = 0
    begun: int = 0
    remarks: tuple[Remark, ...] = ()


NOTHING = Reopened()


def ended_by(ledger: Ledger, receipt: str) -> dict[str, list[Ended]]:
    """The sessions that a receipt stands for having ended, by home."""
    found: dict[str, list[Ended]] = {}
    for home, each in _ends(ledger, receipt):
        found.setdefault(home, []).append(each)
    return found


def may_revive(estate: Estate, receipt: str) -> bool:
    """Whether any session that a receipt ended would be opened again, as far as can be told."""
    first = list(islice(_ends(estate.ledger, receipt), TOLD))
    return len(first) == TOLD or any(staying(estate, *each) is None for each in first)


def revive(
    estate: Estate, ended: Mapping[str, Sequence[Ended]], receipt: str, undone: str
) -> Reopened:
    """Open the sessions again that have neither gone on as another one nor ended anew since.

    What a foreign home shows of them then is known at once.
    """
    done = NOTHING
    reason = Reason(UNDO, f"undoes {undone}")
    entry = Entry(
        actor=estate.actor, receipt=receipt, action="revive", result="done", reason=reason
    )
    for home, ends in ended.items():
        done = _and(done, _revive_in(estate, home, ends, entry))
    return done


def something_opened(done: Reopened) -> None:
    """NothingToUndo, with what is the matter, unless something was opened again."""
    if not done.sessions:
        raise NothingToUndo("; ".join(f"{each.session} {each.says}" for each in done.remarks[:3]))


def staying(estate: Estate, home: str, ended: Ended) -> str | None:
    """Why a session would not be opened again, as far as the ledger knows; None if it would."""
    if home not in estate.homes:
        return f"the home '{home}' is not attached here"
    if home != NATIVE:  # which only the home itself can tell
        return None
    found = estate.ledger.index.find(home, ended.id)
    return _keeping(estate.ledger, found[0], ended) if found else "it is gone"


def would_revive(estate: Estate, ended: Mapping[str, Sequence[Ended]]) -> Reopened:
    """What `revive` would do, as far as can be told before."""
    why = [
        (f"{home}/{each.id}", staying(estate, home, each)) for home in ended for each in ended[home]
    ]
    left = [
        Remark(session=name, says=f"would stay as it is: {words}") for name, words in why if words
    ]
    return Reopened(sessions=len(why) - len(left), stayed=len(left), remarks=tuple(left[:TOLD]))


def _keeping(ledger: Ledger, session: Session, ended: Ended) -> str | None:
    """Why a session of our own can not be opened again."""
    if session.is_open or session.state in AWAY:
        return f"it is {session.state}"
    newer = ledger.book.current(session.key) if session.key else None
    if newer is not None:
        return f"its conversation goes on in {newer.name}"
    later = ledger.journal.page(session, None, None, PAGE)
    if any(each.action == "revive" and each.ref > ended.entry for each in later):
        return f"it was opened again since, and has ended anew: {session.end_reason}"
    return None


def _revive_in(estate: Estate, home: str, ended: Sequence[Ended], entry: Entry) -> Reopened:
    now, rules, opened = estate.clock.now(), rules_now(estate), []
    over = {each.id: _ended_at(estate.ledger, home, each.id) for each in ended}
    if home in estate.homes:
        opened = estate.homes[home].revive(ended, entry, rules.schedule, now)
    if record := estate.records.get(home):
        spared = [replace(each, spared_at=now) for each in opened]
        opened = [replace(each, due_at=rules.schedule(each).at) for each in spared]
        seen = Sighting(seen=tuple(opened))
        estate.ledger.homes.store(record, seen, record.rules, now)
    again = {each.id for each in opened}
    left = [each for each in ended if each.id not in again]
    remarks = [*_remarks_on_left(estate, home, left), *_remarks_on_open(rules, opened, now)]
    return Reopened(
        sessions=len(opened),
        stayed=len(left),
        begun=sum(_begun(estate.ledger, home, each.id, over[each.id]) for each in opened),
        remarks=tuple(remarks[:TOLD]),
    )


def _remarks_on_left(estate: Estate, home: str, left: Sequence[Ended]) -> Iterator[Remark]:
    for each in left[:TOLD]:
        why = staying(estate, home, each) or _seen_staying(estate.ledger, home, each.id)
        yield Remark(session=f"{home}/{each.id}", says=f"stays as it is: {why}")


def _seen_staying(ledger: Ledger, home: str, id: str) -> str:
    """Why a foreign home did not open a session again, as far as was seen of it."""
    if any(found.is_open for found in ledger.index.find(home, id)):
        return "it is open"  # it was opened already, or was not ended at all
    return "it has gone on since, or ended anew"


def _remarks_on_open(rules: Rules, opened: Sequence[Session], now: datetime) -> Iterator[Remark]:
    """What would be over by its rules, and stays all the same because a person has undone it."""
    for each in opened[:TOLD]:
        policy = rules.reset_policy(each)
        used = replace(each, spared_at=None)
        reason = None if policy is None or each.pinned else reset_reason(used, policy, now)
        if reason is not None:
            says = f"stays open for now, although {reason.text}"
            yield Remark(session=f"{each.home}/{each.id}", says=says)


def _ended_at(ledger: Ledger, home: str, id: str) -> datetime | None:
    found = ledger.index.find(home, id)
    return found[0].ended_at if found else None


def _begun(ledger: Ledger, home: str, id: str, over: datetime | None) -> int:
    """How much of the work that was owed for an end is not to be withdrawn any more."""
    work = ledger.finalizing.page(Wanted(home=home, session=id), None, PAGE)
    fresh = FinalizationState.PENDING
    return sum(each.owed_at == over and (each.state, each.claim) != (fresh, 0) for each in work)


def _and(one: Reopened, other: Reopened) -> Reopened:
    return Reopened(
        sessions=one.sessions + other.sessions,
        stayed=one.stayed + other.stayed,
        begun=one.begun + other.begun,
        remarks=(*one.remarks, *other.remarks)[:TOLD],
    )


def _ends(ledger: Ledger, receipt: str) -> Iterator[tuple[str, Ended]]:
    """Newest first, so that what was done is told before what was meant.

    What nobody told as done may have been all the same, if whoever did it died between the two.
    The home looks at when each was ended, and opens none that was not.
    """
    told: set[tuple[str, str]] = set()
    for entry in _entries(ledger, receipt):
        if entry.home is None or entry.action not in ENDING:
            continue
        if entry.result == Result.DONE and entry.session is not None:
            told.add((entry.home, entry.session))
            yield entry.home, _end(entry, entry.session)
        elif entry.result == INTENDED:
            meant = [id for id in entry.sessions if (entry.home, id) not in told]
            still = [id for id in meant if not _ended_later(ledger, entry, id)]
            yield from ((entry.home, _end(entry, id)) for id in still)


def _end(entry: JournalEntry, id: str) -> Ended:
    reaped = entry.action == REAP
    return Ended(id=id, at=entry.at, entry=entry.ref, why=entry.reason.text, reaped=reaped)


def _ended_later(ledger: Ledger, meant: JournalEntry, id: str) -> bool:
    """Whether something else has ended it since it was meant to be: that has its own receipt."""
    return any(
        each.action in ENDING and each.result == Result.DONE and each.ref > meant.ref
        for session in ledger.index.find(meant.home, id)
        for each in ledger.journal.page(session, None, None, PAGE)
    )


def _entries(ledger: Ledger, receipt: str) -> Iterator[JournalEntry]:
    before: int | None = None
    while page := ledger.journal.page(None, receipt, before, PAGE):
        yield from page
        before = page[-1].ref
