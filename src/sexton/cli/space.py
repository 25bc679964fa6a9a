"""How much room does Sexton itself take, and for what?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sexton.cli.terminal import Column, note, say, table
from sexton.core.session import NATIVE
from sexton.core.wording import counted, size
from sexton.errors import VaultError
from sexton.retention.disk_space import Space
from sexton.retention.file_scan import heaps
from sexton.retention.model import VaultKind, WantedFiles
from sexton.store.hygiene import LedgerSize
from sexton.wiring import Sexton

SMALL = 1_000_000_000
"""The tables of a larger file are not measured: that would go through all of it."""
PAGE = 1000

_TABLES = (Column("TABLE"), Column("SIZE", right=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Heap:
    """Some files: how many, and how big together."""

    files: int = 0
    bytes: int = 0

    def plus(self, bytes: int) -> Heap:
        return Heap(files=self.files + 1, bytes=self.bytes + bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What the ledger, its vault and the files of its sessions take, and what the disk has left.

    `stray` are files in the vault that the ledger does not know, `troubles` why some were not seen.
    """

    ledger: LedgerSize
    tables: dict[str, int]
    place: str
    archive: Heap
    trash: Heap
    stray: Heap
    files: Heap
    disk: Space
    troubles: tuple[str, ...] = ()


def measure(opened: Sexton) -> Room:
    """Look at what is ours; nothing is changed and no directory made."""
    estate = opened.estate()
    means, ledger = estate.removing, opened.ledger
    assert means is not None
    assert estate.space is not None
    kinds = {kind: Heap() for kind in VaultKind}
    known: set[str] = set()
    after = 0
    while page := ledger.vault.page(WantedFiles(), after, PAGE):
        for file in page:
            kinds[file.kind] = kinds[file.kind].plus(file.written.bytes)
            known.add(file.name)
        after = page[-1].ref
    troubles: list[str] = []
    stray = files = Heap()
    with _told(troubles):
        for name, bytes in means.vault.names():
            stray = stray if name in known else stray.plus(bytes)
    with _told(troubles):
        for each in heaps(means, NATIVE).values():
            files = files.plus(each.bytes)
    whole = ledger.hygiene.size()
    return Room(
        ledger=whole,
        tables=ledger.retained.tables() if whole.bytes < SMALL or ledger.is_shared else {},
        place=means.place,
        archive=kinds[VaultKind.ARCHIVE],
        trash=kinds[VaultKind.TRASH],
        stray=stray,
        files=files,
        disk=estate.space(),
        troubles=tuple(troubles),
    )


@contextmanager
def _told(troubles: list[str]) -> Iterator[None]:
    """A directory that can not be used is told of, and keeps nobody from looking at the rest."""
    try:
        yield
    except VaultError as trouble:
        troubles.append(f"{trouble}. {trouble.hint}")


def show(room: Room) -> None:
    """The sizes for a person."""
    used = {name: bytes for name, bytes in room.tables.items() if bytes}
    if used:
        table(_TABLES, ((name, size(bytes)) for name, bytes in used.items()))
    free = f"{size(room.ledger.free_bytes)} of the ledger unused"
    say(f"{free}; disk {size(room.disk.total)}, {size(room.disk.free)} free")
    stray = f", {counted(room.stray.files, 'stray file')}" if room.stray.files else ""
    say(
        f"vault {room.place}: archive {_words(room.archive)}, trash {_words(room.trash)}{stray}; "
        f"files of {counted(room.files.files, 'session')} ({size(room.files.bytes)})"
    )
    for each in room.troubles:
        note(each)


def shape(room: Room) -> dict[str, Any]:
    """The sizes for a program."""
    return {
        "free_bytes": room.ledger.free_bytes,
        "tables": room.tables,
        "vault": {
            "path": room.place,
            "archive": _shape(room.archive),
            "trash": _shape(room.trash),
            "stray": _shape(room.stray),
        },
        "files": {"sessions": room.files.files, "bytes": room.files.bytes},
        "troubles": list(room.troubles),
        "disk": {"total_bytes": room.disk.total, "free_bytes": room.disk.free},
    }


def _words(heap: Heap) -> str:
    return f"{counted(heap.files, 'file')} ({size(heap.bytes)})"


def _shape(heap: Heap) -> dict[str, int]:
    return {"files": heap.files, "bytes": heap.bytes}
