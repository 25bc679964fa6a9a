"""Is the database of a home sound as a file?"""

from __future__ import annotations

from collections.abc import Iterator

from sexton.homes.hermes.condition import Storage
from sexton.homes.hermes.findings.finding import Finding, Level, Names, share, size

MUCH_UNUSED = 10_000_000
LONG_LOG = 64_000_000
_MENDED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))
"""Releases of SQLite that keep a log and its restart apart; each mends its own line."""


def storage_findings(storage: Storage, names: Names) -> Iterator[Finding]:
    """Unused pages, a log that grows, an engine with a known fault."""
    if storage.free_bytes > max(MUCH_UNUSED, storage.bytes // 4):
        yield Finding(
            code="unused_pages",
            level=Level.COSTLY,
            words=f"{size(storage.free_bytes)} of the database's {size(storage.bytes)} "
            f"({share(storage.free_bytes, storage.bytes)}) are unused",
            cost="disk that is given back only while no Hermes runs",
            repair=names.hermes("sessions", "optimize"),
            bytes=storage.free_bytes,
        )
    if storage.wal_bytes > max(LONG_LOG, storage.bytes // 4):
        yield Finding(
            code="long_log",
            level=Level.COSTLY,
            words=f"the database's log has grown to {size(storage.wal_bytes)}",
            cost="every read goes through it; some process reads without ever finishing",
            repair=names.hermes("gateway", "restart"),
            bytes=storage.wal_bytes,
        )
    if storage.is_wal and not is_mended(storage.version):
        version = ".".join(map(str, storage.version))
        yield Finding(
            code="old_sqlite",
            level=Level.HINT,
            words=f"the database was last written by SQLite {version}",
            cost="releases before 3.44.6, 3.50.7 and 3.51.3 can damage a database that several "
            "processes write to at once",
            repair="run Hermes with a Python whose sqlite3 is 3.51.3 or newer",
        )


def is_mended(version: tuple[int, int, int]) -> bool:
    """Whether that SQLite can be trusted with several writers; an unknown one is."""
    line = next((each for each in _MENDED if each[:2] == version[:2]), None)
    return version == (0, 0, 0) or version >= (line or _MENDED[-1])
