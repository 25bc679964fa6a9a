"""What is known about whether somebody lives, and how it is known."""

from __future__ import annotations

from enum import StrEnum

from sexton.core.record import record


class Verdict(StrEnum):
    """The answer; `unknown` means that nothing proves either way."""

    LIVE = "live"
    SUSPECT = "suspect"
    DEAD = "dead"
    UNKNOWN = "unknown"


class Sight(StrEnum):
    """What the kernel says about a recorded process, seen from here."""

    PRESENT = "present"  # that very process exists
    ZOMBIE = "zombie"  # it has exited and waits to be collected
    GONE = "gone"  # no process has its pid
    REUSED = "reused"  # its pid belongs to another process now
    REBOOTED = "rebooted"  # the machine has been started again since
    ELSEWHERE = "elsewhere"  # another host or pid namespace: nothing can be seen from here
    HIDDEN = "hidden"  # it should be visible here but can not be read


@record
class Evidence:
    """A verdict with the signals it rests on, in words.

    `code` names the kind of death; `kernel` tells a proof from a silence; an owner that `resets`
    ends the session in its own time; `busy` says what shows that a turn of it runs now.
    `terminals` are processes, by pid and start tick, whose user may go on with it besides;
    `unclear` says why somebody else may who is not to be seen.
    """

    verdict: Verdict
    code: str | None = None
    kernel: bool = False
    signals: tuple[str, ...] = ()
    resets: bool = False
    busy: str = ""
    terminals: tuple[tuple[int, int], ...] = ()
    unclear: str = ""
