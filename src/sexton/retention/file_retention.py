"""How are files of sessions put away whose records stay?

As whole sessions are: the intent is recorded, a verified copy is written, and only then do
exactly those files go that are in the copy. Whoever dies in between leaves what `recover`
completes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sexton.core.plan import RemoveFiles
from sexton.core.record import replace
from sexton.core.session import Session
from sexton.retention.deletion import clear
from sexton.retention.model import (
    FilesOfSession,
    Release,
    SessionContent,
    VaultFile,
    VaultState,
    Written,
)
from sexton.retention.removal_context import Means
from sexton.retention.verified_copy import give_up, intend, write_copy

MOST_BYTES = 64_000_000
MOST_SESSIONS = 500


@dataclass(slots=True)
class _Load:
    """Files on their way into one vault file, by owner, and why those of others stay."""

    home: str
    actions: dict[str, RemoveFiles]
    files: dict[str, FilesOfSession] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)

    def leave_out(self, owner: str, why: str) -> None:
        self.refused.setdefault(owner, why)
        self.files.pop(owner, None)


def file_chunks(actions: Iterable[RemoveFiles]) -> Iterator[list[RemoveFiles]]:
    """Actions whose files share a vault file."""
    batch: list[RemoveFiles] = []
    weight = 0
    for action in actions:
        # Of what is archived each session has a file of its own, so that it comes back alone.
        full = len(batch) >= MOST_SESSIONS or weight + action.size > MOST_BYTES or action.archived
        if batch and (full or _kind(batch[0]) != _kind(action)):
            yield batch
            batch, weight = [], 0
        batch.append(action)
        weight += action.size
    if batch:
        yield batch


def put_files_away(means: Means, batch: Sequence[RemoveFiles], receipt: str) -> dict[str, str]:
    """Remove the files of sessions that still are as they were seen; why those of others stay."""
    home = batch[0].seen.home
    files = means.files[home]
    load = _Load(home, {_owner(means, each): each for each in batch})
    _leave_out_moved(means, load)
    for owner, found in files.of(
        [each for each in load.actions if each not in load.refused]
    ).items():
        if found.refused:
            path, why = found.refused[0]
            load.leave_out(owner, f"its file {'/'.join(path)!r} {why}")
        elif found.bytes != load.actions[owner].size:
            load.leave_out(owner, "its files have changed meanwhile")
        else:
            load.files[owner] = found
    if load.files:
        _put_away(means, load, intend(means, batch[0], receipt))
    return {
        action.seen.id: load.refused.get(owner, "it has no files any more")
        for owner, action in load.actions.items()
        if owner not in load.files
    }


def _owner(means: Means, action: RemoveFiles) -> str:
    """Whose the files are; those of nobody are known by their owner's name only."""
    seen = action.seen
    return means.files[seen.home].owner(seen.id) if seen.ref else seen.id


def _put_away(means: Means, load: _Load, file: VaultFile) -> None:
    try:
        _carry(means, file, load)
    finally:
        means.busy.discard(file.ref)


def _leave_out_moved(means: Means, load: _Load, moved: frozenset[int] = frozenset()) -> None:
    """Leave alone what was used, opened or pinned since it was planned, and what is known to be."""
    ids = [each.seen.id for each in load.actions.values()]
    now = {each.session.id: each.session for each in means.ledger.retained.named(load.home, ids)}
    for owner, action in load.actions.items():
        why = _moved(action, now.get(action.seen.id))
        if why is None and action.seen.ref in moved:
            why = "its end-of-session work is to be done"
        if why is not None:
            load.leave_out(owner, why)


def _moved(action: RemoveFiles, session: Session | None) -> str | None:
    seen = action.seen
    if not seen.ref:
        return None if session is None else "a session owns it now"
    if session is None or session.ref != seen.ref:
        return "it is gone"
    if session.is_open:
        return "it is open again"
    same = (session.epoch, session.active_at) == (seen.epoch, seen.active_at)
    return "it was used meanwhile" if not same else "it was pinned" if session.pinned else None


def _carry(means: Means, file: VaultFile, load: _Load) -> None:
    """Write the copy and let go of what is in it; without either, nothing of the file is left.

    Where it is not known whether the ledger has let go, the copy stays: `recover` finds out.
    """
    while (written := _copied(means, file, load)) is not None:
        moved = means.ledger.removal.release(
            _release(means, file, load, written), means.clock.now()
        )
        if moved is None:  # taken over: whoever did it removes the copy
            load.files.clear()
            return
        if not moved:
            released = replace(file, state=VaultState.CLEARING, written=written)
            seen = {owner: files.contents for owner, files in load.files.items()}
            clear(means, released, [], seen)
            return
        _leave_out_moved(means, load, moved)
        means.vault.remove(file.name)
    give_up(means, file)


def _copied(means: Means, file: VaultFile, load: _Load) -> Written | None:
    """A verified copy of exactly what is left to go; None if nothing is."""
    return write_copy(
        means,
        file,
        lambda: _contents(load) if load.files else None,
        lambda changed: load.leave_out(changed.owner, f"its file {changed}"),
    )


def _release(means: Means, file: VaultFile, load: _Load, written: Written) -> Release:
    going = [load.actions[owner] for owner in load.files]
    return Release(
        file=file,
        written=written,
        seen=[(each.seen, each.reason) for each in going],
        entry=means.entry("remove_files", file.receipt, going[0].reason),
        day=means.day(file.kind),
    )


def _contents(load: _Load) -> Iterator[SessionContent]:
    for owner, files in list(load.files.items()):
        seen = load.actions[owner].seen
        yield SessionContent(
            row={"ref": seen.ref, "id": seen.id},
            directories=files.directories,
            owner=owner,
            files=files.contents,
        )


def _kind(action: RemoveFiles) -> tuple[str, str, bool]:
    return action.seen.home, action.source, action.archived
