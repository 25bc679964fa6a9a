"""How are sessions put into the vault, so that at no moment anything is lost?

The intent is recorded, a verified copy is written, and only then does the ledger let go, of
exactly what is in the copy. Whoever dies in between leaves what `recover` completes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from sexton.engine.removing.clear import clear
from sexton.engine.removing.load import Load, contents, take
from sexton.engine.removing.means import Means
from sexton.errors import SextonError
from sexton.model.plan import ArchiveSession, Removing
from sexton.model.record import replace
from sexton.model.session import State
from sexton.policies.shielding import SPARED
from sexton.ports.removal import Departure, Intent, VaultFile, VaultState
from sexton.ports.vault import FileChanged, Header, VaultKind, Written


class PutAway(NamedTuple):
    """The sessions that went, and why others were refused; the rest had moved on."""

    gone: frozenset[int]
    refused: Mapping[int, str]


def put_away(means: Means, batch: Sequence[Removing], receipt: str) -> PutAway:
    """Remove sessions that share a file."""
    load = take(means, batch)
    if not load.actions:
        return PutAway(frozenset(), load.refused)
    means.establish()
    file = means.ledger.removal.intend(_intent(means, load, receipt), means.clock.now())
    means.busy.add(file.ref)
    try:
        return PutAway(_carry(means, file, load), load.refused)
    finally:
        means.busy.discard(file.ref)


def _carry(means: Means, file: VaultFile, load: Load) -> frozenset[int]:
    """Write the copy and let go of what is in it; without either, nothing of the file is left."""
    gone: frozenset[int] = frozenset()
    try:
        written = _write(means, file, load)
        if written is not None:
            departure = _departure(means, file, load, written)
            with means.pace.hold(means.pace.sessions, len(departure.moves)):
                gone = means.ledger.removal.move(departure, means.clock.now())
    except BaseException:
        with suppress(SextonError):  # what can not be undone now is undone by `recover`
            _give_up(means, file)
        raise
    if not gone:
        _give_up(means, file)
        return gone
    counts = [(move.ref, move.stored) for move in departure.moves if move.ref in gone]
    seen = {owner: load.files[owner] for ref, owner in load.named.items() if ref in gone}
    clear(means, replace(file, state=VaultState.CLEARING, written=written), counts, seen)
    return gone


def _write(means: Means, file: VaultFile, load: Load) -> Written | None:
    """A verified copy of all that is left to go; None if nothing is."""
    header = Header(
        kind=file.kind,
        home=file.home,
        ledger=means.ledger.id,
        schema_version=means.ledger.schema,
        made_at=file.made_at,
        receipt=file.receipt,
    )
    while load.actions:
        try:
            return means.vault.write(file.name, header, contents(means, load))
        except FileChanged as changed:
            load.leave_out([load.owners[changed.owner]], f"its file {changed}")
    return None


def _departure(means: Means, file: VaultFile, load: Load, written: Written) -> Departure:
    archiving = file.kind is VaultKind.ARCHIVE
    first = load.actions[0]
    return Departure(
        file=file,
        written=written,
        state=State.ARCHIVED if archiving else State.TRASHED,
        moves=load.moves(),
        entry=means.entry(first.kind, file.receipt, first.reason),
        spares=None if archiving else means.clock.now() - SPARED,
        day=means.day,
    )


def _intent(means: Means, load: Load, receipt: str) -> Intent:
    first = load.actions[0]
    archiving = isinstance(first, ArchiveSession)
    return Intent(
        name=means.vault.new_name(),
        kind=VaultKind.ARCHIVE if archiving else VaultKind.TRASH,
        home=first.seen.home,
        source=first.source,
        host=means.host,
        place=means.place,
        worker=means.worker(),
        receipt=receipt,
        expires_at=None if archiving else means.clock.now() + means.grace,
    )


def _give_up(means: Means, file: VaultFile) -> None:
    means.vault.remove(file.name)
    means.ledger.removal.forget(file)
