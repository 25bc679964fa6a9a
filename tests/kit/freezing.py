"""Can a process be frozen here, as the host of a container freezes it?

A frozen process gets no signal and notices nothing; only a kill reaches it, in version 2.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path("/sys/fs/cgroup")
ATTEMPTS, PAUSE = 40_000, 0.005


@dataclass(frozen=True, slots=True)
class _Version:
    """How one version of cgroups is told to freeze, and how it says that it has."""

    switch: str
    on: str
    off: str
    state: str
    frozen: str


_SECOND = _Version("cgroup.freeze", "1", "0", "cgroup.events", "frozen 1")
_FIRST = _Version("freezer.state", "FROZEN", "THAWED", "freezer.state", "FROZEN")
_PLACES = (
    (ROOT, _SECOND),
    (ROOT / "unified", _SECOND),
    (ROOT / "freezer", _FIRST),
)


class Freezer:
    """Freezes processes one by one; a context manager that leaves no group behind.

    Raises `PermissionError` where no group can be made.
    """

    def __init__(self) -> None:
        self._place, self._version = _place()
        self._groups: dict[int, Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for pid in list(self._groups):
            self.thaw(pid)
            self._release(pid)

    def freeze(self, pid: int) -> None:
        """Return once the process stands still."""
        group = self._groups.get(pid)
        if group is None:
            group = self._groups[pid] = self._place / _name(pid)
            group.mkdir()
            (group / "cgroup.procs").write_text(str(pid))
        (group / self._version.switch).write_text(self._version.on)
        for _ in range(ATTEMPTS):
            if self._version.frozen in (group / self._version.state).read_text():
                return
            threading.Event().wait(PAUSE)
        raise AssertionError(f"process {pid} can not be frozen")

    def thaw(self, pid: int) -> None:
        """Let it go on."""
        if pid in self._groups:
            (self._groups[pid] / self._version.switch).write_text(self._version.off)

    def _release(self, pid: int) -> None:
        group = self._groups.pop(pid)
        for member in (group / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                (self._place / "cgroup.procs").write_text(member)
        for _ in range(ATTEMPTS):  # what has just died is still counted for a moment
            with suppress(OSError):
                group.rmdir()
                return
            threading.Event().wait(PAUSE)
        raise AssertionError(f"the group {group} can not be removed")


def may_freeze() -> bool:
    """Whether processes can be frozen here."""
    try:
        _place()
    except PermissionError:
        return False
    return True


def _place() -> tuple[Path, _Version]:
    """The first hierarchy in which a group can be made and frozen."""
    for place, version in _PLACES:
        trial = place / _name(0)
        with suppress(OSError):
            trial.mkdir()
            try:
                if (trial / version.switch).exists():
                    return place, version
            finally:
                trial.rmdir()
    raise PermissionError("no cgroup can be frozen on this machine")


def _name(pid: int) -> str:
    return f"sexton-freezer-{os.getpid()}-{pid}"
