"""What is needed to know the background processes of sessions, to look at them and to stop them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, TypeAlias

from sexton.core.record import record
from sexton.core.session import Session
from sexton.liveness.model import Identity
from sexton.processes.model import Doing, Figures, Look, Process, Watched
from sexton.store.journal import Entry

NOTHING: Mapping[int, int] = {}


def never() -> bool:
    """Nobody wants to give up."""
    return False


class Told(NamedTuple):
    """When people were told something of a process, and whether that is now."""

    at: datetime
    is_news: bool


class Registry(Protocol):
    """The background processes of sessions. They survive whoever registered them."""

    def register(
        self, process: Process, session: Session, moved: tuple[Entry, datetime] | None = None
    ) -> Process | None:
        """Add a process to an open session; None if it ended or the fence fell.

        If it was another session's before, `moved` is journalled there.
        """

    def identify(self, process: Process, identity: Identity, now: datetime) -> bool:
        """Say which process came of one that was about to be started."""

    def running(self) -> list[Process]:
        """Every process, on any host, that is not known to have ended, oldest first."""

    def of_session(self, ref: int) -> list[Process]:
        """Those of one session."""

    def page(self, before: int | None, limit: int) -> list[Process]:
        """All processes, newest first, those that ended as well."""

    def judge(self, found: Sequence[tuple[int, Doing, Figures]], now: datetime) -> None:
        """Store what processes were seen doing, so that every view says the same."""

    def end(self, ref: int, how: str, now: datetime, entry: Entry | None = None) -> bool:
        """Record that a process is gone; False if that was known."""

    def keep(
        self,
        ref: int,
        kept: bool,
        now: datetime,
        entry: Entry | None = None,
        *,
        by_agent: bool = False,
    ) -> bool:
        """Protect a process from being stopped by policy, or do so no more; False if it has ended.

        What a person protects stays a person's: an agent does not undo it, which is False, too.
        """

    def tell(self, ref: int, what: str, now: datetime, entry: Entry | None = None) -> Told | None:
        """Record that people are told something of it, each thing once; None if it has ended."""

    def forget(self, now: datetime) -> int:
        """Drop what ended a week ago, and what nobody has seen for a month."""


class Description(NamedTuple):
    """A running process of this machine; its age in seconds.

    `unfit` says why it can not be anybody's background process, where that is so.
    """

    identity: Identity
    command: list[str]
    cwd: str
    age: float
    unfit: str = ""


class Newborn(NamedTuple):
    """A process that was just started, and a pidfd of it where there are any."""

    identity: Identity
    pidfd: int | None


class ProcessSampler(Protocol):
    """Looks at processes of this machine, on a clock of its own."""

    def look(
        self, processes: Sequence[Process], *, new_ports: int | None = None
    ) -> Mapping[int, Look]:
        """One look at each and at all that it started, by row; one pass for all of them.

        Ports are found of at most `new_ports` that were not looked at before, of all if None:
        who does not judge by this look need not have them all.
        """

    def wait(self, seconds: float) -> None:
        """Let time pass between two looks."""

    def describe(self, pid: int) -> Description | None:
        """Which process has the pid, and what it runs; None if none does."""

    def recognise(self, pid: int, tag: str) -> Newborn | None:
        """Which process came of one that this one started with a tag; None if that is not sure."""

    def leaf(self, pid: int) -> list[str]:
        """What the process runs that listens or works below that pid; nothing if it is gone."""


class Ending(StrEnum):
    """How the stopping of one process went."""

    TERM = "ended by TERM"
    KILL = "ended by KILL"
    GONE = "was gone"
    FOUND = "would be stopped"
    REFUSED = "refused"
    SPARED = "spared"
    STAYS = "still there"


@record
class Stopped:
    """One process of a tree and how its stopping went; `why` where it is still there.

    `row` is the registered process to whose tree it belongs.
    """

    pid: int
    command: str
    ending: Ending
    why: str = ""
    row: int = 0

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to be stopped of it: what is spared is somebody else's."""
        return self.ending in (Ending.TERM, Ending.KILL, Ending.GONE, Ending.SPARED)


class Spared(NamedTuple):
    """A process that is left alone with all that it started, its tag if it has one, and why."""

    identity: Identity
    tag: str | None
    why: str


class ProcessStopper(Protocol):
    """Stops processes of this machine that are proved to be ours."""

    def stop(
        self,
        processes: Sequence[Process],
        grace: timedelta,
        *,
        confirmed: bool = False,
        held: Mapping[int, int] = NOTHING,
        spare: Sequence[Spared] = (),
        given_up: Callable[[], bool] = never,
    ) -> list[Stopped]:
        """Stop each with all that it started: TERM, after the grace KILL, until it is given up.

        Confirmed by a person who was shown the command of each, pid and start time are proof
        enough; one that runs another command by then is refused.
        `held` are pidfds by pid, kept since the processes were started.
        """

    def find(
        self,
        processes: Sequence[Process],
        *,
        confirmed: bool = False,
        spare: Sequence[Spared] = (),
    ) -> list[Stopped]:
        """What `stop` would do with each, without doing it."""


Belongs: TypeAlias = Callable[[Process], tuple[Session | None, Any]]
"""The session of a process and the policy it is reset under, where they are known."""


class Overseeing(Protocol):
    """What an agent needs to know of its sessions' processes."""

    stopper: ProcessStopper

    def of_native(self, session: Session) -> Sequence[Watched]:
        """The processes of a session as every view and the reset guard see them."""

    def view(self, processes: Sequence[Process], of: Belongs) -> list[Watched]:
        """Processes as everybody sees them; `of` gives the session and its policy."""

    def leaf(self, process: Process) -> str:
        """What runs in it for what it is there: not the shell around that."""

    def describe(self, pid: int) -> Description | None:
        """Which process has the pid, and what it runs; None if none does."""

    def recognise(self, pid: int, tag: str) -> Newborn | None:
        """Which process came of one that this one started with a tag; None if that is not sure."""
