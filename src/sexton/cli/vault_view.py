"""How is what lies in the vault shown?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from sexton.bootstrap import Sexton
from sexton.cli.homes import wanted_home
from sexton.cli.terminal import Column, table
from sexton.cli.wording import ago, ahead, iso, number, size
from sexton.engine.removing.means import Means
from sexton.engine.removing.restore import Restored
from sexton.ports.removal import VaultFile, VaultState, WantedFiles
from sexton.ports.vault import VaultKind

CHUNK = 500
_COLUMNS = (
    Column("RECEIPT"),
    Column("MADE"),
    Column("UNTIL"),
    Column("SOURCE", cut=True),
    Column("SESSIONS", right=True),
    Column("FILES", right=True, spare=True),
    Column("SIZE", right=True),
    Column("STATE", cut=True),
    Column("NAME", spare=True),
)


def means_of(opened: Sexton) -> Means:
    """What a command removes and restores with."""
    found = opened.estate().removing
    assert found is not None
    return found


def files(
    opened: Sexton, kind: VaultKind | None, home: str | None, source: str | None
) -> Iterator[VaultFile]:
    """The vault files that are meant, in the order they were made."""
    name = None if home is None else wanted_home(opened, home).name
    wanted = WantedFiles(kind=kind, home=name, source=source)
    after = 0
    while page := opened.ledger.vault.page(wanted, after, CHUNK):
        yield from page
        after = page[-1].ref


def show_files(found: Iterable[VaultFile], host: str, now: datetime) -> None:
    """A table of vault files."""
    table(_COLUMNS, (_row(each, host, now) for each in found))


def shape(each: VaultFile) -> dict[str, Any]:
    """A vault file for programs."""
    return {
        "name": each.name,
        "kind": each.kind.value,
        "holds": each.holds.value,
        "home": each.home,
        "source": each.source,
        "host": each.host,
        "place": each.place,
        "state": each.state.value,
        "worker": each.worker,
        "receipt": each.receipt,
        "made_at": iso(each.made_at),
        "expires_at": iso(each.expires_at),
        "sessions": each.written.sessions,
        "messages": each.written.messages,
        "files": each.written.files,
        "bytes": each.written.bytes,
        "raw_bytes": each.written.raw_bytes,
        "sha256": each.written.sha256,
    }


def restored_shape(each: Restored) -> dict[str, Any]:
    """What came back from a vault file, for programs."""
    return {
        "name": each.file.name,
        "sessions": each.sessions,
        "files": each.files,
        "left": each.left,
        "aside": dict(each.aside),
        "trouble": None if each.trouble is None else str(each.trouble),
    }


def _row(each: VaultFile, host: str, now: datetime) -> tuple[str, ...]:
    state = each.state.value if each.state is not VaultState.KEPT else ""
    elsewhere = "" if each.host == host else f"on {each.host}"
    return (
        each.receipt,
        ago(each.made_at, now),
        "-" if each.expires_at is None else ahead(each.expires_at, now),
        each.source,
        number(each.written.sessions) if each.holds == "sessions" else "-",
        number(each.written.files),
        size(each.written.bytes),
        " ".join(filter(None, (state, elsewhere))) or "kept",
        each.name[:8],
    )
