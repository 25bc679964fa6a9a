"""What can be brought back, and what came of it?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sexton.engine.removing.means import Means
from sexton.engine.removing.restore import Restored, bring_back
from sexton.errors import NothingToUndo
from sexton.model.plan import Reason
from sexton.ports.removal import VaultFile


def files_to_undo(means: Means, receipt: str, *, required: bool = True) -> list[VaultFile]:
    """The vault files that an apply left; NothingToUndo if there are none any more but must be."""
    found = means.ledger.vault.of_receipt(receipt)
    if found or not required:
        return found
    if not means.ledger.journal.page(None, receipt, None, 1):
        raise NothingToUndo(f"the journal knows no receipt {receipt}")
    raise NothingToUndo(f"nothing of receipt {receipt} is in the trash or the archive any more")


def undo(means: Means, files: Sequence[VaultFile], receipt: str) -> Iterator[Restored]:
    """Bring back what is in the files, one after the other; stopping between two is fine."""
    for file in files:
        reason = Reason("undo", f"undoes {file.receipt}")
        yield bring_back(means, file, receipt, reason)
