"""Which process is this, and does a recorded one still exist?"""

from __future__ import annotations

import errno
import os
import select
import sys
from contextlib import suppress
from functools import cache

from sexton.errors import PlatformUnsupported
from sexton.liveness.evidence import Sight
from sexton.liveness.model import Identity

DEAD_STATES = ("Z", "X", "x")
LIVES_ON = "S"


class SystemProcesses:
    """The processes of this machine, as its kernel shows them."""

    def myself(self) -> Identity:
        pid = os.getpid()
        return Identity(
            host=host(),
            boot_id=boot_id(),
            pid=pid,
            started=start_tick(pid) or 0,
            inode=pidfs_inode(pid),
            pid_namespace=pid_namespace(),
            uid=os.getuid(),
        )

    def look(self, identity: Identity) -> Sight:
        if identity.host != host():
            return Sight.ELSEWHERE
        if identity.boot_id != boot_id():
            return Sight.REBOOTED
        if identity.pid_namespace != pid_namespace():
            return Sight.ELSEWHERE
        return _look_here(identity)


def _look_here(identity: Identity) -> Sight:
    if identity.inode is not None and has_pidfs():
        with suppress(OSError):  # who can not be held may still be read
            return _look_by_pidfd(identity)
    try:
        state, started = _stat(identity.pid)
    except (FileNotFoundError, ProcessLookupError):
        return Sight.GONE
    except OSError:  # not permitted, or out of descriptors: that is no proof of anything
        return Sight.HIDDEN
    if not identity.started:  # it had no descriptor left to look at itself with
        return Sight.HIDDEN
    if started != identity.started:
        return Sight.REUSED
    return Sight.ZOMBIE if state in DEAD_STATES else Sight.PRESENT


def _look_by_pidfd(identity: Identity) -> Sight:
    """The inode says which process it is, and the descriptor whether all of it has ended."""
    try:
        descriptor = open_pidfd(identity.pid)
    except ProcessLookupError:
        return Sight.GONE
    try:
        if os.fstat(descriptor).st_ino != identity.inode:
            return Sight.REUSED
        return Sight.PRESENT if stands_for_somebody_alive(descriptor) else Sight.ZOMBIE
    finally:
        os.close(descriptor)


@cache
def host() -> str:
    """This machine's name, made distinct from others of the same name by its machine id."""
    for file in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            text = _text(file).strip()
        except OSError:
            continue
        if text:
            import hashlib  # noqa: PLC0415  # slow to load, and asked once

            return f"{os.uname().nodename}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    return os.uname().nodename


@cache
def boot_id() -> str:
    """What changes with every start of the machine."""
    try:
        return _text("/proc/sys/kernel/random/boot_id").strip()
    except OSError:
        import psutil  # noqa: PLC0415  # only where there is no /proc

        try:
            return str(int(psutil.boot_time()))
        except OSError:  # what is guessed here would make the living dead to others
            words = "this machine does not say since when it runs: /proc can not be read"
            raise PlatformUnsupported(words, hint="Mount /proc here as well.") from None


@cache
def pid_namespace() -> int | None:
    """The pid namespace of this process, which it never leaves; None where there are none."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pid_namespace.cache_clear)  # a child may be in another


def start_tick(pid: int) -> int | None:
    """When a process started, in the kernel's own unit."""
    try:
        return _stat(pid)[1]
    except OSError:
        return None


def pidfs_inode(pid: int) -> int | None:
    """The number that no other process of this boot has; None where the kernel keeps none.

    Raises ProcessLookupError if no process has the pid.
    """
    if not has_pidfs():
        return None
    try:
        descriptor = open_pidfd(pid)
    except ProcessLookupError:
        raise
    except OSError:
        return None
    try:
        return os.fstat(descriptor).st_ino
    finally:
        os.close(descriptor)


def open_pidfd(pid: int) -> int:
    """A pidfd of whoever has the pid; ProcessLookupError if nobody does."""
    try:
        return os.pidfd_open(pid)
    except OSError as problem:
        # EINVAL, since Linux 6.16 ENOENT: the number is a thread's now.
        if problem.errno in (errno.ESRCH, errno.EINVAL, errno.ENOENT):
            raise ProcessLookupError(errno.ESRCH, "no such process", str(pid)) from None
        raise


def stands_for_somebody_alive(descriptor: int) -> bool:
    """Whether the process of a pidfd has not exited, with the last of its threads."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return not poll.poll(0)


@cache
def has_pidfs() -> bool:
    """Whether the kernel numbers processes so that no two of a boot share a number."""
    if not hasattr(os, "pidfd_open"):
        return False
    try:
        process = os.pidfd_open(os.getpid())
    except OSError:
        return False
    event = os.eventfd(0)
    try:
        # Before pidfs, a pidfd was an anonymous inode like every other.
        return os.fstat(process).st_dev != os.fstat(event).st_dev
    finally:
        os.close(process)
        os.close(event)


def _stat(pid: int) -> tuple[str, int]:
    """The state letter and the start tick of a process."""
    if sys.platform != "linux":
        return _stat_by_psutil(pid)
    # The name in front may hold anything.
    fields = _text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return state_of(fields[0], int(fields[17])), int(fields[19])


def state_of(letter: str, threads: int) -> str:
    """The state of a process: one whose first thread has ended lives on while others do."""
    return LIVES_ON if letter in DEAD_STATES and threads > 1 else letter


def _text(file: str) -> str:
    with open(file, encoding="utf-8", errors="replace") as opened:
        return opened.read()


def _stat_by_psutil(pid: int) -> tuple[str, int]:
    import psutil  # noqa: PLC0415  # only where there is no /proc

    try:
        process = psutil.Process(pid)
        state = "Z" if process.status() == psutil.STATUS_ZOMBIE else "R"
        return state, int(process.create_time() * 1_000_000)
    except psutil.NoSuchProcess:
        raise ProcessLookupError(errno.ESRCH, "no such process", str(pid)) from None
    except psutil.AccessDenied:
        raise PermissionError(errno.EPERM, "not permitted", str(pid)) from None
