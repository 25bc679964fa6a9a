"""How does a verified copy get into the vault before anything of it goes?

Whole sessions and files alone are copied alike: the intent is recorded, then the copy is written
and read back. What cannot be copied stays, and of a copy that nobody needs nothing is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from sexton.core.plan import ArchiveSession, RemoveFiles, Removing
from sexton.errors import SextonError
from sexton.retention.model import (
    FileChanged,
    Holds,
    Intent,
    SessionContent,
    VaultFile,
    VaultKind,
    Written,
)
from sexton.retention.removal_context import Means


def intend(means: Means, first: Removing | RemoveFiles, receipt: str) -> VaultFile:
    """Record that a vault file is going to be written; this process is at it from now on.

    The first action stands for all that go into the file.
    """
    if isinstance(first, RemoveFiles):
        archived, holds = first.archived, Holds.FILES
    else:
        archived, holds = isinstance(first, ArchiveSession), Holds.SESSIONS
    means.establish()
    intent = Intent(
        name=means.vault.new_name(),
        kind=VaultKind.ARCHIVE if archived else VaultKind.TRASH,
        holds=holds,
        home=first.seen.home,
        source=first.source,
        host=means.host,
        place=means.place,
        worker=means.worker(),
        receipt=receipt,
        expires_at=means.until(archived=archived),
    )
    file = means.ledger.removal.intend(intent, means.clock.now())
    means.busy.add(file.ref)
    return file


def write_copy(
    means: Means,
    file: VaultFile,
    contents: Callable[[], Iterable[SessionContent] | None],
    leave_out: Callable[[FileChanged], None],
) -> Written | None:
    """Write what `contents` says is left to go; None, with the file still intended, if nothing is.

    `leave_out` is told of each file that changed meanwhile. After any other failure nothing of
    the vault file is left.
    """
    header = means.header(file)
    try:
        while (going := contents()) is not None:
            try:
                return means.vault.write(file.name, header, going)
            except FileChanged as changed:
                leave_out(changed)
    except BaseException:
        with suppress(SextonError):  # what cannot be undone now is undone by `recover`
            give_up(means, file)
        raise
    return None


def give_up(means: Means, file: VaultFile) -> None:
    """Remove a copy of what is still where it was, and the record of it."""
    try:
        means.vault.remove(file.name)
        means.ledger.removal.forget(file)
    finally:
        means.busy.discard(file.ref)
