"""How is the trash emptied, and only of what nobody can want back any more?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from sexton.engine.removing.means import Means
from sexton.model.plan import Reason
from sexton.ports.removal import VaultFile

TOGETHER = 100

EXPIRED = Reason("expired", "its time in the trash is over")
ASKED = Reason("asked", "asked for, before its time in the trash was over")


def empty(
    means: Means, files: Iterable[VaultFile], receipt: str, *, deadline: datetime | None = None
) -> Iterator[tuple[VaultFile, bool]]:
    """Give up what is in the trash; by the deadline, or now, its time must be over.

    False of a file in which a session is pinned or its work not done, or that somebody is at.
    """
    for file in files:
        now = means.clock.now()
        reason = EXPIRED if file.expires_at is None or file.expires_at <= now else ASKED
        entry = means.entry("purge", receipt, reason)
        doomed = means.ledger.removal.purge(file, means.worker(), entry, deadline or now, now)
        if doomed is not None:
            means.busy.add(file.ref)
            try:
                means.unlink(doomed)
                means.ledger.removal.forget(doomed)
            finally:
                means.busy.discard(file.ref)
        yield file, doomed is not None


def empty_expired(means: Means, receipt: str) -> int:
    """Empty what is past its grace on this machine; how many files that were."""
    count = 0
    kept: set[int] = set()
    while True:
        found = means.ledger.vault.expired(means.host, means.clock.now(), TOGETHER + len(kept))
        fresh = [file for file in found if file.ref not in kept]
        if not fresh:
            return count
        for file, done in empty(means, fresh, receipt):
            count += done
            if not done:
                kept.add(file.ref)
