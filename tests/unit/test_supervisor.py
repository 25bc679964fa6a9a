"""What systemd hears from a service."""

from __future__ import annotations

import socket
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from sexton.keeper.services.sd_notify import Supervisor
from tests.kit.postgres_programs import scratch_parent


@pytest.fixture
def folder() -> Iterator[str]:
    """A directory with a short name: the address of a socket has about 100 bytes."""
    with tempfile.TemporaryDirectory(dir=scratch_parent()) as made:
        yield made


@pytest.mark.parametrize("kind", ["path", "abstract"])
def test_whoever_started_it_hears_how_it_is_doing(kind: str, folder: str) -> None:
    name = f"{folder}/s" if kind == "path" else f"@sexton-{uuid.uuid4()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(name.replace("@", "\0", 1))
        heard.settimeout(240)
        environ = {"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "1", "WATCHDOG_PID": "1", "LANG": "C"}
        supervisor = Supervisor(environ)
        assert environ == {"LANG": "C"}  # no program started from here speaks for it
        supervisor.ready()
        assert heard.recv(99) == b"READY=1\nWATCHDOG=1"
        supervisor.alive()
        assert heard.recv(99) == b"WATCHDOG=1"
        supervisor.alive("one\nREADY=0")
        assert heard.recv(99) == b"WATCHDOG=1\nSTATUS=one READY=0"
        supervisor.stopping()
        assert heard.recv(99) == b"STOPPING=1"


def test_without_anybody_who_listens_it_goes_on(tmp_path: Path) -> None:
    Supervisor({}).ready()
    Supervisor({"NOTIFY_SOCKET": str(tmp_path / "nobody")}).alive("still here")
