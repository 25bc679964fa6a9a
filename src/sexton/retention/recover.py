"""What did somebody leave behind who died while removing or restoring?"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping

from sexton.core.plan import Reason
from sexton.errors import HomeError, VaultError
from sexton.liveness.evidence import Evidence, Verdict
from sexton.liveness.model import Worker
from sexton.retention.deletion import clear_again
from sexton.retention.model import VaultFile, VaultState
from sexton.retention.removal_context import Means
from sexton.retention.restore import finish, remove_file

AGAIN = Reason("undo", "whoever brought it back died meanwhile")

log = logging.getLogger("sexton.removing")

Judge = Callable[[list[Worker]], Mapping[str, Evidence]]


def recover(means: Means, judge: Judge, receipt: str) -> int:
    """Complete what the dead began on this machine; how many files that were."""
    count = 0
    for file in _free(means, judge):
        taken = means.ledger.removal.turn(file, file.state, means.worker())
        if taken is None:
            continue  # somebody else completes it
        means.busy.add(file.ref)
        try:
            _complete(means, taken, receipt)
            count += 1
        except (VaultError, HomeError) as trouble:  # its disk or home may be away for a while
            if means.told.get(file.ref) != str(trouble):
                log.warning("the vault file %s waits: %s", file.name, trouble)
            means.told[file.ref] = str(trouble)
        finally:
            means.busy.discard(file.ref)
    return count


def _complete(means: Means, file: VaultFile, receipt: str) -> None:
    match file.state:
        case VaultState.WRITING:
            means.unlink(file)
            means.ledger.removal.forget(file)
        case VaultState.CLEARING:
            clear_again(means, file)
        case VaultState.RESTORING:
            finish(means, file, means.entry("restore", receipt, AGAIN))
        case VaultState.REMOVING:
            remove_file(means, file)
        case VaultState.KEPT:
            return


def _free(means: Means, judge: Judge) -> Iterator[VaultFile]:
    """Files that nobody is at any more: whoever was has left, or is proved to be dead."""
    found = means.ledger.vault.unfinished(means.host)
    if not found:
        return
    present = {worker.id: worker for worker in means.ledger.workers.all()}
    wanted = [present[each.worker] for each in found if each.worker in present]
    evidence = judge(wanted)
    me = means.worker()
    for file in found:
        if file.worker == me:
            if file.ref not in means.busy:
                yield file
        elif file.worker not in present or evidence[file.worker].verdict is Verdict.DEAD:
            yield file
