"""How is the vault emptied, and only of what nobody can want back any more?"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from datetime import datetime

from sexton.core.plan import Reason
from sexton.errors import VaultError
from sexton.retention.blast_radius import bounded
from sexton.retention.model import End, Holds, VaultFile, VaultKind
from sexton.retention.removal_context import Means
from sexton.store.journal import Entry

log = logging.getLogger("sexton.removing")

TOGETHER = 100
A_ROUND = 1000

EXPIRED = Reason("expired", "its time in the trash is over")
AGED = Reason("archive_age", "archived for longer than archive.max_age")
ASKED = Reason("asked", "asked for, before its time in the trash was over")


def empty(
    means: Means, files: Iterable[VaultFile], receipt: str, *, deadline: datetime | None = None
) -> Iterator[tuple[VaultFile, bool]]:
    """Give up what is in the trash; by the deadline, or now, its time must be over.

    False of a file in which a session is pinned or its work not done, or that somebody is at.
    VaultMissing, and nothing is given up, where a file can not be reached.
    """
    for file in files:
        means.check(file)
        now = means.clock.now()
        reason = EXPIRED if file.expires_at is None or file.expires_at <= now else ASKED
        end = _end(means, file, means.entry("purge", receipt, reason))
        doomed = means.ledger.removal.purge(end, means.worker(), deadline or now, now)
        if doomed is not None:
            means.owners.pop(file.ref, None)
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
        now, most = means.clock.now(), TOGETHER + len(kept)
        found = means.ledger.vault.expired(VaultKind.TRASH, means.host, now, most)
        fresh = [file for file in found if file.ref not in kept]
        if not fresh:
            return count
        for file in fresh:
            done = _emptied(means, file, receipt)
            count += done
            if not done:
                kept.add(file.ref)


def _emptied(means: Means, file: VaultFile, receipt: str) -> bool:
    """Whether a file was emptied; one that can not be reached now waits, and the log says so."""
    try:
        return all(done for _, done in empty(means, [file], receipt))
    except VaultError as trouble:
        if means.told.get(file.ref) != str(trouble):
            log.warning("the vault file %s is past its time and waits: %s", file.name, trouble)
        means.told[file.ref] = str(trouble)
        return False


def discard_aged(means: Means) -> int:
    """Put archives that are too old into the trash, as many as one day may take; how many.

    They keep the receipt by which they came: it brings them back for as long as they are there.
    One that stays, as it is pinned, takes the place of no other.
    """
    count = 0
    kept: set[int] = set()
    while True:
        tried = [(file.ref, _is_discarded(means, file)) for file in _aged(means, kept)]
        stay = {ref for ref, is_gone in tried if not is_gone}
        count += len(tried) - len(stay)
        if not stay:
            return count
        kept |= stay


def _aged(means: Means, kept: Collection[int]) -> list[VaultFile]:
    """The archives that are too old, but for those that are kept; as many as one day may take."""
    now, age = means.clock.now(), means.archive_age
    if age is None:  # what is stored may be of settings that hold no longer
        return []
    homes: defaultdict[str, list[tuple[VaultFile, datetime, int]]] = defaultdict(list)
    most = A_ROUND + len(kept)
    for file in means.ledger.vault.expired(VaultKind.ARCHIVE, means.host, now, most):
        if file.made_at + age <= now and file.ref not in kept:
            homes[file.home].append((file, file.made_at + age, file.written.sessions))
    removed_on = means.ledger.removable.removed_on
    allowed = (bounded(due, removed_on(home, now.date()), now)[0] for home, due in homes.items())
    return [file for some in allowed for file in some]


def _is_discarded(means: Means, file: VaultFile) -> bool:
    now = means.clock.now()
    end = _end(means, file, means.entry("discard", file.receipt, AGED))
    if means.ledger.removal.discard(end, now + means.grace, now) is None:
        return False
    means.owners.pop(file.ref, None)
    return True


def _end(means: Means, file: VaultFile, entry: Entry) -> End:
    """The end of a file, with the sessions whose files alone are in it, as far as it can be read.

    Those that stay, since one of them is pinned, are asked about on every sweep and read once.
    """
    owners = means.owners.get(file.ref, [])
    if file.holds is Holds.FILES and not owners:
        with suppress(VaultError):  # it goes all the same, and can be found in the trash
            inside = means.look(file, lambda vault: vault.read(file.name, file.written))[1]
            owners.extend(str(each.row["id"]) for each in inside)
            means.owners[file.ref] = owners
    return End(file=file, entry=entry, owners=owners)
