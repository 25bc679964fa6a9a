"""How does what was removed come back, exactly as it was?"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path, PurePath

from sexton.core.plan import Reason
from sexton.core.record import made, record, replace
from sexton.core.session import State
from sexton.errors import (
    HomeError,
    HomeOutgrown,
    NothingToUndo,
    VaultBusy,
    VaultError,
    VaultOutdated,
)
from sexton.retention.home_storage import OF_HOME, PutRow
from sexton.retention.model import (
    HERE,
    Holds,
    Part,
    PutBack,
    SessionContent,
    VaultFile,
    VaultState,
    export_name,
)
from sexton.retention.removal_context import Means
from sexton.store.journal import Entry

log = logging.getLogger("sexton.removing")

TOGETHER = 1_000_000
"""So many bytes of messages are stored at once."""


@record
class Restored:
    """What came back from a file, what is still in it, and files whose own place was taken.

    `aside` has for each of these where our copy of it is. With a `trouble` nothing came back.
    """

    file: VaultFile
    sessions: int = 0
    left: int = 0
    files: int = 0
    aside: Mapping[str, str] = made(dict)
    trouble: VaultError | HomeError | NothingToUndo | None = None


def bring_back(
    means: Means,
    file: VaultFile,
    receipt: str,
    reason: Reason,
    only: frozenset[int] | None = None,
) -> Restored:
    """Restore what is in a file that nobody else is at, all or only some of its sessions.

    A file with nothing left in it is removed.
    """
    if not _is_free(means, file):
        raise VaultBusy(f"somebody else is at the vault file {file.name} already")
    means.look(file, lambda vault: vault.verify(file.name, file.written))
    _check_schema(means, file)
    taken = means.ledger.removal.turn(file, VaultState.RESTORING, means.worker())
    if taken is None:
        raise VaultBusy(f"somebody else is at the vault file {file.name} already")
    means.busy.add(file.ref)
    try:
        return finish(means, taken, means.entry("restore", receipt, reason), only)
    except HomeOutgrown as changed:
        raise _given_out(means, file, str(changed)) from None
    finally:
        means.busy.discard(file.ref)


def _is_free(means: Means, file: VaultFile) -> bool:
    """Whoever still removes what is in the copy would go on with files that are back by then.

    What we took over from the dead and could not complete is free.
    """
    if file.state is VaultState.KEPT:
        return True
    taken_over = file.state in (VaultState.CLEARING, VaultState.RESTORING)
    return taken_over and file.worker == means.worker() and file.ref not in means.busy


def finish(
    means: Means, file: VaultFile, entry: Entry, only: frozenset[int] | None = None
) -> Restored:
    """Restore what is still in a file that was taken on, also after somebody else began it."""
    arriving = _Arriving(means, file, entry)
    try:
        arriving.all(only)
    finally:
        inside = {each.ref for each in means.ledger.vault.inside(file)}
        if inside or not arriving.done:
            means.ledger.removal.turn(file, VaultState.KEPT, None)
    if not inside:
        _remove_or_leave(means, file)
    return Restored(
        file=file,
        sessions=arriving.sessions,
        left=len(inside if only is None else inside & only),
        files=arriving.files,
        aside=arriving.aside,
    )


def _remove_or_leave(means: Means, file: VaultFile) -> None:
    """All of it is back: a file that can not be removed now is removed by `recover`."""
    try:
        remove_file(means, file)
    except VaultError as trouble:
        log.warning("the vault file %s is empty and waits: %s", file.name, trouble)


def remove_file(means: Means, file: VaultFile) -> None:
    """Remove a file that nobody needs any more, and then its row."""
    doomed = means.ledger.removal.turn(file, VaultState.REMOVING, file.worker)
    if doomed is not None:
        means.unlink(doomed)
        means.ledger.removal.forget(doomed)


class _Arriving:
    """Sessions on their way back from one file."""

    def __init__(self, means: Means, file: VaultFile, entry: Entry) -> None:
        self._means = means
        self._file = file
        self._entry = entry
        self._parts: list[Part] = []
        self._weight = 0
        self._opened = ExitStack()
        self._to_home: PutRow | None = None
        self.sessions = 0
        self.files = 0
        self.aside: dict[str, str] = {}
        self.done = False

    def all(self, only: frozenset[int] | None) -> None:
        """Bring back what is in the file and nowhere else, if only some of it is wanted that."""
        inside = {each.ref for each in self._means.ledger.vault.inside(self._file)}
        inside = inside if only is None else inside & only
        only_files = self._file.holds is Holds.FILES
        with self._opened:
            for content in self._contents():
                # Here the one before has been read to its end, and was whole.
                if self._weight > TOGETHER or len(self._parts) >= self._means.pace.sessions.now:
                    self._store()
                if only_files or content.row["ref"] in inside:
                    self._take(content, only_files=only_files)
            self._store()
        self.done = True

    def _contents(self) -> Iterator[SessionContent]:
        file = self._file
        return self._means.look(file, lambda vault: vault.read(file.name, file.written))[1]

    def _take(self, content: SessionContent, *, only_files: bool) -> None:
        ref = int(content.row["ref"])
        if OF_HOME in content.row and not self._returned(content):
            return
        messages = []
        for message in content.messages:
            messages.append(message)
            self._weight += len(message.content or b"") + len(message.extra or b"")
            if self._weight > TOGETHER:
                self._parts.append(Part(ref, messages, None))
                self._store()
                messages = []
        if content.owner is not None:
            self._note(content.owner, self._put_back(content))
        if only_files:
            told = replace(self._entry, home=self._file.home, session=content.row["id"])
            self._means.ledger.journal.write([told], self._means.clock.now())
        else:
            state = State(content.row["state"])
            assert state in HERE
            self._parts.append(Part(ref, messages, state))

    def _returned(self, content: SessionContent) -> bool:
        """Whether a session is in its foreign home again, whole; its messages are used up then."""
        if self._to_home is None:
            home = self._means.rows_of(self._file.home)
            self._to_home = self._opened.enter_context(home.returning())
        return self._to_home(content.row[OF_HOME], content.messages)

    def _put_back(self, content: SessionContent) -> PutBack:
        """Before the session is seen again, so that it never lacks what it had."""
        assert content.owner is not None
        files = self._means.files_of(self._file.home)
        return files.put_back(content.owner, content.files, content.directories)

    def _note(self, owner: str, done: PutBack) -> None:
        self.files += done.files
        for path, aside in done.aside.items():
            self.aside[str(PurePath(owner, *path))] = str(PurePath(owner, *aside))

    def _store(self) -> None:
        if self._parts:
            pace, count = self._means.pace, sum(len(part.messages) for part in self._parts)
            with pace.hold(pace.messages, count):
                back = self._means.ledger.removal.put_back(
                    self._file, self._parts, self._entry, self._means.clock.now()
                )
            self.sessions += len(back)
        self._parts, self._weight = [], 0


def _check_schema(means: Means, file: VaultFile) -> None:
    """Refuse what a newer Sexton wrote, and give it out for people to read."""
    header, _ = means.look(file, lambda vault: vault.read(file.name, file.written))
    if header.schema_version <= means.ledger.schema:
        return
    written = f"the vault file {file.name} was written for schema {header.schema_version}"
    raise _given_out(means, file, f"{written}, the ledger has {means.ledger.schema}")


def _given_out(means: Means, file: VaultFile, why: str) -> VaultOutdated:
    """What can not be restored is written out for people; the file itself stays as it is."""
    target = Path(means.place, export_name(file.name))
    if not target.exists():
        means.look(file, lambda vault: vault.export(file.name, file.written, target))
    return VaultOutdated(f"{why}; what is in it is in {target}")
