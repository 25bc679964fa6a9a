"""How does a forked child of a test end?"""

from __future__ import annotations

import os
import signal
import time

BOUND = 240.0


def exit_code(child: int) -> int | None:
    """The code with which a child ends; None for one that hangs, which is killed."""
    deadline = time.monotonic() + BOUND
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None
