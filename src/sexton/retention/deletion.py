"""How does what was put away leave its home, once its copy is safe, and what stays after all?

The ledger comes first: until a session is gone from a foreign home too, its copy in the vault and
the state of the file say that it is on its way, and whoever recovers brings it to an end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sexton.core.plan import Reason
from sexton.core.session import NATIVE, State
from sexton.retention.home_storage import OF_HOME, TOGETHER, as_text
from sexton.retention.model import FileContent, Holds, Part, VaultFile, VaultState
from sexton.retention.removal_context import Means

STAYS = Reason("changed", "it was changed in its home while it was being removed")


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


def let_stay(
    means: Means, file: VaultFile, states: Mapping[int, State], cut: Collection[str]
) -> None:
    """Take sessions back that did not leave their home; what is missing of those cut is added."""
    if not states:
        return
    if cut:
        with means.rows_of(file.home).returning() as put_back:
            for content in means.look(file, lambda vault: vault.read(file.name, file.written))[1]:
                if content.row["id"] in cut and content.row["ref"] in states:
                    put_back(content.row[OF_HOME], content.messages)
    parts = [Part(ref, (), state) for ref, state in states.items()]
    entry = means.entry("restore", file.receipt, STAYS)
    means.ledger.removal.put_back(file, parts, entry, means.clock.now())


def leave_again(means: Means, file: VaultFile) -> None:
    """Complete what somebody else began, as the copy itself says what was to leave."""
    inside = {each.ref for each in means.ledger.vault.inside(file)}
    states: dict[int, State] = {}
    refs: dict[str, int] = {}
    together: dict[str, dict[str, str]] = {}
    for content in means.look(file, lambda vault: vault.read(file.name, file.written))[1]:
        ref, id = int(content.row["ref"]), str(content.row["id"])
        if ref in inside:
            states[ref], refs[id] = State(content.row["state"]), ref
            group = together.setdefault(content.row[TOGETHER], {})
            group[id] = as_text(content.row[OF_HOME])
    gone = means.rows_of(file.home).remove(list(together.values()), begun=True).gone
    staying = {ref: states[ref] for id, ref in refs.items() if id not in gone}
    let_stay(means, file, staying, refs.keys() - gone)
