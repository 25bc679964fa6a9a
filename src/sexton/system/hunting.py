"""Which processes belong to those that are to be stopped, and how is each of them proved?"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence

from sexton.model.masking import masked
from sexton.model.process import SHOWN_COMMAND, TAG_VARIABLE, Process, cut
from sexton.ports.processes import NOTHING, Ending, Stopped
from sexton.ports.system import Clock
from sexton.system.grips import (
    Grip,
    PidfdGrip,
    PlainGrip,
    stands_for_somebody_alive,
    wait_for_any,
)
from sexton.system.process_table import (
    SLEEPS_DEEPLY,
    Row,
    ancestors,
    children_of,
    is_mine,
    owner,
    read_command,
    read_row,
    read_table,
    tags_of,
)
from sexton.system.processes import boot_id, host, pid_namespace

Known = tuple[int, int]
"""A process: its pid and its start tick."""
Proof = Callable[[int, Grip], bool]

OURSELVES = "it is this process, one it was started by, or the first of all"
OTHERS = "it belongs to another user"
UNPROVEN = "nothing but its pid and start time speaks for it, which a stranger may have"
UNREADABLE = "the processes of this machine can not be read"
NO_PIDFD = "this system has no pidfds, so a signal might reach a stranger"


class Hunt:
    """The processes that are to be stopped: registered ones, carriers of tags, all below them."""

    def __init__(
        self,
        roots: Sequence[Process] = (),
        tags: Iterable[str] = (),
        variable: str = TAG_VARIABLE,
        *,
        confirmed: bool = False,
        pidfds: bool = True,
        held: Mapping[int, int] = NOTHING,
    ) -> None:
        self._variable = variable
        self._confirmed = confirmed
        self._pidfds = pidfds
        self._since_birth = held
        self._tags = set(tags)
        self._roots: list[Process] = []
        self._held: dict[Known, Grip] = {}
        self._endings: dict[Known, Ending] = {}
        self._refused: dict[Known, str] = {}
        self._commands: dict[Known, str] = {}
        for root in roots:
            self._take_on(root)

    def scan(self) -> set[Known]:
        """Who is there now; whoever was proved once need not be again."""
        table = read_table()
        if os.getpid() not in table:  # what does not even show us shows nothing
            self._refused |= {_known(root): UNREADABLE for root in self._roots}
        shielded = ancestors(os.getpid(), table) | {os.getpid(), 0, 1}
        known = self._living()
        for root in self._roots:
            who = root.identity
            row = table.get(who.pid)
            if row is not None and row.started == who.started:
                self._try(row, shielded, self._proof_of(root))
        if self._tags:
            held = {pid for pid, _ in known}
            for row in table.values():
                if row.pid not in held and is_mine(row.pid) and self._carries(row.pid):
                    self._try(row, shielded, lambda pid, _: self._carries(pid))
        self._follow(table, shielded)
        return self._living()

    def signal(self, each: Known, number: signal.Signals) -> None:
        """Signal a process that was proved to be ours."""
        try:
            self._held[each].signal(number)
        except ProcessLookupError:
            return
        except PermissionError:
            self._refused[each] = "it may not be signalled"

    def wait(self, seconds: float, ending: Ending, clock: Clock) -> None:
        """Let time pass until anybody ends, and note who did."""
        living = [each for each in self._held if each not in self._endings]
        wait_for_any((self._held[each] for each in living), seconds, clock)
        for each in living:
            if not self._held[each].is_alive():
                self._endings[each] = ending

    def results(self, left: Ending) -> list[Stopped]:
        """What came of everybody; `left` is said of those that are there."""
        told = [
            self._told(each, self._endings.get(each) or self._left(each, left))
            for each in self._held
            if each not in self._refused
        ]
        told += [self._told(each, Ending.REFUSED, why) for each, why in self._refused.items()]
        for root in self._roots:
            known = _known(root)
            if root.identity.pid and known not in self._held.keys() | self._refused.keys():
                told.append(self._told(known, Ending.GONE))
        return sorted(told, key=lambda each: each.pid)

    def close(self) -> None:
        """Let go of everybody."""
        for grip in self._held.values():
            grip.release()
        self._held.clear()

    def _take_on(self, root: Process) -> None:
        who, known = root.identity, _known(root)
        self._commands[known] = root.shown
        if who.host != host():
            self._refused[known] = f"it is on {who.host}"
        elif who.boot_id == boot_id() and who.pid_namespace != pid_namespace():
            self._refused[known] = "it is in another pid namespace"
        else:
            self._roots.append(root)
            self._tags |= {root.tag} if root.tag else set()

    def _proof_of(self, root: Process) -> Proof:
        def is_the_one(pid: int, grip: Grip) -> bool:
            if root.identity.boot_id != boot_id():
                return False
            if root.identity.inode is not None and grip.inode is not None:
                return grip.inode == root.identity.inode
            if root.tag is not None and root.tag in tags_of(pid, self._variable):
                return True
            if pid in self._since_birth and stands_for_somebody_alive(self._since_birth[pid]):
                return True  # nobody else can have had the pid since
            if not self._confirmed:
                self._refused[(pid, root.identity.started)] = UNPROVEN
            return self._confirmed

        return is_the_one

    def _follow(self, table: Mapping[int, Row], shielded: set[int]) -> None:
        """Children of ours are ours, if the parent was still alive after they were read."""
        children = children_of(table)
        waiting = list(self._living())
        for parent in waiting:  # grows as it goes
            grip = self._held[parent]
            for pid in children.get(parent[0], ()):
                row = table[pid]
                if (pid, row.started) in self._held:
                    continue

                def is_child(each: int, _: Grip, above: int = parent[0], by: Grip = grip) -> bool:
                    now = read_row(each)
                    return now is not None and now.parent == above and by.is_alive()

                if self._try(row, shielded, is_child):
                    waiting.append((pid, row.started))

    def _try(self, row: Row, shielded: set[int], proof: Proof) -> bool:
        """Take hold of a process, and keep the hold if it is proved to be ours."""
        known = (row.pid, row.started)
        if known in self._held or known in self._refused:
            return False
        if row.pid in shielded or not (self._pidfds or self._confirmed):
            self._refused[known] = OURSELVES if row.pid in shielded else NO_PIDFD
            return False
        try:
            grip: Grip = PidfdGrip(row.pid) if self._pidfds else PlainGrip(row.pid)
        except OSError:
            return False
        if self._is_ours(known, grip, proof):
            self._held[known] = grip
            return True
        grip.release()
        return False

    def _is_ours(self, known: Known, grip: Grip, proof: Proof) -> bool:
        """All that is read counts only if the process behind the grip is alive afterwards."""
        pid, started = known
        row, proved, user = read_row(pid), proof(pid, grip), owner(pid)
        command = cut(masked(read_command(pid)), SHOWN_COMMAND)
        if row is None or row.started != started or not grip.is_alive():
            self._refused.pop(known, None)
            return False
        self._commands.setdefault(known, command)
        if proved and user != os.getuid():
            self._refused[known] = OTHERS
            return False
        return proved

    def _carries(self, pid: int) -> bool:
        return not self._tags.isdisjoint(tags_of(pid, self._variable))

    def _living(self) -> set[Known]:
        return {
            each
            for each, grip in self._held.items()
            if each not in self._endings and each not in self._refused and grip.is_alive()
        }

    def _left(self, each: Known, left: Ending) -> Ending:
        return left if self._held[each].is_alive() else Ending.GONE

    def _told(self, each: Known, ending: Ending, why: str = "") -> Stopped:
        if ending is Ending.STAYS:
            row = read_row(each[0])
            deep = row is not None and row.state == SLEEPS_DEEPLY
            why = (
                "it sleeps in the kernel and hears no signal" if deep else "it did not end in time"
            )
        command = self._commands.get(each, "?")
        return Stopped(pid=each[0], command=command, ending=ending, why=why)


def _known(process: Process) -> Known:
    return process.identity.pid, process.identity.started
