"""How is a file written that only its owner may read, and that replaces nothing by accident?"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from sexton.errors import InputInvalid


@contextmanager
def private_file(path: Path, *, force: bool) -> Iterator[IO[str]]:
    """A file that appears under its name only when it is complete.

    An existing file is kept, and is an error, unless it is to be replaced.
    """
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


def _exists(path: Path) -> InputInvalid:
    return InputInvalid(f"{path} exists already", hint="Name another file, or add --force.")
