"""What is a service to run, and how are the files written that say so?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from subprocess import PIPE, STDOUT, TimeoutExpired, run

from sexton.core.record import record
from sexton.errors import ServiceFailed, ServiceForeign

FILES = 8192
"""Descriptors that the service may have: its visitors, and a reserve for ledger and keeper."""
MARK = "written by 'sexton service install'"
"""Stands in every file of ours; what does not have it belongs to somebody else."""
PATIENCE = 120.0


@record
class Launch:
    """The words that start it, and what it finds in its environment."""

    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()


@record
class Standing:
    """How a service is doing; `words` are those of the system that runs it."""

    installed: bool
    running: bool
    words: str
    file: Path


def ask(words: Sequence[str]) -> tuple[int, str]:
    """What a program of the system says, and how it ended."""
    try:
        # Without a pager, and in the language that is read here.
        environment = {**os.environ, "LC_ALL": "C", "SYSTEMD_PAGER": "", "SYSTEMD_COLORS": "0"}
        done = run(
            words, stdout=PIPE, stderr=STDOUT, timeout=PATIENCE, check=False, env=environment
        )
    except FileNotFoundError:
        raise ServiceFailed(f"there is no '{words[0]}' on this machine") from None
    except TimeoutExpired:
        raise ServiceFailed(f"'{' '.join(words)}' did not end within {PATIENCE:g} s") from None
    return done.returncode, done.stdout.decode("utf-8", "replace").strip()


def order(words: Sequence[str]) -> str:
    """What a program of the system says; an error if it fails."""
    code, said = ask(words)
    if code:
        raise ServiceFailed(f"'{' '.join(words)}' ended with {code}: {said or 'no words'}")
    return said


def put(file: Path, content: bytes) -> None:
    """Write a file of ours whole or not at all, readable by this user only."""
    claim(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(file)


def claim(file: Path) -> bool:
    """Whether a file of ours is there; an error if somebody else's is."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return False
    if MARK.encode() not in content:
        raise ServiceForeign(f"{file} was not {MARK}")
    return True
