"""A background process that belongs to a session, and what it was seen doing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from sexton.core.message import one_line
from sexton.core.record import made, record
from sexton.core.session import State
from sexton.liveness.model import Identity

TAG_VARIABLE = "SEXTON_TAG"
"""The environment variable by which a process, and all that it starts, is known as a session's."""
SHOWN_COMMAND = 200
"""So much of a command is told in logs and explanations."""
LONGEST_PROGRAM = 80
_INTERPRETERS = ("python", "node", "ruby", "perl")
_FLAGS = ("-u", "-B", "-E", "-I", "-O")


class ProcessKind(StrEnum):
    """What a background process is for."""

    JOB = "job"
    SERVER = "server"
    MCP = "mcp"
    BROWSER = "browser"
    UNKNOWN = "unknown"


class Doing(StrEnum):
    """What a process and those it started were seen doing."""

    WORKING = "working"  # processor or I/O moved within the window
    LISTENING = "listening"  # it waits on server sockets and does nothing else
    IDLE = "idle"
    ZOMBIE = "zombie"  # it has exited and waits to be collected
    DEAD = "dead"
    FOREIGN = "foreign"  # its pid belongs to another process now
    UNKNOWN = "unknown"  # it can not be seen from here, or not for long enough


@record
class Figures:
    """What a judgement rests on: what moved within so many seconds, and what there is now."""

    seconds: float = 0.0
    cpu: float = 0.0
    io: int = 0
    memory: int = 0
    processes: int = 0
    ports: tuple[int, ...] = ()


@record
class Process:
    """A registered process: whose it is, what it runs, and until when it may hold a reset back.

    With pid 0 it is about to be started and known by its tag only. `session_state` is None where
    the session is not there any more. What it was last seen doing is the word of its own host.
    """

    identity: Identity
    session: str
    task: str | None
    kind: ProcessKind
    command: str
    cwd: str
    started_at: datetime
    expires_at: datetime | None = None
    registered_by: str | None = None
    ref: int = 0
    session_ref: int | None = None
    home: str = "native"
    session_state: State | None = None
    epoch: int | None = None
    end_reason: str | None = None
    tag: str | None = None
    kept: bool = False
    kept_by_agent: bool = False
    ended_at: datetime | None = None
    ended_how: str | None = None
    doing: Doing = Doing.UNKNOWN
    judged_at: datetime | None = None
    figures: Figures = made(Figures)

    @property
    def is_orphan(self) -> bool:
        """Whether the session it belongs to has ended."""
        return self.session_state is not State.OPEN

    @property
    def is_hint(self) -> bool:
        """Whether only a home names it, and the ledger has no row of it."""
        return self.ref < 0

    @property
    def is_kept_by_person(self) -> bool:
        """Whether a person decided that it is not to be stopped."""
        return self.kept and not self.kept_by_agent

    @property
    def name(self) -> str:
        """What a person calls it."""
        return f"pid {self.identity.pid}" if self.identity.pid else "one about to be started"

    @property
    def program(self) -> str:
        """What it runs, without arguments: as much as may go out to people's channels."""
        words = [word for word in self.command.split() if "=" not in word]
        return cut(" ".join(_program(words)) or "?", LONGEST_PROGRAM)

    @property
    def shown(self) -> str:
        """Its command, as much as fits beside other words."""
        return cut(self.command, SHOWN_COMMAND)


@record
class Watched:
    """A process with what it is doing now, by which rule, and until when it may hold a reset."""

    process: Process
    doing: Doing
    figures: Figures
    because: str
    holds_until: datetime
    holds: bool


class Member(NamedTuple):
    """One living process of a tree at one moment; times are in seconds, `waited` of its dead."""

    pid: int
    started: int
    cpu: float
    waited: float
    io: int
    memory: int


class Presence(StrEnum):
    """What became of the registered process itself."""

    PRESENT = "present"
    ZOMBIE = "zombie"
    GONE = "gone"
    FOREIGN = "foreign"
    HIDDEN = "hidden"  # another host or namespace, or it may not be read
    AWAITED = "awaited"  # it is about to be started


@record
class Look:
    """One look at a process and all that it started; `at` is on the observer's own clock.

    `passing` says that somebody of it was seen who was gone before he could be looked at.
    """

    at: float
    presence: Presence
    members: tuple[Member, ...] = ()
    ports: tuple[int, ...] = ()
    passing: bool = False


def _program(words: Sequence[str]) -> Sequence[str]:
    """The program at the head of a command; of an interpreter also the module or file it runs."""
    head, rest = words[:1], list(words[1:])
    if not head or not head[0].rpartition("/")[2].startswith(_INTERPRETERS):
        return head
    while rest and rest[0] in _FLAGS:
        rest.pop(0)
    if rest[:1] == ["-m"]:
        return [*head, *rest[:2]]
    return head if not rest or rest[0].startswith("-") else [*head, rest[0]]


def cut(text: str, most: int) -> str:
    """One line of at most so many characters."""
    line = one_line(text)
    return line if len(line) <= most else line[: most - 1] + "…"


def tags_in(value: str) -> list[str]:
    """The tags a process carries: its own, and those of whatever it was started by."""
    return value.split(":")


def tagged(inherited: str | None, tag: str) -> str:
    """What a new process is to carry, so that it is also known to whoever started its starter."""
    return f"{inherited}:{tag}" if inherited else tag


NOTHING: Mapping[int, int] = {}
"""No pidfds are kept."""


def never() -> bool:
    """Nobody wants to give up."""
    return False


class Told(NamedTuple):
    """When people were told something of a process, and whether that is now."""

    at: datetime
    is_news: bool


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
