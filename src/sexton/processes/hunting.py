"""Which processes belong to those that are to be stopped, and how is each of them proved?"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence

from sexton.core.machine_ports import Clock
from sexton.liveness.process_identity import boot_id, host, pid_namespace, stands_for_somebody_alive
from sexton.processes.claims import Claim, Claims, Known, is_there, known_as, line
from sexton.processes.masking import masked
from sexton.processes.model import (
    NOTHING,
    SHOWN_COMMAND,
    TAG_VARIABLE,
    Ending,
    Process,
    Spared,
    Stopped,
    cut,
    never,
)
from sexton.processes.pidfds import Grip, PidfdGrip, PlainGrip, may_be_signalled, wait_for_any
from sexton.processes.process_table import (
    SLEEPS_DEEPLY,
    ZOMBIES,
    Row,
    children_of,
    is_mine,
    newest_first,
    owner,
    read_command,
    read_row,
    read_table,
    tags_of,
)

OURSELVES = "it is this process, one it was started by, or the first of all"
OTHERS = "it belongs to another user"
CHANGED = "it runs another command now than the one that was shown"
UNPROVEN = "nothing but its pid and start time speaks for it, which a stranger may have"
UNREADABLE = "the processes of this machine can not be read"
MOVES = "it is replaced by another one more quickly than it can be held on to"
NO_ROOM = "too many files are open here to look at it or to hold on to it"
NO_PIDFD = "this system has no pidfds, so a signal might reach a stranger"
FORBIDDEN = "it may not be signalled"
DEEP = "it sleeps in the kernel and hears no signal"
LATE = "it did not end in time"
UNTOLD = "it was not signalled any more"
"""Why a process is not stopped, as people are told."""


def still_there(pid: int, sent: signal.Signals | None, *, is_waited_for: bool) -> str:
    """Why a process that was found is there still: what it was sent last, and what it does."""
    row = read_row(pid)
    if row is not None and row.state == SLEEPS_DEEPLY:
        return DEEP
    if is_waited_for:
        return LATE
    return f"{sent.name} was sent, but not waited for" if sent else UNTOLD


Proof = Callable[[int, Grip], bool]


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
        self._claims = Claims(variable)
        for tag in tags:
            self._claims.hunt_tag(tag)
        self._roots: list[Process] = []
        self._shielded: set[int] = set()
        self._held: dict[Known, Grip] = {}
        self._endings: dict[Known, Ending] = {}
        self._refused: dict[Known, str] = {}
        self._spared: dict[Known, str] = {}
        self._sent: dict[Known, signal.Signals] = {}
        self._lost: dict[Known, int] = {}
        self._short: set[Known] = set()
        self._rows: dict[Known, int] = {}
        self._commands: dict[Known, str] = {}
        self._shown = {known_as(root): root.command for root in roots if confirmed}
        for root in roots:
            self._take_on(root)
        # What is left of those whose first process is gone is found by its tag only.
        self.given_up: Callable[[], bool] = never
        self.is_restless = any(root.tag and not is_there(root) for root in self._roots)

    def spare(self, spared: Sequence[Spared]) -> None:
        """Leave these alone, and what is theirs."""
        self._claims.spare(spared)

    @property
    def lost_somebody(self) -> bool:
        """Whether somebody was seen in the last scan who was gone when it was over."""
        return bool(self._lost)

    def scan(self, at_once: signal.Signals | None = None) -> set[Known]:
        """Who is there now; whoever was proved once need not be again.

        Whoever is found by a tag is signalled `at_once`, before he can run away.
        """
        pids = newest_first()
        if os.getpid() not in pids:  # what does not even show us shows nothing
            self._refused |= {known_as(root): UNREADABLE for root in self._roots}
        before = set(self._held)
        self._lost.clear()
        self._short.clear()
        self._shielded = {row.pid for row in _our_line()} | {os.getpid(), 0, 1}
        for root in self._roots:
            row, known = read_row(root.identity.pid), known_as(root)
            if row is not None and row.started == root.identity.started:
                self._try(row, self._proof_of(root), root.ref)
                if known not in self._short:
                    self._lost.pop(known, None)  # whom it left behind is found by the tag
            elif row is None and may_be_signalled(root.identity.pid):
                self._lose(known, root.ref, short=True)
        if self._claims.tags:
            self._find_carriers(pids, at_once)
        self._follow(read_table())
        gone = (each for each in self._held.keys() - before if not self._held[each].is_alive())
        self._lost |= {each: self._rows[each] for each in gone}
        self.is_restless |= self.lost_somebody
        return self._living()

    def _find_carriers(self, pids: Iterable[int], at_once: signal.Signals | None) -> None:
        held = {pid for pid, _ in self._living()}
        for pid in pids:
            of = self._claims.by_tag(pid) if pid not in held and is_mine(pid) else None
            if of is None:
                continue
            row, whose = read_row(pid), of if isinstance(of, int) else 0
            if row is not None:
                if self._try(row, self._is_carrier, whose) and at_once is not None:
                    self.signal((pid, row.started), at_once)
            elif whose == of:
                self._lost[pid, 0] = whose

    def signal(self, each: Known, number: signal.Signals) -> None:
        """Signal a process that was proved to be ours."""
        try:
            self._held[each].signal(number)
            self._sent[each] = number
        except ProcessLookupError:
            return
        except PermissionError:
            self._refused[each] = FORBIDDEN

    def wait(self, seconds: float, ending: Ending, clock: Clock) -> None:
        """Let time pass until anybody ends, and note who did."""
        living = [each for each in self._held if each not in self._endings]
        wait_for_any((self._held[each] for each in living), seconds, clock)
        for each in living:
            if not self._held[each].is_alive():
                self._endings[each] = ending
                self._held[each].release()  # there are only so many descriptors

    def results(self, left: Ending) -> list[Stopped]:
        """What came of everybody; `left` is said of those that are there."""
        told = [
            self._told(each, self._endings.get(each) or self._left(each, left))
            for each in self._held
            if each not in self._refused and each not in self._lost
        ]
        told += [self._told(each, Ending.REFUSED, why) for each, why in self._refused.items()]
        told += [self._told(each, Ending.SPARED, why) for each, why in self._spared.items()]
        for each in self._lost:
            why = NO_ROOM if each in self._short else MOVES
            told.append(self._told(each, left, why))
        for root in self._roots:
            known = known_as(root)
            heard_of = self._held.keys() | self._refused.keys() | self._lost.keys()
            if root.identity.pid and known not in heard_of:
                told.append(self._told(known, Ending.GONE))
        return sorted(told, key=lambda each: each.pid)

    def close(self) -> None:
        """Let go of everybody."""
        for grip in self._held.values():
            grip.release()
        self._held.clear()

    def _take_on(self, root: Process) -> None:
        who, known = root.identity, known_as(root)
        self._commands[known] = root.shown
        self._rows[known] = root.ref
        if who.host != host():
            self._refused[known] = f"it is on {who.host}"
        elif who.boot_id == boot_id() and who.pid_namespace != pid_namespace():
            self._refused[known] = "it is in another pid namespace"
        else:
            self._roots.append(root)
            self._claims.hunt(root)

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

    def _follow(self, table: Mapping[int, Row]) -> None:
        """Children of ours are ours, if the parent was still alive after they were read."""
        children = children_of(table)
        waiting = list(self._living())
        for parent in waiting:  # grows as it goes
            grip = self._held[parent]
            for pid in children.get(parent[0], ()):
                row = table[pid]
                if (pid, row.started) in self._held or row.state in ZOMBIES:
                    continue

                def is_child(each: int, _: Grip, above: int = parent[0], by: Grip = grip) -> bool:
                    now = read_row(each)
                    return now is not None and now.parent == above and by.is_alive()

                if self._try(row, is_child, self._rows[parent]):
                    waiting.append((pid, row.started))

    def _try(self, row: Row, proof: Proof, of: int = 0) -> bool:
        """Take hold of a process, and keep the hold if it is proved to be ours."""
        known = (row.pid, row.started)
        if known in self._held or self._is_settled(known):
            return False
        if row.pid in self._shielded or not (self._pidfds or self._confirmed):
            self._refused[known] = OURSELVES if row.pid in self._shielded else NO_PIDFD
            return False
        claim = self._claims.on(row)
        self._rows[known] = claim if isinstance(claim, int) else of
        try:
            grip: Grip = PidfdGrip(row.pid) if self._pidfds else PlainGrip(row.pid)
        except OSError as problem:
            self._lose(known, claim, short=not isinstance(problem, ProcessLookupError))
            return False
        if self._is_ours(known, grip, proof, claim):
            self._held[known] = grip
            return True
        grip.release()
        return False

    def _is_settled(self, known: Known) -> bool:
        return known in self._refused or known in self._spared

    def _is_ours(self, known: Known, grip: Grip, proof: Proof, claim: Claim | None) -> bool:
        """All that is read counts only if the process behind the grip is alive afterwards."""
        pid, started = known
        row, proved, user = read_row(pid), proof(pid, grip), owner(pid)
        command = masked(read_command(pid))
        if row is None or row.started != started or not grip.is_alive():
            self._refused.pop(known, None)
            self._lose(known, claim)
            return False
        self._commands[known] = cut(command, SHOWN_COMMAND)
        if proved and isinstance(claim, str):
            self._spared[known] = claim
            return False
        if proved and user != os.getuid():
            self._refused[known] = OTHERS
            return False
        if proved and self._shown.get(known, command) != command:
            self._refused[known] = CHANGED
            return False
        return proved

    def _lose(self, known: Known, claim: Claim | None, *, short: bool = False) -> None:
        """Somebody was seen who could not be held, perhaps as there is nothing to hold him with."""
        if not isinstance(claim, str):
            self._lost[known] = self._rows[known]
            self._short |= {known} if short else set()

    def _is_carrier(self, pid: int, _: Grip) -> bool:
        return not self._claims.tags.isdisjoint(tags_of(pid, self._variable))

    def _living(self) -> set[Known]:
        return {
            each
            for each, grip in self._held.items()
            if each not in self._endings and each not in self._refused and grip.is_alive()
        }

    def _left(self, each: Known, left: Ending) -> Ending:
        return left if self._held[each].is_alive() else Ending.GONE

    def _told(self, each: Known, ending: Ending, why: str = "") -> Stopped:
        if ending is Ending.STAYS and not why:
            sent = self._sent.get(each)
            why = still_there(each[0], sent, is_waited_for=not self.given_up())
        command = self._commands.get(each, "?")
        return Stopped(
            pid=each[0], command=command, ending=ending, why=why, row=self._rows.get(each, 0)
        )


def _our_line() -> Iterable[Row]:
    row = read_row(os.getpid())
    return () if row is None else line(row)
