"""The process in which a nursery's children are born: everything is imported, nothing is open."""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress

LONGEST = 65_536


class Report:
    """A child's line to whoever started it; what it tells is known even after a SIGKILL."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def tell(self, *words: object) -> None:
        """Say one short line; threads and forked children may do so at the same time."""
        os.write(self._descriptor, (" ".join(map(str, words)) + "\n").encode())


def serve(line: socket.socket) -> None:
    """Fork what is asked for and collect what has ended, until the other side is gone."""
    born: set[int] = set()
    while True:
        order, descriptors, _, _ = socket.recv_fds(line, LONGEST, 1)
        if not order:
            break
        asked = json.loads(order)
        if "wait" in asked:
            _, status = os.waitpid(asked["wait"], 0)
            born.discard(asked["wait"])
            line.send(json.dumps(os.waitstatus_to_exitcode(status)).encode())
            continue
        pid = os.fork()
        if pid == 0:
            line.close()
            _live(asked["target"], asked["arguments"], descriptors[0])
        os.close(descriptors[0])
        _lead_a_group(pid)
        born.add(pid)
        line.send(json.dumps(pid).encode())
    for pid in born:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _live(target: str, arguments: list[str], descriptor: int) -> None:
    """Be a child: do what the target does, then exit without any tidying of the nursery's."""
    _lead_a_group(0)
    code = 1
    try:
        module, _, name = target.partition(":")
        program: Callable[..., None] = getattr(importlib.import_module(module), name)
        program(Report(descriptor), *arguments)
        code = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os._exit(code)


def _lead_a_group(pid: int) -> None:
    """Put the child in a group of its own, so that it and its forks can be killed together."""
    with suppress(PermissionError, ProcessLookupError):
        os.setpgid(pid, pid)


if __name__ == "__main__":
    for needed in sys.argv[2:]:
        importlib.import_module(needed)
    with socket.socket(fileno=int(sys.argv[1])) as opened:
        serve(opened)
