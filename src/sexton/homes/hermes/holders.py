"""Which processes have a Hermes database open, and what are they?

Two witnesses are asked: the locks every connection holds for as long as it is open, and the
descriptors of all processes. What may have been missed is said; it is never taken for absence.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePath
from typing import NamedTuple

from sexton.homes.hermes import kernel, probe
from sexton.homes.hermes.documents import read_json
from sexton.homes.hermes.hermes_database import keeps_a_log

PROBE_SECONDS = 10.0
_HERMES = ("hermes", "hermes-agent")
_PROBE = PurePath(probe.__file__).parts[-4:]
_HERMES_MODULE = "hermes_cli.main"
_TUI_MODULE = "tui_gateway.entry"
_ALONE = frozenset({"backup", "cron", "curator", "insights", "kanban", "logs", "mcp", "send",
                    "sessions", "status"})  # fmt: skip
"""Subcommands of Hermes in which nobody writes into a session that is there already."""
_SERVING = frozenset({"acp", "dashboard", "desktop", "gui", "serve"})
"""Subcommands that serve whoever comes, and stay when everybody has left."""
_ONE_QUESTION = ("-q", "--query", "-z", "--oneshot")
_GOES_ON = ("-r", "--r", "-c", "--c")
_WITH_VALUE = frozenset({*_ONE_QUESTION, "-m", "--model", "--provider", "-t", "--toolsets", "-s",
                         "--skills", "-p", "--profile", "--image", "--usage-file"})  # fmt: skip
_SHARED_DISKS = ("nfs", "cifs", "smb", "9p", "fuse", "virtiofs", "ceph", "glusterfs", "afs")


class Kind(StrEnum):
    """What a process is that has the database open."""

    GATEWAY = "gateway"
    SEXTON = "sexton"
    CLI = "cli"  # a Hermes of whose sessions nothing is known
    OTHER = "other"


class Use(StrEnum):
    """Who writes into sessions through a front end of Hermes."""

    TERMINAL = "terminal"  # one person, into any session, for as long as it runs
    SERVER = "server"  # whoever comes, if anybody does
    APART = "apart"  # nobody, or somebody in a session of its own only


@dataclass(frozen=True, slots=True, order=True)
class Holder:
    """A process that has the database open; `began` is when it started, in seconds since 1970."""

    pid: int
    ticks: int
    kind: Kind
    command: tuple[str, ...] = ()
    began: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind} with pid {self.pid}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """Who has the database open; `gap` says what may have been missed, if anything may.

    `unsafe` says why locks do not keep writers apart there. `gateway` is the gateway that the home
    names and that is alive, whatever it has open.
    """

    holders: tuple[Holder, ...] = ()
    gap: str | None = None
    unsafe: str | None = None
    gateway: int | None = None

    @property
    def strangers(self) -> tuple[Holder, ...]:
        """Those that may own any session of the command line."""
        return tuple(each for each in self.holders if each.kind in (Kind.CLI, Kind.OTHER))

    @property
    def terminals(self) -> tuple[Holder, ...]:
        """The terminals of Hermes, in which a person may have any session open."""
        front = (each for each in self.holders if each.kind is Kind.CLI)
        return tuple(each for each in front if use_of(each.command) is Use.TERMINAL)

    @property
    def unclear(self) -> str | None:
        """Who else may be writing into any session, in words; None if nobody can be."""
        if self.gap is not None:
            return self.gap
        for each in self.strangers:
            if each.kind is Kind.OTHER or use_of(each.command) is Use.SERVER:
                return f"{each} has the database open, too"
        return None

    @property
    def is_empty(self) -> bool:
        """Whether nobody but us has it open, as far as that can be told."""
        return not self.holders and self.gap is None and self.gateway is None

    def has_grown(self, earlier: Census) -> bool:
        """Whether somebody has it open now who had not then; a Sexton takes up no session."""
        then = {(each.pid, each.ticks) for each in earlier.holders}
        return any(
            (each.pid, each.ticks) not in then
            for each in self.holders
            if each.kind is not Kind.SEXTON
        )


def take_census(home: Path, database: Path, *, quick: bool = False) -> Census:
    """Who has the home's database open now, this process left out.

    A `quick` one goes without the helper process: enough to notice that somebody has come.
    """
    gateway = living_gateway(home)
    if sys.platform != "linux":
        words = danger(database)
        return Census(gap=words, unsafe=words, gateway=gateway)
    seen = _seen(database)
    holders = tuple(sorted(_holder(pid, gateway) for pid in seen.all - {os.getpid()}))
    if quick:
        return Census(holders=holders, gateway=gateway)
    locked, unsafe = _locked(database), danger(database)
    gap = unsafe or _gap(database, locked, seen)
    return Census(holders=holders, gap=gap, unsafe=unsafe, gateway=gateway)


def living_gateway(home: Path) -> int | None:
    """The pid of the gateway that the home names, if that very process is alive."""
    found = read_json(home / "gateway.pid")
    if not isinstance(found, dict) or not kernel.lives(found.get("pid"), found.get("start_time")):
        return None
    return int(found["pid"])


def kind_of(command: Sequence[str]) -> Kind:
    """What a process is by its command line; a prompt that says so makes no gateway of it."""
    words = list(command)
    for place, word in enumerate(words[:4]):
        name = PurePath(word).name
        module = words[place + 1 : place + 2] if word == "-m" else []
        if name == "sexton" or module == ["sexton"] or PurePath(word).parts[-4:] == _PROBE:
            return Kind.SEXTON
        if module == [_TUI_MODULE]:
            return Kind.CLI
        if _is_hermes(words, place):
            rest = words[place + 1 + len(module) :]
            return Kind.GATEWAY if rest[:1] == ["gateway"] else Kind.CLI
    return Kind.OTHER


def _is_hermes(words: Sequence[str], place: int) -> bool:
    """Whether a command line names Hermes there."""
    module = words[place + 1 : place + 2] if words[place] == "-m" else []
    return PurePath(words[place]).name in _HERMES or list(module) == [_HERMES_MODULE]


def use_of(command: Sequence[str]) -> Use:
    """Who writes into sessions through a front end of Hermes; what is not known is a terminal."""
    words = _arguments(command)
    if words is None:
        return Use.TERMINAL
    goes_on = any(word.startswith(_GOES_ON) for word in words)
    asks = any(word.split("=")[0] in _ONE_QUESTION for word in words)
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in _WITH_VALUE else 1
    subcommand = words[place] if place < len(words) else "chat"
    if subcommand in _SERVING:
        return Use.SERVER
    if subcommand in _ALONE or (subcommand == "chat" and asks and not goes_on):
        return Use.APART
    return Use.TERMINAL


def _arguments(command: Sequence[str]) -> list[str] | None:
    """What follows the name of Hermes in a command line; None if that is not there."""
    words = list(command)
    for place, word in enumerate(words[:4]):
        if _is_hermes(words, place):
            return words[place + (2 if word == "-m" else 1) :]
    return None


def _holder(pid: int, gateway: int | None) -> Holder:
    command = kernel.command(pid)
    kind = Kind.GATEWAY if pid == gateway else kind_of(command)
    return Holder(pid, kernel.start_ticks(pid) or 0, kind, command, kernel.began(pid))


def _locked(database: Path) -> set[int] | None:
    """The processes that the locks name, not all of them; None if that can not be asked."""
    asking = [sys.executable, "-I", "-S", probe.__file__, str(database)]
    try:
        done = subprocess.run(
            asking, capture_output=True, timeout=PROBE_SECONDS, check=True, stdin=subprocess.DEVNULL
        )
        return {int(pid) for pid in json.loads(done.stdout)}
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


class _Seen(NamedTuple):
    """The processes that have the files locked or open, and whether some could not be looked at."""

    locking: set[int]
    opened: set[int]
    hidden: bool

    @property
    def all(self) -> set[int]:
        return self.locking | self.opened


def _seen(database: Path) -> _Seen:
    files = frozenset(_files(database))
    looks = {pid: kernel.has_open(pid, files) for pid in kernel.pids()}
    return _Seen(
        locking=set(kernel.locking(frozenset(inode for _, inode in files))),
        opened={pid for pid, opened in looks.items() if opened},
        hidden=None in looks.values(),
    )


def _files(database: Path) -> Iterator[tuple[int, int]]:
    for path in (str(database), f"{database}-wal", f"{database}-shm"):
        try:
            status = os.stat(path)
        except OSError:
            continue
        yield status.st_dev, status.st_ino


def danger(database: Path) -> str | None:
    """Why a change there could meet another that no lock keeps away; None where none can."""
    if sys.platform != "linux":
        return "holders can not be found on this platform"
    if _is_shared(database):
        return "other machines may use the database on its shared disk"
    return None


def _gap(database: Path, locked: set[int] | None, seen: _Seen) -> str | None:
    """What may have been missed.

    Every connection of a database with a log holds a lock that is felt from everywhere on the
    machine, so where there is none there is nobody. Of many holders the kernel names but one.
    """
    if locked is None:
        return "the locks on the database could not be asked for"
    if 0 in locked:
        return "a process that can not be seen from here has the database open"
    if locked - seen.all:
        return "a process that can not be looked at has the database open"
    if seen.hidden and (locked - seen.locking or not keeps_a_log(database)):
        return "some processes can not be looked at"
    if locked and not kernel.sees_all():
        return "processes outside of this container may have the database open, too"
    return None


def _is_shared(database: Path) -> bool:
    """Whether the file lies on a disk that other machines may have mounted as well."""
    kinds = {}
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
            for line in mounts:
                before, _, after = line.partition(" - ")
                kinds[before.split()[2]] = after.split()[0]
        device = os.stat(database).st_dev
    except (OSError, IndexError):
        return True
    kind = kinds.get(f"{os.major(device)}:{os.minor(device)}", "")
    return kind.startswith(_SHARED_DISKS)
