"""A program that fills a vault on a disk with too little room for it."""

from __future__ import annotations

import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path

from sexton.errors import VaultFull
from sexton.retention.vault.directory import FileVault
from tests.unit.vault_scene import plain, put, session, taken

PAGE = 4096


def fill(disk: Path) -> None:
    """Write with less and less ballast; each time it is refused and nothing left, or whole."""
    vault = FileVault(disk / "vault")
    vault.establish()
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"\0" * PAGE):
            pass
    content = session(said=[os.urandom(50_000)])
    refused = kept = 0
    for _ in range(25):
        os.truncate(ballast, ballast.stat().st_size - PAGE)
        try:
            name, written = put(vault, content)
        except VaultFull:
            refused += 1
            assert list((disk / "vault").iterdir()) == []
        else:
            kept += 1
            assert taken(vault, name, written) == [plain(content)]
            vault.remove(name)
    print("refused" if refused > 5 else refused, "kept" if kept > 5 else kept)


def reach_the_limit(disk: Path) -> None:
    """Write more than a file may hold, then less."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    vault = FileVault(disk / "vault")
    vault.establish()
    try:
        put(vault, session(said=[os.urandom(50_000)]))
    except VaultFull:
        print(list((disk / "vault").iterdir()))
    small = session(said=[os.urandom(5_000)])
    print(taken(vault, *put(vault, small)) == [plain(small)])


if __name__ == "__main__":
    {"fill": fill, "limit": reach_the_limit}[sys.argv[1]](Path(sys.argv[2]))
