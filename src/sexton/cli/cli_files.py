"""How is a file written that only its owner may read, and that replaces nothing by accident?"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from sexton.errors import InputInvalid

_BESIDE_A_LEDGER = ("", "-wal", "-shm", "-journal")
_OF_THE_SYSTEM = (("/", "dev"), ("/", "proc"), ("/", "sys"))


@contextmanager
def private_file(path: Path, *, force: bool, ledger: Path | None) -> Iterator[IO[str]]:
    """A file that appears under its name only when it is complete.

    An existing file is kept, and is an error, unless it is to be replaced; what is no regular
    file, and the ledger, never is.
    """
    obstacle = _obstacle(path) or _part_of(ledger, path)
    if obstacle:
        raise InputInvalid(
            f"{path} can not be written: it is {obstacle}",
            hint="Name another file, or '-' for standard output.",
        )
    if not force and os.path.lexists(path):
        raise _exists(path)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with open(descriptor, "w", encoding="utf-8", newline="") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            _publish(draft, path, force=force)
        finally:
            with suppress(FileNotFoundError):
                draft.unlink()
    except OSError as problem:
        raise InputInvalid(
            f"{path} can not be written: {problem.strerror or problem}",
            hint="Name a file in a directory you may write to.",
        ) from None


def _publish(draft: Path, path: Path, *, force: bool) -> None:
    if force:
        draft.replace(path)
        return
    try:
        os.link(draft, path)  # unlike a rename, this never replaces a file that came in between
    except FileExistsError:
        raise _exists(path) from None


def _obstacle(path: Path) -> str | None:
    """What is at the path, if it is neither a regular file nor a link to one that a user made."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return None  # nothing is there, or writing says what is wrong
    if stat.S_ISDIR(mode):
        return "a directory"
    if not stat.S_ISREG(mode):
        return "no regular file"
    # Where /dev/stdout leads to a regular file, it is still not ours to replace.
    top = Path(os.path.realpath(path.parent)).parts[:2]
    return "a link of the system" if path.is_symlink() and top in _OF_THE_SYSTEM else None


def _part_of(ledger: Path | None, path: Path) -> str | None:
    """Whether the path is one of the files the ledger consists of."""
    if ledger is None:
        return None
    real = os.path.realpath(ledger)
    parts = [f"{real}{ending}" for ending in _BESIDE_A_LEDGER]
    return "a part of the ledger" if any(_is_same(part, path) for part in parts) else None


def _is_same(part: str, path: Path) -> bool:
    with suppress(OSError):  # one that does not exist is compared by its name alone
        return os.path.samefile(part, path)
    return os.path.realpath(path) == part


def _exists(path: Path) -> InputInvalid:
    return InputInvalid(f"{path} exists already", hint="Name another file, or add --force.")
