"""A real process that holds a session until it is hurt."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.surface.program import environment

PROGRAM = """
import sys, sexton
opened = sexton.open(sys.argv[1])
session = opened.worker().session(sys.argv[2], source=sys.argv[3])
session.append(role="user", content="hello")
print(session.id, flush=True)
sys.stdin.read()
"""


@contextmanager
def holder(url: str, key: str, source: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and the id of the session it holds; whatever happens, it is gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, url, key, source],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()
