"""How are sessions put into the vault, so that at no moment anything is lost?

The intent is recorded, a verified copy is written, and only then does the ledger let go, of
exactly what is in the copy. Whoever dies in between leaves what `recover` completes. While the
ledger lets go of some, the copy of the next ones is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from sexton.core.plan import Removing
from sexton.core.record import replace
from sexton.core.session import State
from sexton.errors import SextonError
from sexton.retention.deletion import clear, let_stay
from sexton.retention.model import (
    Departure,
    Move,
    VaultFile,
    VaultKind,
    VaultState,
    Written,
)
from sexton.retention.protection import SPARED
from sexton.retention.removal_context import Means
from sexton.retention.vault_contents import Load, contents, take
from sexton.retention.verified_copy import give_up, intend, write_copy


class PutAway(NamedTuple):
    """The sessions that went, and why others were refused; the rest had moved on."""

    gone: frozenset[int]
    refused: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Copy:
    """Sessions of which there is a copy, and that are still where they were.

    Without a file nothing of them could be copied.
    """

    load: Load
    file: VaultFile | None = None
    written: Written | None = None


def put_away(
    means: Means,
    chunks: Iterable[Sequence[Removing]],
    receipt: str,
    allowed: Callable[[], bool],
    planned_at: datetime,
) -> Iterator[tuple[Sequence[Removing], PutAway | None]]:
    """Remove sessions chunk by chunk, each in a file of its own; None of what is not allowed now.

    What was brought back after it was planned stays. Stopping between two leaves a valid state.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="sexton-copy") as pool:
        ahead: tuple[Sequence[Removing], Future[Copy]] | None = None
        try:
            for chunk in chunks:
                ready, ahead = ahead, (chunk, pool.submit(_copy, means, chunk, receipt, planned_at))
                if ready is not None:
                    yield ready[0], _remove(means, ready[1].result(), allowed)
            if ahead is not None:
                last, ahead = ahead, None
                yield last[0], _remove(means, last[1].result(), allowed)
        finally:
            if ahead is not None:
                with suppress(SextonError):  # whoever stops here is told what stopped it
                    copy = ahead[1].result()
                    if copy.file is not None:
                        give_up(means, copy.file)


def _copy(means: Means, batch: Sequence[Removing], receipt: str, planned_at: datetime) -> Copy:
    """Write a verified copy of sessions that share a file; after a failure nothing is left."""
    load = take(means, batch, planned_at)
    if not load.actions:
        return Copy(load)
    file = intend(means, load.actions[0], receipt)
    written = write_copy(
        means,
        file,
        lambda: contents(means, load) if load.actions else None,
        lambda changed: load.leave_out([load.owners[changed.owner]], f"its file {changed}"),
    )
    return Copy(load, file, written)


def _remove(means: Means, copy: Copy, allowed: Callable[[], bool]) -> PutAway | None:
    """Let go of what is in the copy; if that is nothing, nothing of the file is left.

    Where it is not known whether the ledger has let go, the copy stays: `recover` finds out.
    """
    if copy.file is None:
        return PutAway(frozenset(), copy.load.refused)
    gone: frozenset[int] = frozenset()
    try:
        is_allowed = allowed()
        if is_allowed and copy.written is not None:
            gone = _let_go(means, copy.load, copy.file, copy.written)
    finally:
        means.busy.discard(copy.file.ref)
    if not gone:
        give_up(means, copy.file)
    return PutAway(gone, copy.load.refused) if is_allowed else None


def _let_go(means: Means, load: Load, file: VaultFile, written: Written) -> frozenset[int]:
    """In steps that nobody who writes notices; what is not moved yet simply stays for a while."""
    pace, gone = means.pace, frozenset[int]()
    left: list[tuple[int, int]] = []
    for moves in _steps(means, load):
        departure = _departure(means, file, load, written, moves)
        with pace.hold(pace.sessions, len(moves)):
            moved = means.ledger.removal.move(departure, means.clock.now())
        if moved:
            file = replace(file, state=VaultState.CLEARING, written=written)
            gone |= _leave_home(means, file, load, moves, moved) if load.taken else moved
        if not departure.at_once:
            left += [(move.ref, move.stored) for move in moves if move.ref in moved]
    if gone:
        named = [owner for ref, owner in load.named.items() if ref in gone]
        seen = {owner: load.files[owner].contents for owner in named}
        clear(means, file, left, seen)
    return gone


def _leave_home(
    means: Means, file: VaultFile, load: Load, moves: Sequence[Move], moved: frozenset[int]
) -> frozenset[int]:
    """Take sessions out of their foreign home, too; those that have changed there stay."""
    ids = {each.seen.ref: each.seen.id for each in load.actions}
    going = [
        {ids[each.ref]: load.taken[each.ref] for each in group}
        for _, group in groupby(
            (each for each in moves if each.ref in moved), key=attrgetter("conversation")
        )
    ]
    done = means.rows_of(file.home).remove(going)
    stayed = {ref for ref in moved if ids[ref] not in done.gone}
    refused = "it was changed in its home meanwhile"
    load.refused.update(dict.fromkeys(stayed, refused))
    let_stay(means, file, {ref: load.rows[ref].state for ref in stayed}, done.cut)
    return moved - stayed


def _steps(means: Means, load: Load) -> Iterator[list[Move]]:
    """Conversations that go together, as many as may go at once right now."""
    step: list[Move] = []
    for moves in load.moves():
        if step and len(step) + len(moves) > means.pace.sessions.now:
            yield step
            step = []
        step += moves
    if step:
        yield step


def _departure(
    means: Means, file: VaultFile, load: Load, written: Written, moves: Sequence[Move]
) -> Departure:
    archiving = file.kind is VaultKind.ARCHIVE
    first = load.actions[0]
    return Departure(
        file=file,
        written=written,
        state=State.ARCHIVED if archiving else State.TRASHED,
        moves=moves,
        entry=means.entry(first.kind, file.receipt, first.reason),
        spares=None if archiving else means.clock.now() - SPARED,
        day=means.day(file.kind),
        at_once=sum([move.stored for move in moves]) <= means.pace.messages.now,
        lasting=bool(load.files),
    )
