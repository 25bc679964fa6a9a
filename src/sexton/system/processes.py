"""Which process is this, and does a recorded one still exist?"""

from __future__ import annotations

import errno
import os
import sys
from functools import cache

from sexton.model.evidence import Sight
from sexton.model.worker import Identity

_DEAD_STATES = ("Z", "X", "x")


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
    try:
        inode = pidfs_inode(identity.pid)
    except ProcessLookupError:
        return Sight.GONE
    if identity.inode is not None and inode is not None and inode != identity.inode:
        return Sight.REUSED
    try:
        state, started = _stat(identity.pid)
    except (FileNotFoundError, ProcessLookupError):
        return Sight.GONE
    except PermissionError:
        return Sight.HIDDEN
    if started != identity.started:
        return Sight.REUSED
    return Sight.ZOMBIE if state in _DEAD_STATES else Sight.PRESENT


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

        return str(int(psutil.boot_time()))


def pid_namespace() -> int | None:
    """The pid namespace of this process; None where there are none."""
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:
        return None


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
        descriptor = os.pidfd_open(pid)
    except OSError as problem:
        if problem.errno in (errno.ESRCH, errno.EINVAL):  # EINVAL: the number is a thread's now
            raise ProcessLookupError(errno.ESRCH, "no such process", str(pid)) from None
        return None
    try:
        return os.fstat(descriptor).st_ino
    finally:
        os.close(descriptor)


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
    return fields[0], int(fields[19])


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
