"""With what are sessions removed here, by this process's own settings?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sexton.core.message import Message
from sexton.core.plan import Plan
from sexton.core.record import record
from sexton.core.session import NATIVE, Session
from sexton.errors import InputInvalid
from sexton.keeper.apply import new_receipt
from sexton.keeper.reopening import NOTHING, Reopened, ended_by, revive, something_opened
from sexton.liveness.process_identity import host
from sexton.retention.garbage import Collection
from sexton.retention.garbage_collection import collect
from sexton.retention.recover import recover
from sexton.retention.removal_context import Means
from sexton.retention.removal_pace import Pace
from sexton.retention.removed_transcript import transcript
from sexton.retention.restore import Restored
from sexton.retention.undo import files_to_undo, undo
from sexton.retention.vault.directory import FileVault
from sexton.retention.vault.vault_codec import Format
from sexton.settings.settings_values import ArchiveFormat
from sexton.wiring.home_files import beside, own_files

if TYPE_CHECKING:
    from sexton.sessions.agent_worker import AgentWorker
    from sexton.wiring import Sexton

_ENDINGS = {ArchiveFormat.ZSTD: Format.ZSTD, ArchiveFormat.GZIP: Format.GZIP}
NEAR = "localhost"
_WORDS = ("empty_hours", "trivial_days", "trivial_max", "source")


def means(opened: Sexton) -> Means:
    """What this process removes with, as a worker of its own once it is at it."""
    settings = opened.settings
    format = _ENDINGS[settings.archive.format]
    place = settings.archive.directory or beside(opened.ledger, "vault")
    return Means(
        ledger=opened.ledger,
        clock=opened.clock,
        vault=FileVault(place, format, with_parents=settings.archive.directory is None),
        place=str(place),
        vault_at=lambda where: FileVault(Path(where), format),
        files={NATIVE: own_files(opened.ledger)},
        worker=_hand(opened),
        # A file is used from one machine only, whatever that is called today.
        host=host() if opened.ledger.is_shared else NEAR,
        grace=settings.trash.grace,
        archive_age=settings.archive.max_age,
        garbage=garbage(opened, True),
        actor=opened.actor,
        pace=Pace(opened.clock, opened.ledger.hygiene.checkpoint),
        drift=opened.clock.now().timestamp() - opened.clock.elapsed(),
    )


def _hand(opened: Sexton) -> Callable[[], str]:
    hands: list[AgentWorker] = []

    def worker() -> str:
        if not hands or not hands[-1].is_open:
            hands.append(opened.worker(kind="remover"))
        return hands[-1].id

    return worker


def garbage(opened: Sexton, wanted: Collection | Mapping[str, Any] | bool) -> Collection:
    """What is taken for garbage: as the settings say, but for what is said here."""
    if isinstance(wanted, Collection):
        return wanted
    said = wanted if isinstance(wanted, Mapping) else {}
    unknown = said.keys() - set(_WORDS)
    if unknown:
        raise InputInvalid(
            f"garbage has no '{min(unknown)}'", hint=f"Known are {', '.join(_WORDS)}."
        )
    usual = opened.settings.gc
    return Collection(
        empty_after=timedelta(hours=said.get("empty_hours", usual.empty_hours)),
        trivial_after=timedelta(days=said.get("trivial_days", usual.trivial_days)),
        trivial_max=said.get("trivial_max", usual.trivial_max),
        source=said.get("source"),
    )


def plan_collection(
    opened: Sexton, home: str | None, wanted: Collection | Mapping[str, Any] | bool
) -> Plan:
    """What would be put into the trash as garbage. Changes nothing."""
    return collect(opened.estate(), home or NATIVE, garbage(opened, wanted))


@record
class Undone:
    """What came of undoing an apply; `receipt` is the one of the undoing itself."""

    receipt: str
    files: tuple[Restored, ...] = ()
    opened: Reopened = NOTHING


def undo_receipt(opened: Sexton, receipt: str) -> Undone:
    """Bring back all that an apply removed, and open what it ended; NothingToUndo if it can not."""
    estate = opened.estate()
    assert estate.removing is not None
    again = new_receipt()
    recover(estate.removing, estate.evidence, again)
    ended = ended_by(opened.ledger, receipt)
    found = files_to_undo(estate.removing, receipt, required=not ended)
    revived = revive(estate, ended, again, receipt)
    if not found:
        something_opened(revived)
    return Undone(receipt=again, files=tuple(undo(estate.removing, found, again)), opened=revived)


def undo_all(opened: Sexton, receipt: str) -> list[Restored]:
    """The same for a program; what stood in the way of some of it is raised last."""
    done = undo_receipt(opened, receipt).files
    for each in done:
        if each.trouble is not None:
            raise each.trouble
    return list(done)


def read_removed(opened: Sexton, session: Session, since: int, through: int) -> Iterator[Message]:
    """The messages of a session that is in the vault."""
    removing = opened.estate().removing
    assert removing is not None
    return transcript(removing, session, since, through)
