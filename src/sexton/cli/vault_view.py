"""How is what lies in the vault shown?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice

from sexton.cli.cli_homes import wanted_home
from sexton.cli.terminal import Column, table
from sexton.core.wording import ago, ahead, number, remaining, size
from sexton.retention.removal_context import Means
from sexton.retention.removal_ports import VaultFile, VaultState, WantedFiles
from sexton.retention.vault_ports import VaultKind
from sexton.wiring import Sexton

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


def with_left(opened: Sexton, found: Iterable[VaultFile]) -> Iterator[tuple[VaultFile, int]]:
    """Vault files with the number of sessions that are still in each."""
    rest = iter(found)
    while some := list(islice(rest, CHUNK)):
        left = opened.ledger.vault.left(some)
        yield from ((each, left[each.ref]) for each in some)


def show_files(opened: Sexton, found: Iterable[VaultFile]) -> None:
    """A table of vault files."""
    host, now = means_of(opened).host, opened.clock.now()
    table(_COLUMNS, (_row(each, left, host, now) for each, left in with_left(opened, found)))


def _row(each: VaultFile, left: int, host: str, now: datetime) -> tuple[str, ...]:
    state = each.state.value if each.state is not VaultState.KEPT else ""
    elsewhere = "" if each.host == host else f"on {each.host}"
    return (
        each.receipt,
        ago(each.made_at, now),
        "-" if each.expires_at is None else ahead(each.expires_at, now),
        each.source,
        remaining(left, each.written.sessions) if each.holds == "sessions" else "-",
        number(each.written.files),
        size(each.written.bytes),
        " ".join(filter(None, (state, elsewhere))) or "kept",
        each.name[:8],
    )
