"""Which processes does a piece of work have, whoever started them, and how are they stopped?

A program inherits the tag in its environment, and so does all that it starts; the same work has
the same tag on every attempt, so what a killed keeper left behind is found again.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import psutil

from sexton.ports.system import Clock

VARIABLE = "SEXTON_FINALIZATION_TAG"
LOOK_EVERY = 0.02
LAST_WAIT = 5.0
"""Seconds for the kernel to end what was killed."""


def tag_of(key: str) -> str:
    """The 128 bits by which the processes of a piece of work are known."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def carriers(tag: str) -> list[psutil.Process]:
    """The living processes of this user that carry the tag, without our own."""
    likely = (pid for pid in psutil.pids() if pid != os.getpid() and _may_carry(pid, tag))
    return [process for pid in likely if (process := _carrier(pid, tag))]


def stop(tag: str, clock: Clock, grace: timedelta) -> bool:
    """Ask every process with the tag to end, then kill; False if one could not be stopped."""
    asked = _drive_out(tag, signal.SIGTERM, clock, grace.total_seconds())
    return asked or _drive_out(tag, signal.SIGKILL, clock, LAST_WAIT)


def _drive_out(tag: str, number: signal.Signals, clock: Clock, seconds: float) -> bool:
    """Signal each process once until none is left; those that appear meanwhile as well."""
    end = clock.monotonic() + seconds
    told: set[psutil.Process] = set()
    while found := carriers(tag):
        for process in set(found) - told:
            _signal(process, tag, number)
            told.add(process)
        if clock.monotonic() >= end:
            return False
        clock.sleep(LOOK_EVERY)
    return True


def _signal(process: psutil.Process, tag: str, number: signal.Signals) -> None:
    """Signal a process that certainly is the one: the tag is read while its pidfd is held."""
    if not hasattr(os, "pidfd_open"):
        with suppress(psutil.Error):
            process.send_signal(number)
        return
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:
        return
    try:
        if _carrier(process.pid, tag):
            signal.pidfd_send_signal(descriptor, number)
    except (ProcessLookupError, PermissionError):
        return
    finally:
        os.close(descriptor)


def _may_carry(pid: int, tag: str) -> bool:
    """A quick first look, as most processes are strangers."""
    if sys.platform != "linux":
        return True
    try:
        return tag.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def _carrier(pid: int, tag: str) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        if process.uids().effective != os.geteuid():
            return None
        return process if process.environ().get(VARIABLE) == tag else None
    except (psutil.Error, OSError):
        return None
