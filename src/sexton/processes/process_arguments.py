"""What was given to start or to name a process, as it is stored, or what is wrong with it?"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from sexton.errors import InputInvalid
from sexton.processes.model import TAG_VARIABLE, ProcessKind, tagged

Word = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Program = Word | Iterable[Word]

_HIGHEST_PID = 2**31 - 1


def program_of(given: Program) -> tuple[Any, list[str]]:
    """What is to be started, gone through once, and how that reads."""
    alone = isinstance(given, str | bytes | os.PathLike)
    try:
        words: list[Any] = [given] if alone else list(given)  # type: ignore[arg-type]
        read = [_read("an argument", word) for word in words]
    except TypeError:
        hint = "Give a list of text, bytes or paths, or one of them alone."
        raise InputInvalid(f"{_shown(given)} is nothing to be started", hint=hint) from None
    if not words or not read[0]:
        raise InputInvalid("there is no program to be started", hint="Give it as the first word.")
    return (given if alone else words), read


def place_of(cwd: Word | None) -> str:
    """The directory a process is started in; nothing if ours is gone."""
    try:
        return _read("the cwd", cwd or os.getcwd())
    except TypeError:
        raise InputInvalid(f"{_shown(cwd)} is no directory", hint="Give text or a path.") from None
    except OSError:
        return ""


def environment_of(given: Any, tag: str) -> dict[Any, Any]:
    """An environment with the tag in it, and those that this process was started with."""
    try:
        environ: dict[Any, Any] = dict(os.environ if given is None else given)
    except (TypeError, ValueError):
        hint = "Give a mapping, or None for our own."
        raise InputInvalid(f"{_shown(given)} is no environment", hint=hint) from None
    environ.pop(os.fsencode(TAG_VARIABLE), None)
    return environ | {TAG_VARIABLE: tagged(os.environ.get(TAG_VARIABLE), tag)}


def kind_of(given: Any) -> ProcessKind:
    """What a process is for."""
    if not isinstance(given, str) or given not in set(ProcessKind):
        hint = f"Known are {', '.join(ProcessKind)}."
        raise InputInvalid(f"{_shown(given)} is no kind of process", hint=hint)
    return ProcessKind(given)


def pid_of(given: Any) -> int:
    """The number of one process: to the kernel, others mean many or none."""
    if not isinstance(given, int) or isinstance(given, bool) or not 0 < given <= _HIGHEST_PID:
        raise InputInvalid(f"{_shown(given)} is no pid", hint="Give the number of one process.")
    return given


def end_of(ttl: Any, started: datetime) -> datetime | None:
    """When the time of a process is over; None if that is left to the policies."""
    if ttl is None:
        return None
    if not isinstance(ttl, timedelta) or ttl <= timedelta():
        hint = "Give a timedelta above zero, or None."
        raise InputInvalid(f"{_shown(ttl)} is no ttl of a process", hint=hint)
    try:
        return started + ttl
    except OverflowError:
        raise InputInvalid(f"a ttl of {ttl} never ends", hint="Give a shorter one.") from None


def grace_of(given: Any) -> timedelta:
    """For how long a process may take to end."""
    if not isinstance(given, timedelta) or given < timedelta():
        hint = "Give a timedelta, which may be zero."
        raise InputInvalid(f"{_shown(given)} is no time to wait", hint=hint)
    return given


def _read(name: str, word: Any) -> str:
    """A word as people and every engine can read it; TypeError if it is none."""
    try:
        found = os.fsencode(word)
    except UnicodeEncodeError:
        hint = "No program can be given that."
        raise InputInvalid(f"{name} contains a lone surrogate", hint=hint) from None
    if b"\0" in found:
        hint = "No program can be given that."
        raise InputInvalid(f"{name} contains a NUL character", hint=hint)
    return found.decode("utf-8", "replace")


def _shown(given: object) -> str:
    return f"{given!r:.60}" if isinstance(given, str | int | float) else f"a {type(given).__name__}"
