"""How are forgotten preview servers brought about, so that none is left when the show is over?"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sexton.homes.hermes.demo.demo_writer import Server
from sexton.liveness.process_identity import start_tick

PATIENCE = 240.0
# A server says its number, and becomes the program, which says a line when it listens. The outer
# shell outlives nobody: when whoever started it ends, in whatever way, its input ends too.
SERVER = 'echo $$; exec "$@" 2>/dev/null'
GUARD = f"""sh -c '{SERVER}' sh "$@" & exec >/dev/null; cat; kill $! 2>/dev/null; wait"""


@contextmanager
def preview_servers(folder: Path, count: int = 2) -> Iterator[tuple[Server, ...]]:
    """Servers of a folder on ports of this machine, ended with this block or this process."""
    with ExitStack() as stack:
        yield tuple(stack.enter_context(_server(folder)) for _ in range(count))


@contextmanager
def _server(folder: Path) -> Iterator[Server]:
    """One server, which listens already on a port that the kernel has chosen."""
    words = [sys.executable, "-m", "http.server", "0", "--bind", "127.0.0.1"]
    words += ["--directory", str(folder)]
    with subprocess.Popen(
        ["/bin/sh", "-c", GUARD, "sh", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as guard:
        assert guard.stdout
        assert guard.stdin
        try:
            pid = int(guard.stdout.readline())
            guard.stdout.readline()
            yield Server(pid, start_tick(pid) or 0, shlex.join(words))
        finally:
            guard.stdin.close()
            guard.wait(PATIENCE)
