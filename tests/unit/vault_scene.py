"""Sessions to put away, and what they look like when they come back."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from sexton.retention.model import (
    FileContent,
    Header,
    SessionContent,
    StoredMessage,
    VaultKind,
    Written,
)
from sexton.retention.vault.directory import FileVault

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["HEADER", "Plain", "file", "plain", "put", "session", "taken", "zstd"]

HEADER = Header(
    kind=VaultKind.TRASH,
    home="native",
    ledger="3f2a",
    schema_version=6,
    made_at=datetime(2026, 3, 1, 12, tzinfo=UTC),
    receipt="gc-1",
)

Plain = tuple[
    dict[str, Any],
    str | None,
    list[StoredMessage],
    list[dict[str, Any]],
    list[tuple[str, ...]],
    list[tuple[Any, ...]],
]


def session(
    id: str = "s1",
    said: Sequence[bytes] = (b"hello", b"world"),
    files: Iterable[FileContent] = (),
) -> SessionContent:
    """A session with a row of every kind of value."""
    messages = [
        StoredMessage(seq, 1_700_000_000_000_000 + seq, "user", 1, content, None)
        for seq, content in enumerate(said, 1)
    ]
    row = {"ref": 7, "id": id, "title": "Ümlaut", "parent": None, "cost": 1.5, "memo": b"\xff\0"}
    return SessionContent(row=row, messages=messages, owner="abc", files=list(files))


def file(
    *path: str, data: bytes = b"data", mode: int = 0o640, mtime_ns: int = 1_600_000_000_123_456_789
) -> FileContent:
    """A file that is nowhere but in memory."""

    def chunks() -> Iterator[bytes]:
        for at in range(0, len(data), 1000):
            yield data[at : at + 1000]

    return FileContent(
        path=path, mode=mode, mtime_ns=mtime_ns, size=len(data), inode=99, chunks=chunks
    )


def plain(content: SessionContent) -> Plain:
    """All there is of a session, to be compared."""
    messages = list(content.messages)
    files = [
        (each.path, each.mode, each.mtime_ns, each.size, each.inode, b"".join(each.chunks()))
        for each in content.files
    ]
    finalizations = [dict(row) for row in content.finalizations]
    directories = list(content.directories)
    return dict(content.row), content.owner, messages, finalizations, directories, files


def put(vault: FileVault, *contents: SessionContent) -> tuple[str, Written]:
    """Put sessions into a new file."""
    name = vault.new_name()
    return name, vault.write(name, HEADER, contents)


def taken(vault: FileVault, name: str, written: Written) -> list[Plain]:
    """What comes back of a file."""
    header, sessions = vault.read(name, written)
    assert header == HEADER
    return [plain(each) for each in sessions]
