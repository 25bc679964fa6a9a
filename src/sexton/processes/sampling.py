"""What have registered processes, and all that they started, used up to now?"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sexton.core.machine_ports import Clock
from sexton.core.record import replace
from sexton.liveness.process_identity import (
    SystemProcesses,
    boot_id,
    has_pidfs,
    host,
    pid_namespace,
    pidfs_inode,
)
from sexton.processes.claims import line
from sexton.processes.listening import Known, Ports
from sexton.processes.model import Description, Look, Member, Newborn, Presence, Process
from sexton.processes.pidfds import has_pidfds
from sexton.processes.process_table import (
    ZOMBIES,
    Row,
    age,
    children_of,
    descendants,
    is_mine,
    newest_first,
    owner,
    read_command,
    read_cwd,
    read_io,
    read_row,
    read_table,
    tags_of,
)

_KERNEL = 2
"""The parent of the kernel's own threads, where they can be seen."""
SETTLED = 1.0
"""After so many seconds nobody else can have been started in the same tick with the same pid."""


class Sampler:
    """Looks at processes in one pass, however many are asked for."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ports = Ports()
        self._certain: dict[int, Known] = {}

    def look(
        self, processes: Sequence[Process], *, new_ports: int | None = None
    ) -> Mapping[int, Look]:
        """One look at each and at all that it started, by row; one pass for all of them.

        Ports are found of at most `new_ports` that were not looked at before, of all if None:
        who does not judge by this look need not have them all.
        """
        here = (host(), boot_id(), pid_namespace())
        near = [each for each in processes if _place(each) == here]
        table = read_table() if near else {}
        at = self._clock.monotonic()
        if os.getpid() not in table:  # what does not even show us shows nothing
            near = []
        presences = self._presences(near, table)
        trees, passing = _trees(near, presences, table)
        living = {(pid, table[pid].started) for pids in trees.values() for pid in pids}
        ports = self._ports.of(living, new_ports)
        return {
            each.ref: Look(
                at=at,
                presence=presences.get(each.ref) or _away(each),
                members=tuple([_member(table[pid]) for pid in trees.get(each.ref, ())]),
                ports=_ports_of(trees.get(each.ref, ()), ports) if ports else (),
                passing=each.ref in passing,
            )
            for each in processes
        }

    def wait(self, seconds: float) -> None:
        """Let time pass between two looks."""
        self._clock.sleep(seconds)

    def describe(self, pid: int) -> Description | None:
        """Which process has the pid, and what it runs; None if none does."""
        try:
            inode = pidfs_inode(pid)
        except ProcessLookupError:
            return None
        row, user = read_row(pid), owner(pid)
        if row is None or user is None:
            return None
        myself = SystemProcesses().myself()
        who = replace(myself, pid=pid, started=row.started, inode=inode, uid=user)
        seconds = max(0.0, age(row, self._clock.elapsed()))
        return Description(who, read_command(pid), read_cwd(pid), seconds, _unfit(row))

    def recognise(self, pid: int, tag: str) -> Newborn | None:
        """Which process came of one that this one started with a tag; None if that is not sure."""
        return recognise(pid, tag)

    def leaf(self, pid: int) -> list[str]:
        """What the process runs that listens or works below that pid; nothing if it is gone."""
        return leaf_command(pid)

    def _presences(
        self, processes: Sequence[Process], table: Mapping[int, Row]
    ) -> dict[int, Presence]:
        """What became of each; the inode of one that is old enough need not be asked for twice.

        Whoever gets its pid later is started in a later tick.
        """
        before, boot = self._certain, self._clock.elapsed()
        certain, found = {}, {}
        for each in processes:
            known = pid, started = _known(each)
            row = table.get(pid)
            if row is not None and row.started == started and before.get(each.ref) == known:
                is_old, seen = True, _of_living(row)
            else:
                seen = presence(each, table)
                is_old = is_there(seen) and age(table[pid], boot) > SETTLED
            found[each.ref] = seen
            if is_old:
                certain[each.ref] = known
        self._certain = certain
        return found


def _unfit(row: Row) -> str:
    """Why nobody may call a process his own, if so."""
    me = read_row(os.getpid())
    if row.pid == os.getpid():
        return "a process can not be its own background process"
    if row.pid == 1 or (me is not None and row.pid in {each.pid for each in line(me)}):
        return f"the process {row.pid} has started this one"
    if sys.platform == "linux" and _KERNEL in (row.pid, row.parent) and not row.memory:
        return f"the process {row.pid} is the kernel's own"
    return ""


def is_here(process: Process) -> bool:
    """Whether a process could be seen from here if it runs: same host, boot and namespace."""
    return _place(process) == (host(), boot_id(), pid_namespace())


def _place(process: Process) -> tuple[str, str, int | None]:
    who = process.identity
    return who.host, who.boot_id, who.pid_namespace


def is_there(found: Presence) -> bool:
    """Whether the registered process itself still has its pid."""
    return found in (Presence.PRESENT, Presence.ZOMBIE)


def _known(process: Process) -> Known:
    return process.identity.pid, process.identity.started


def presence(process: Process, table: Mapping[int, Row]) -> Presence:
    """What became of the registered process itself."""
    who = process.identity
    if not who.pid:
        return Presence.AWAITED
    row = table.get(who.pid)
    try:
        inode = pidfs_inode(who.pid)
    except ProcessLookupError:
        return Presence.GONE
    if row is None:  # somebody has the pid, or there was no descriptor left to look with
        is_known = inode is None or inode == who.inode
        return Presence.HIDDEN if has_pidfs() and is_known else Presence.GONE
    is_other = who.inode is not None and inode is not None and inode != who.inode
    if is_other or row.started != who.started:
        return Presence.FOREIGN
    return _of_living(row)


def _of_living(row: Row) -> Presence:
    return Presence.ZOMBIE if row.state in ZOMBIES else Presence.PRESENT


def _away(process: Process) -> Presence:
    """On the same host, what ran before it was started again is gone for certain."""
    who = process.identity
    return Presence.GONE if who.host == host() and who.boot_id != boot_id() else Presence.HIDDEN


def _trees(
    processes: Sequence[Process], presences: Mapping[int, Presence], table: dict[int, Row]
) -> tuple[dict[int, list[int]], set[int]]:
    """The living of each process's tree: itself, its descendants, and whoever carries its tag.

    And of which processes carriers were seen that were gone before they could be looked at.
    """
    children = children_of(table)
    found = {
        each.ref: dict.fromkeys(
            descendants(each.identity.pid, children) if is_there(presences[each.ref]) else ()
        )
        for each in processes
    }
    attributed = {pid for tree in found.values() for pid in tree}
    owners = {each.tag: each.ref for each in processes if each.tag is not None}
    # What a dead one left behind may stand below any other.
    left = {each.tag for each in processes if each.tag and not is_there(presences[each.ref])}
    passing: set[int] = set()
    for pid, tags in _carriers(owners.keys(), attributed, left):
        row = table.get(pid) or read_row(pid)
        if row is None or row.state in ZOMBIES:
            passing |= {owners[tag] for tag in tags}
            continue
        table[pid] = row
        for tag in tags:
            found[owners[tag]].update(dict.fromkeys(descendants(pid, children)))
    return {
        ref: [pid for pid in tree if table[pid].state not in ZOMBIES] for ref, tree in found.items()
    }, passing


def _carriers(
    tags: Iterable[str], attributed: set[int], left: set[str]
) -> Iterator[tuple[int, set[str]]]:
    """The processes of this user that carry any of the tags, each as soon as it is seen.

    Among those attributed already, only tags that a dead one left are looked for.
    """
    every = set(tags)
    for pid in newest_first() if every else ():
        wanted = left if pid in attributed else every
        if wanted and is_mine(pid) and (carried := wanted.intersection(tags_of(pid))):
            yield pid, carried


def _member(row: Row) -> Member:
    pid, _, _, started, cpu, waited, memory = row
    return Member(pid, started, cpu, waited, read_io(pid), memory)


def _ports_of(pids: Iterable[int], ports: Mapping[int, tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted({port for pid in pids for port in ports.get(pid, ())}))


def leaf_command(pid: int) -> list[str]:
    """What the process that listens or works below a pid runs: not the shell around it.

    Of those that have started nobody else, one that listens comes first, then who used most of a
    processor.
    """
    table = read_table()
    if pid not in table:
        return []
    living = {each: row for each, row in table.items() if row.state not in ZOMBIES}
    children = children_of(living)
    leaves = [
        each for each in descendants(pid, children) if each in living and each not in children
    ] or [pid]
    ports = Ports().of({(each, table[each].started) for each in leaves})
    best = max(
        leaves, key=lambda each: (bool(ports.get(each)), table[each].cpu, table[each].started)
    )
    return read_command(best)


def recognise(pid: int, tag: str) -> Newborn | None:
    """The process that was started with a tag, proved, held by a pidfd; None if it is gone.

    Its pid alone does not say: where children are collected by whoever (SIGCHLD ignored, a reaper
    that waits for any), it may have ended already, and its pid be a stranger's. Its caller closes
    the pidfd.
    """
    try:
        pidfd = os.pidfd_open(pid) if has_pidfds() else None
    except OSError:
        return None
    row, user, is_tagged = read_row(pid), owner(pid), tag in tags_of(pid)
    is_ours = is_tagged or (row is not None and row.parent == os.getpid() and _we_collect())
    if row is None or user is None or not is_ours or not _is_uncollected(pidfd):
        if pidfd is not None:
            os.close(pidfd)
        return None
    inode = os.fstat(pidfd).st_ino if pidfd is not None and has_pidfs() else None
    myself = SystemProcesses().myself()
    who = replace(myself, pid=pid, started=row.started, inode=inode, uid=user)
    return Newborn(who, pidfd)


def _we_collect() -> bool:
    """Whether a child that ended keeps its pid until somebody waits for it."""
    return signal.getsignal(signal.SIGCHLD) is not signal.SIG_IGN


def _is_uncollected(pidfd: int | None) -> bool:
    """Whether the pid was the process's own all the time that the pidfd is open."""
    if pidfd is None:
        return True
    try:
        signal.pidfd_send_signal(pidfd, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's by now, and there
        return True
    return True
