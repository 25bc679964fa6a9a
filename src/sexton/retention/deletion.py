"""How does what was put away leave its home, once its copy is safe?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sexton.core.session import NATIVE
from sexton.retention.foreign import leave_again
from sexton.retention.model import FileContent, Holds, VaultFile, VaultState
from sexton.retention.removal_context import Means


def clear(
    means: Means,
    file: VaultFile,
    counts: Iterable[tuple[int, int]],
    seen: Mapping[str, Sequence[FileContent]],
) -> None:
    """Delete messages and files of removed sessions bit by bit; then the file is kept.

    `counts` are the sessions and how many messages each has, `seen` their files by owner.
    """
    for refs, count in _slices(means, counts):
        if not _clear_messages(means, file, refs, count):
            return  # taken over: whoever did it goes on
    if seen:
        means.files_of(file.home).remove(seen)
    means.ledger.removal.turn(file, VaultState.KEPT, None)


def clear_again(means: Means, file: VaultFile) -> None:
    """Complete what somebody else began; which files belong to it the copy itself says."""
    if file.holds is Holds.SESSIONS and file.home != NATIVE:
        leave_again(means, file)
    inside = means.ledger.vault.inside(file)
    seen: dict[str, Sequence[FileContent]] = {}
    here = {each.ref for each in inside}
    for content in means.look(file, lambda vault: vault.read(file.name, file.written))[1]:
        gone = file.holds is Holds.FILES or content.row["ref"] in here
        if content.owner is not None and gone:
            seen[content.owner] = tuple(content.files)
    ours = file.home == NATIVE
    clear(means, file, [(each.ref, each.message_count) for each in inside if ours], seen)


def _slices(means: Means, counts: Iterable[tuple[int, int]]) -> Iterator[tuple[list[int], int]]:
    refs: list[int] = []
    total = 0
    for ref, count in counts:
        if count and refs and total + count > means.pace.messages.now:
            yield refs, total
            refs, total = [], 0
        if count:
            refs.append(ref)
            total += count
    if refs:
        yield refs, total


def _clear_messages(means: Means, file: VaultFile, refs: Sequence[int], count: int) -> bool:
    """Delete all messages of some sessions, a long one's in several goes; False if it was lost."""
    pace, removal = means.pace, means.ledger.removal
    if len(refs) > 1 or count <= pace.messages.now:
        with pace.hold(pace.messages, count):
            return removal.clear(file, refs)
    while True:
        limit = pace.messages.now
        with pace.hold(pace.messages, limit):
            deleted = removal.clear_some(file, refs[0], limit)
        if deleted is None or deleted < limit:
            return deleted is not None
