"""What can be brought back, and what came of it?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sexton.core.plan import Reason
from sexton.core.session import Session, State
from sexton.errors import HomeError, NothingToUndo, VaultError
from sexton.retention.garbage_collection import family_of
from sexton.retention.model import Holds, VaultFile, VaultKind
from sexton.retention.removal_context import Means
from sexton.retention.restore import Restored, bring_back
from sexton.store.ledger import Ledger

UNDO = "undo"
"""The code of the reason that every entry of an undo has."""
IN_VAULT = frozenset({State.ARCHIVED, State.TRASHED})


def files_to_undo(means: Means, receipt: str, *, required: bool = True) -> list[VaultFile]:
    """The vault files that an apply left; NothingToUndo if there are none any more but must be."""
    found = means.ledger.vault.of_receipt(receipt)
    if found or not required:
        return found
    entries = means.ledger.journal.page(None, receipt, None, 1)
    if not entries:
        raise NothingToUndo(f"the journal knows no receipt {receipt}")
    if entries[0].reason.code == UNDO:
        raise NothingToUndo(
            f"receipt {receipt} is of an undo, which is not undone itself",
            hint="'sexton plan' and 'sexton gc' show what is due; applying that does it again.",
        )
    raise NothingToUndo(f"nothing of receipt {receipt} is in the trash or the archive any more")


def removed_with(ledger: Ledger, session: Session) -> tuple[list[VaultFile], frozenset[int]]:
    """Where a removed session is with its conversation and all that descends from it."""
    members = ledger.removable.relatives(session.home, named=[session.id], below=())
    family = family_of(ledger, session.home, members)
    refs = frozenset(each.ref for each in family if each.state in IN_VAULT)
    files = [ledger.vault.of_session(ref) for ref in sorted(refs)]
    return list({each.ref: each for each in files if each is not None}.values()), refs


def archived_files(means: Means, session: Session, receipts: Iterable[str]) -> list[VaultFile]:
    """The archives with the files of a session that is here, among those of some receipts."""
    found = [file for receipt in receipts for file in means.ledger.vault.of_receipt(receipt)]
    return [file for file in found if _holds_files_of(means, file, session)]


def _holds_files_of(means: Means, file: VaultFile, session: Session) -> bool:
    kind = (file.kind, file.holds, file.home)
    if kind != (VaultKind.ARCHIVE, Holds.FILES, session.home) or file.host != means.host:
        return False
    inside = means.look(file, lambda vault: vault.read(file.name, file.written))[1]
    return [each.row["id"] for each in inside] == [session.id]


def undo(
    means: Means,
    files: Sequence[VaultFile],
    receipt: str,
    only: frozenset[int] | None = None,
) -> Iterator[Restored]:
    """Bring back what is in the files, all or some of it; stopping between two files is fine.

    One that can not be restored is told with what is the matter, and keeps none of the others.
    """
    for file in files:
        reason = Reason(UNDO, f"undoes {file.receipt}")
        try:
            back = bring_back(means, file, receipt, reason, only)
        except (VaultError, HomeError) as trouble:
            left = len(means.ledger.vault.inside(file))
            back = Restored(file=file, left=left, trouble=_lasting(means, file) or trouble)
        yield back


def _lasting(means: Means, file: VaultFile) -> NothingToUndo | None:
    """That a file is gone because nothing is in it any more, if that is so."""
    if any(each.ref == file.ref for each in means.ledger.vault.of_receipt(file.receipt)):
        return None
    return NothingToUndo(f"what was in {file.name} was given up or brought back meanwhile")


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
