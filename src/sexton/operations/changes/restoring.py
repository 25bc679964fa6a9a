"""`restore` and `undo`: bring back what was removed, and open again what was ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sexton.core.plan import Reason, Result
from sexton.core.session import Session
from sexton.core.wording import counted, size
from sexton.errors import InputInvalid, NothingToUndo, SessionNotFound, SextonError
from sexton.homes.home_ports import Ended
from sexton.keeper.keeper_context import Estate
from sexton.keeper.reopening import (
    NOTHING,
    Reopened,
    ended_by,
    revive,
    something_opened,
    staying,
)
from sexton.operations import said
from sexton.operations import thing_records as things
from sexton.operations.asker import Asker
from sexton.operations.changes.applying import mend
from sexton.operations.questions.home_questions import check_home
from sexton.operations.verb_proposal import Done, Draft, Going, Proposal, Step, outcome, proposed
from sexton.retention.model import AWAY, Holds, VaultFile, removed
from sexton.retention.removal_context import Means
from sexton.retention.restore import Restored
from sexton.retention.undo import UNDO, archived_files, files_to_undo, removed_with
from sexton.retention.undo import undo as bring_back

RECENT = 100


def restore(
    asker: Asker, *, session: str, home: str | None = None, source: str | None = None
) -> Proposal:
    """Bring back a session that was put away, with all its messages and files.

    The rest of its conversation comes with it, and all sessions that descend from it and are put
    away, too. Where only its files were archived, these come back.
    """
    check_home(asker, home)
    found = asker.find(session)
    if (found.home, found.source) != (home or found.home, source or found.source):
        raise SessionNotFound(f"{found.name} is of '{found.home}' and from '{found.source}'")
    files, only = _put_away(asker, found)
    says = "With the rest of its conversation and all that descends from it."
    if only:
        says = f"{counted(len(only), 'session')}: {says[0].lower()}{says[1:]}"
    reason = Reason("asked", asker.words)

    def work(receipt: str, going: Going) -> Done:
        mend(asker, receipt)
        now, refs = _put_away(asker, asker.find(f"{found.home}/{found.id}"))
        return _restored(asker, "restore", now, receipt, going, only=refs)

    return proposed(
        asker,
        Draft(
            verb="restore",
            title="Bring this session back",
            says=says,
            home=found.home,
            session=found.id,
            target=found.name,
            reason=reason,
            steps=[_step(asker, each) for each in files],
            undoing="Nothing is lost by it; it can be put away again.",
            work=work,
        ),
    )


def undo(
    asker: Asker, *, receipt: str, home: str | None = None, source: str | None = None
) -> Proposal:
    """Bring back what was removed under a receipt, and open again what was ended.

    Sessions come back with all their messages and files. A file is never written over another
    one. Sessions that were ended are opened again, unless their conversation has gone on in another
    one since; who held one before is refused.
    """
    check_home(asker, home)
    ended, files = _undoable(asker, receipt, home, source)
    estate, reason = asker.estate(ended), Reason(UNDO, f"undoes {receipt}")
    steps = [_step(asker, each) for each in files]
    steps += [_reopening(estate, of, each) for of, ends in ended.items() for each in ends]

    def work(again: str, going: Going) -> Done:
        mend(asker, again)
        ends, found = _undoable(asker, receipt, home, source)
        opened = revive(asker.estate(ends), ends, again, receipt) if ends else NOTHING
        if not found:
            something_opened(opened)
        return _restored(
            asker, "undo", found, again, going, reason=reason, ended=ends, opened=opened
        )

    return proposed(
        asker,
        Draft(
            verb="undo",
            title=f"Undo {receipt[:12]}",
            says=_says(sum(map(len, ended.values())), len(files)),
            home=None,
            session=None,
            target=receipt,
            reason=reason,
            steps=steps,
            undoing="A file is never written over another one. The plan can be applied again.",
            work=work,
        ),
    )


def restore_files(asker: Asker, files: Sequence[VaultFile]) -> Proposal:
    """Bring back all that is in some files of the vault."""
    return proposed(
        asker,
        Draft(
            verb="restore",
            title="Bring these files back",
            home=None,
            session=None,
            target=counted(len(files), "file"),
            reason=Reason("asked", asker.words),
            steps=[_step(asker, each) for each in files],
            undoing="Nothing is lost by it; it can be put away again.",
            work=lambda receipt, going: _after_mending(asker, files, receipt, going),
        ),
    )


def _after_mending(asker: Asker, files: Sequence[VaultFile], receipt: str, going: Going) -> Done:
    mend(asker, receipt)
    return _restored(asker, "restore", files, receipt, going)


def _undoable(
    asker: Asker, receipt: str, home: str | None, source: str | None
) -> tuple[dict[str, list[Ended]], list[VaultFile]]:
    """What a receipt ended and removed, of one home and source or of any."""
    ledger = asker.house.ledger

    def source_of(name: str, id: str) -> str | None:
        return next((each.source for each in ledger.index.find(name, id)), None)

    ended = {
        name: chosen
        for name, ends in ended_by(ledger, receipt).items()
        if home in (None, name)
        and (chosen := [each for each in ends if source in (None, source_of(name, each.id))])
    }
    files = [
        file
        for file in files_to_undo(_means(asker, ()), receipt, required=not ended)
        if home in (None, file.home) and source in (None, file.source)
    ]
    if not (files or ended):
        raise NothingToUndo(f"receipt {receipt} stands for nothing like that")
    return ended, files


def _put_away(asker: Asker, found: Session) -> tuple[list[VaultFile], frozenset[int] | None]:
    """Where a session is with all that comes back with it; an error if it was not put away."""
    if found.state not in AWAY:
        return _files_alone(asker, found), None
    if asker.house.ledger.vault.of_session(found.ref) is None:
        raise removed(found.id, found.state, None)
    return removed_with(asker.house.ledger, found)


def _files_alone(asker: Asker, session: Session) -> list[VaultFile]:
    """The archives with the files of a session that stayed; the hint says where else these are."""
    ledger = asker.house.ledger
    entries = ledger.journal.page(session, None, None, RECENT)
    away = [each for each in entries if (each.action, each.result) == ("remove_files", "done")]
    receipts = list(dict.fromkeys(each.receipt for each in away if each.receipt))
    found = archived_files(_means(asker, {session.home}), session, receipts)
    if found:
        return found
    hint = f"It is {session.state}."
    for receipt in receipts:
        if ledger.vault.of_receipt(receipt):
            hint = f"Its files were put away; 'sexton undo {receipt}' brings them back."
            break
    raise InputInvalid(f"{session.name} is not archived", hint=hint)


def _restored(  # what came of sessions is told with what came of files
    asker: Asker,
    verb: str,
    files: Sequence[VaultFile],
    receipt: str,
    going: Going,
    *,
    reason: Reason | None = None,
    only: frozenset[int] | None = None,
    ended: Mapping[str, Sequence[Ended]] | None = None,
    opened: Reopened = NOTHING,
) -> Done:
    """Bring back what is in the files, until the caller wants to stop."""
    why = reason or Reason("asked", asker.words)
    back: list[Restored] = []
    for each in bring_back(_means(asker, {file.home for file in files}), files, receipt, only):
        back.append(each)
        going.tell(_outcome(verb, each, why))
        if going.stopping():
            break
    told = [_outcome(verb, each, why) for each in back]
    if ended:
        told.append(_opening(verb, ended, opened, why))
    files_told: said.Details = {"files": [things.restored(each) for each in back]}
    trouble: SextonError | None = next((each.trouble for each in back if each.trouble), None)
    return Done(
        outcomes=told,
        trouble=trouble,
        left=len(files) - len(back),
        more={**files_told, **things.reopened(opened)},
    )


def _outcome(verb: str, each: Restored, reason: Reason) -> said.Outcome:
    detail = (
        f"{counted(each.sessions, 'session')} and {counted(each.files, 'file')} brought back"
        if each.trouble is None
        else f"nothing came back: {each.trouble}"
    )
    if each.left and each.trouble is None:
        detail += f"; {counted(each.left, 'session')} could not be brought back"
    for place, aside in each.aside.items():
        detail += f"; another file is at {place} now, what was there is at {aside}"
    result = Result.DONE if each.trouble is None else Result.SKIPPED
    return outcome(verb, (each.file.home, None), result, reason, detail, target=each.file.name)


def _opening(
    verb: str, ended: Mapping[str, Sequence[Ended]], opened: Reopened, reason: Reason
) -> said.Outcome:
    """What came of opening sessions again, in one line: there may be very many."""
    only = next(iter(ended)) if len(ended) == 1 else None
    session = ended[only][0].id if only and len(ended[only]) == 1 else None
    result = Result.DONE if opened.sessions else Result.SKIPPED
    return outcome(verb, (only, session), result, reason, "; ".join(reopening(opened)))


def reopening(done: Reopened) -> list[str]:
    """Sentences for a person about sessions that were opened again, or were not."""
    words = [f"{counted(done.sessions, 'session')} opened again"] if done.sessions else []
    if done.stayed:
        words.append(f"{counted(done.stayed, 'session')} not opened again")
    if done.begun:
        jobs = counted(done.begun, "job")
        words.append(f"{jobs} had begun already and cannot be taken back")
    return [*words, *(f"{each.session} {each.says}" for each in done.remarks)]


def _step(asker: Asker, file: VaultFile) -> Step:
    left = asker.house.ledger.vault.left([file])[file.ref]
    inside = counted(file.written.files, "file")
    if file.holds is not Holds.FILES:
        inside = f"{counted(left, 'session')}, {inside}"
    where = f"from the {file.kind}, put away under receipt {file.receipt}"
    why = f"{file.source} of {file.home}, {size(file.written.raw_bytes)}, {where}"
    return Step(verb="restore", what=inside, why=why)


def _reopening(estate: Estate, home: str, ended: Ended) -> Step:
    why, what = staying(estate, home, ended), f"{home}/{ended.id}"
    if why is not None:
        return Step(verb="leave", what=what, why=why, spares=True)
    return Step(verb="reopen", what=what, why=f"it was ended: {ended.why}")


def _says(ended: int, files: int) -> str:
    words = []
    if ended:
        words.append(
            f"{counted(ended, 'session')} that ended would be opened again, where the conversation "
            "has not gone on since. Who held it before is refused; who comes next takes it up."
        )
    if files:
        words.append("Sessions come back with all their messages and files, exactly as they were.")
    return " ".join(words)


def _means(asker: Asker, homes: frozenset[str] | set[str] | tuple[str, ...]) -> Means:
    means = asker.estate(homes).removing
    assert means is not None
    return means
