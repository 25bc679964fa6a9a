"""What is removed with: the ledger, the vault, the files of sessions, and who does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TypeVar

from sexton.core.machine_ports import Clock
from sexton.core.plan import Reason
from sexton.core.session import NATIVE
from sexton.errors import HomeNotFound, VaultElsewhere, VaultMissing
from sexton.retention.garbage import Collection
from sexton.retention.home_storage import HomeRows, SessionFiles
from sexton.retention.model import Header, VaultFile, VaultKind, WantedFiles
from sexton.retention.removal_pace import Pace
from sexton.retention.vault.directory import FileVault
from sexton.store.journal import Entry
from sexton.store.ledger import Ledger

T = TypeVar("T")

PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """New vault files go to `vault`, which is at `place`; older ones may lie elsewhere.

    `grace` is how long trash is kept, `archive_age` how long archives are if not for ever,
    `garbage` what counts as such unless somebody says otherwise.
    `busy` are the files this process is at, `told` why others wait, `owners` whose files are in
    some; `drift` is how far the wall clock was ahead of the elapsed time when it began. What is
    removed unattended counts against its day. Once it is `stopping`, nothing more is begun. `rows`
    are the records of sessions that a foreign home keeps in a database of its own.
    """

    ledger: Ledger
    clock: Clock
    vault: FileVault
    place: str
    vault_at: Callable[[str], FileVault]
    files: Mapping[str, SessionFiles]
    rows: Mapping[str, HomeRows] = field(default_factory=dict)
    worker: Callable[[], str]
    host: str
    grace: timedelta
    archive_age: timedelta | None = None
    garbage: Collection
    actor: str
    pace: Pace
    drift: float
    unattended: bool = False
    stopping: Callable[[], bool] = lambda: False
    busy: set[int] = field(default_factory=set)
    told: dict[int, str] = field(default_factory=dict)
    owners: dict[int, list[str]] = field(default_factory=dict)
    established: set[str] = field(default_factory=set)

    def day(self, kind: VaultKind) -> date | None:
        """The day against which a removal counts: none at a person's word, and none to archive."""
        counts = self.unattended and kind is VaultKind.TRASH
        return self.clock.now().date() if counts else None

    def header(self, file: VaultFile) -> Header:
        """What a vault file says of itself."""
        return Header(
            kind=file.kind,
            home=file.home,
            ledger=self.ledger.id,
            schema_version=self.ledger.schema,
            made_at=file.made_at,
            receipt=file.receipt,
        )

    def until(self, *, archived: bool) -> datetime | None:
        """How long a file that is written now is kept; None is for ever."""
        age = self.archive_age if archived else self.grace
        return None if age is None else self.clock.now() + age

    def establish(self) -> None:
        """See that the vault can be used before anything is intended.

        The directory is made for the first file; one that was there once is not made again.
        """
        self.vault.establish(anew=self.place not in self.established and not self._has_files())
        self.established.add(self.place)

    def _has_files(self) -> bool:
        """Whether the ledger knows of files there."""
        after = 0
        while page := self.ledger.vault.page(WantedFiles(), after, PAGE):
            if any((each.place, each.host) == (self.place, self.host) for each in page):
                return True
            after = page[-1].ref
        return False

    def look(self, file: VaultFile, ask: Callable[[FileVault], T]) -> T:
        """Ask about a file where it is: beside the ledger now, or where it was written."""
        if file.host != self.host:
            raise VaultElsewhere(f"the vault file {file.name} is on the machine {file.host}")
        try:
            return ask(self.vault)
        except VaultMissing:
            if file.place == self.place:
                raise
        return ask(self.vault_at(file.place))

    def files_of(self, home: str) -> SessionFiles:
        """The files of a home's sessions; HomeNotFound if they can not be reached from here."""
        if home not in self.files:
            raise HomeNotFound(
                f"the files of the home '{home}' can not be reached from here",
                hint="List the home in the settings, or name it with --home.",
            )
        return self.files[home]

    def keeps_records(self, home: str) -> bool:
        """Whether sessions of a home can be removed from here, and not only their files."""
        return home == NATIVE or home in self.rows

    def rows_of(self, home: str) -> HomeRows:
        """The records of a foreign home's sessions; HomeNotFound if they can not be reached."""
        if home not in self.rows:
            raise HomeNotFound(
                f"the sessions of the home '{home}' can not be reached from here",
                hint="List the home in the settings, or name it with --home.",
            )
        return self.rows[home]

    def check(self, file: VaultFile) -> None:
        """VaultMissing where the disk of a file is away: then nothing of it is given up."""
        self._vault_of(file).establish(anew=False)

    def unlink(self, file: VaultFile) -> None:
        """Remove a file, wherever it is; where its disk is away, VaultMissing."""
        self._vault_of(file).remove(file.name)

    def _vault_of(self, file: VaultFile) -> FileVault:
        here = file.place == self.place or any(name == file.name for name, _ in self.vault.names())
        return self.vault if here else self.vault_at(file.place)

    def entry(self, action: str, receipt: str, reason: Reason) -> Entry:
        """What the journal is to say about sessions."""
        return Entry(actor=self.actor, receipt=receipt, action=action, result="done", reason=reason)
