"""How does a program come by a pid namespace of its own, in which it may choose pids?

    child = nursery.start("tests.kit.apart:apart", "my_programs:reuse_a_pid", url)

The program is the first process there: when it ends, so does everything it has started. Processes
in there and outside can not see each other, so whatever is to be judged by the kernel's word has
to be started inside, from a nursery of its own. Root may do this on any Linux; others where the
kernel lets them have a user namespace.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.kit.nursery_process import Report

NEW_MOUNTS, NEW_USERS, NEW_PIDS = 0x20000, 0x10000000, 0x20000000
PRIVATE_BELOW, NO_DEVICES_OR_PROGRAMS = 0x44000, 0xE


def may_live_apart() -> bool:
    """Whether this machine lets us have a pid namespace."""
    tried = subprocess.run(
        [sys.executable, "-m", "tests.kit.apart"], capture_output=True, check=False
    )
    return tried.returncode == 0


def be(report: Report) -> None:
    """A program that only tells that it is."""
    report.tell("first")


def apart(report: Report, target: str, *arguments: str) -> None:
    """Run `module:function` in a pid namespace of its own.

    Tells `forbidden` and raises `PermissionError` where that is not possible.
    """
    with _told(report):
        _leave()
    first = os.fork()
    if first == 0:
        _be_first(report, target, arguments)
    code = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    if code:
        raise RuntimeError(f"{target} ended with {code}")


def _be_first(report: Report, target: str, arguments: tuple[str, ...]) -> None:
    code = 1
    try:
        with _told(report):
            _show_own_processes()
        module, _, name = target.partition(":")
        getattr(importlib.import_module(module), name)(report, *arguments)
        code = 0
    finally:
        if code:
            traceback.print_exc()
        os._exit(code)


@contextmanager
def _told(report: Report) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        report.tell("forbidden")
        raise PermissionError("no pid namespace can be had on this machine") from problem


def _leave() -> None:
    """Have what is forked from here on live in other namespaces."""
    try:
        _call("unshare", NEW_PIDS | NEW_MOUNTS)
    except PermissionError:
        user, group = os.getuid(), os.getgid()
        _call("unshare", NEW_USERS | NEW_PIDS | NEW_MOUNTS)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")


def _show_own_processes() -> None:
    """Let /proc show the processes of this namespace, and nobody outside notice."""
    _call("mount", b"none", b"/", None, ctypes.c_ulong(PRIVATE_BELOW), None)
    _call("mount", b"proc", b"/proc", b"proc", ctypes.c_ulong(NO_DEVICES_OR_PROGRAMS), None)


def _call(name: str, *values: object) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*values):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), name)


if __name__ == "__main__":
    apart(Report(sys.stdout.fileno()), "tests.kit.apart:be")
