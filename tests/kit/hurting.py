"""In which ways can a process come to harm, and which of them does this machine allow?

    child = nursery.start("my_agent:work", url, terminal=True)
    child.wait_for(lambda lines: "working" in lines)
    FATAL["its terminal hangs up"](child)
    child.fall()
    assert_nobody_dead_holds_anything(ledger, dead=[worker])

A blow of `FATAL` ends a child; what returns from `pause` stands still until it is resumed. Clocks
that jump are in `tests.kit.jumping`. Where pids can not be chosen on the machine itself, they
often can in a pid namespace: `tests.kit.apart`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.kit import nursery_process
from tests.kit.freezing import Freezer
from tests.kit.nursery import Child, Nursery

STARVE = "no memory"
HANG_UP = "its terminal hangs up"
REUSE = "SIGKILL, and its pid goes to a stranger"


def starve(child: Child) -> None:
    """Take all memory from a child until it has ended.

    Once may not be enough: an error that is raised while an object is destroyed is ignored.
    """
    for _ in range(120):
        child.signal(nursery_process.STARVE)
        with suppress(AssertionError):
            child.fall(2.0)
            return


FATAL: Mapping[str, Callable[[Child], None]] = {
    "SIGKILL": lambda child: child.signal(signal.SIGKILL),
    "os._exit": lambda child: child.signal(nursery_process.EXIT),
    STARVE: starve,
    HANG_UP: Child.hang_up,
    REUSE: lambda child: child.signal(signal.SIGKILL),
}
"""Ways to end a child without a word. The fourth needs one that was started with a terminal, the
last is completed by `reuse_pid` once the child was collected."""


def wait_idle(report: object) -> None:
    """A program that does nothing until it is killed."""
    del report
    while True:
        signal.pause()


def may_choose_pids() -> bool:
    """Whether the pid of a new process can be chosen here, as root of its namespace can."""
    # Everybody may open it; the kernel says who may write only when somebody does.
    try:
        nursery_process.LAST_PID.write_text(nursery_process.LAST_PID.read_text())
    except OSError:
        return False
    return True


def reuse_pid(nursery: Nursery, pid: int) -> Child:
    """A stranger who has the pid of somebody dead and collected."""
    return nursery.start("tests.kit.hurting:wait_idle", pid=pid)


@contextmanager
def stopped(child: Child) -> Iterator[None]:
    """Stop a child as job control does, and let it go on at the end."""
    child.signal(signal.SIGSTOP)
    try:
        _wait_until_it_stands_still(child.pid)
        yield
    finally:
        child.signal(signal.SIGCONT)


@contextmanager
def frozen(child: Child, freezer: Freezer) -> Iterator[None]:
    """Freeze a child as the host of a container does, and thaw it at the end."""
    freezer.freeze(child.pid)
    try:
        yield
    finally:
        freezer.thaw(child.pid)


def _wait_until_it_stands_still(pid: int) -> None:
    """The signal alone is only a wish."""
    for _ in range(100_000):
        with suppress(FileNotFoundError, ProcessLookupError):
            state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2]
            if state.split()[0] in "TtZ":
                return
            threading.Event().wait(0.001)
            continue
        return
    raise AssertionError(f"process {pid} can not be stopped")
