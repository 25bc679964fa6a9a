"""A real PostgreSQL for a test: up in a second or two, hurt at will, gone without a trace."""

from __future__ import annotations

import itertools
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import psutil
import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tests.kit import postgres_cleaner
from tests.kit.postgres_cleaner import PATIENCE, PAUSE
from tests.kit.postgres_programs import program_directory, scratch_parent, server_account

ROLE = "sexton"
QUICK = {"fsync": "off", "full_page_writes": "off"}
MODEST = {
    "dynamic_shared_memory_type": "mmap",
    "log_min_messages": "warning",
    "max_connections": "120",
    "shared_buffers": "32MB",
}
DROPS = 50
"""The server waits 5 seconds each time for those it cuts off, which a busy machine may exceed."""
_ADDRESSES = itertools.count()


class PostgresServer:
    """A server with a directory of its own, as a context manager.

    Its URLs name a unix socket in a private directory, or with `tcp=True` a loopback port and a
    password. Without `fsync=True` it does not wait for the disk: what it acknowledged
    survives a kill, not a power cut. When the calling process dies in any way, so does the server.
    """

    def __init__(
        self, *, tcp: bool = False, fsync: bool = False, settings: Mapping[str, str] | None = None
    ) -> None:
        self._programs = program_directory()
        self._account = server_account()
        self._tcp = tcp
        self._settings = MODEST | ({} if fsync else QUICK) | dict(settings or {})
        self._password = secrets.token_hex(16)
        self._host, self._port = _own_address() if tcp else ("", 5432)
        self._names = itertools.count(1)
        self._directory: Path | None = None
        self._cleaner: subprocess.Popen[bytes] | None = None
        self._server: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        place = tempfile.mkdtemp(dir=scratch_parent(), prefix="sexton-pg-")
        self._directory = Path(place).resolve()
        with ExitStack() as undo:
            undo.callback(self.close)
            self._cleaner = _start_cleaner(self._directory)
            self._initialise()
            self.start()
            undo.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def directory(self) -> Path:
        """Where the server's data, socket and log are."""
        if self._directory is None:
            raise RuntimeError("A server is used as a context manager; this one was not entered.")
        return self._directory

    @property
    def pid(self) -> int:
        """The process id of the postmaster."""
        if self._server is None:
            raise RuntimeError("The server is not running.")
        return self._server.pid

    def url(self, dbname: str = "postgres") -> str:
        """The address of one of the server's databases."""
        name = quote(dbname, safe="")
        if self._tcp:
            return f"postgresql://{ROLE}:{self._password}@{self._host}:{self._port}/{name}"
        host = quote(str(self.directory), safe="")
        return f"postgresql://{ROLE}@/{name}?host={host}&port={self._port}"

    def create_database(self, template: str | None = None) -> str:
        """The URL of a new database: an empty one, or a copy of the named one."""
        name = f"db_{next(self._names)}"
        self._tell("CREATE DATABASE {} TEMPLATE {}", name, template or "template0")
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Remove a database, cutting its connections."""
        name = str(conninfo_to_dict(url)["dbname"])
        for _ in range(DROPS):
            with suppress(psycopg.errors.ObjectInUse):
                self._tell("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)
                return
        raise RuntimeError(f"somebody is still connected to {name}")

    def start(self) -> None:
        """Be up and answering, whatever was done to the server before."""
        if self._is_running():
            self.resume()
            return
        with open(self.directory / "log", "ab") as log:
            self._server = self._run(self._serve_command(), log.fileno())
        for _ in range(PATIENCE):
            if self._is_ready() or not self._is_running():
                break
            time.sleep(PAUSE)
        if not self._is_ready():
            raise RuntimeError(f"PostgreSQL did not start:\n{self._last_words()}")

    def pause(self) -> None:
        """Freeze every process of the server: connections stay open and nothing answers."""
        # The postmaster first: once it stands still there are no new children to miss.
        _freeze([psutil.Process(self.pid)])
        _freeze(self._children())

    def resume(self) -> None:
        """Let a frozen server go on."""
        _send(signal.SIGCONT, [*self._children(), psutil.Process(self.pid)])

    def stop(self) -> None:
        """Shut down at once, cutting every connection; `start` recovers what was acknowledged."""
        if self._is_running():
            self.resume()
            _send(signal.SIGQUIT, [psutil.Process(self.pid)])
            postgres_cleaner.have_ended([psutil.Process(self.pid)])
        self.kill()

    def kill(self) -> None:
        """Kill all the server's processes at once; `start` recovers what was acknowledged."""
        if self._is_running():
            self.pause()
            postgres_cleaner.kill([*self._children(), psutil.Process(self.pid)])
        if self._server is not None:
            self._server.wait()
            self._server = None

    def close(self) -> None:
        """Stop the server and remove everything it left."""
        self.stop()
        if self._cleaner is not None:
            self._cleaner.communicate(b"\n")
            self._cleaner = None

    def _initialise(self) -> None:
        """Make the data directory."""
        secret = self.directory / "password"
        secret.touch(mode=0o600)
        secret.write_text(self._password)
        if self._account is not None:
            for path in (self.directory, secret):
                os.chown(path, self._account.pw_uid, self._account.pw_gid)
        with open(self.directory / "log", "ab") as log:
            failed = self._run(self._initdb_command(secret), log.fileno()).wait()
        secret.unlink()
        if failed:
            raise RuntimeError(f"initdb failed:\n{self._last_words()}")

    def _initdb_command(self, secret: Path) -> list[str]:
        return [
            str(self._programs / "initdb"),
            f"--pgdata={self.directory / 'data'}",
            f"--username={ROLE}",
            f"--pwfile={secret}",
            "--auth-local=trust",
            "--auth-host=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
            "--no-instructions",
        ]

    def _serve_command(self) -> list[str]:
        settings = self._settings | {
            "listen_addresses": self._host,
            "port": str(self._port),
            "unix_socket_directories": str(self.directory),
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [str(self._programs / "postgres"), "-D", str(self.directory / "data"), *options]

    def _run(self, command: Sequence[str], log: int) -> subprocess.Popen[bytes]:
        """Start one of PostgreSQL's programs under the server's account."""
        account = self._account
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=self.directory,
            # A known time zone saves initdb from comparing every one there is with the machine's.
            env={"LC_ALL": "C", "PATH": os.defpath, "TZ": "UTC"},
            start_new_session=True,
            user=account and account.pw_uid,
            group=account and account.pw_gid,
            extra_groups=[] if account else None,
        )

    def _is_running(self) -> bool:
        return self._server is not None and self._server.poll() is None

    def _is_ready(self) -> bool:
        """Whether the postmaster says so in its pid file."""
        with suppress(FileNotFoundError):
            lines = (self.directory / "data" / "postmaster.pid").read_text().split("\n")
            return len(lines) > 7 and lines[0] == str(self.pid) and lines[7].strip() == "ready"
        return False

    def _children(self) -> list[psutil.Process]:
        return psutil.Process(self.pid).children(recursive=True)

    def _tell(self, statement: str, *names: str) -> None:
        """Run a statement about databases."""
        text = sql.SQL(statement).format(*map(sql.Identifier, names))
        with psycopg.connect(self.url(), autocommit=True, connect_timeout=240) as connection:
            connection.execute(text)

    def _last_words(self) -> str:
        return (self.directory / "log").read_text(errors="replace")[-2000:]


def _start_cleaner(directory: Path) -> subprocess.Popen[bytes]:
    """Start what tidies up after the server and this process, however they end."""
    return subprocess.Popen(
        [sys.executable, "-P", postgres_cleaner.__file__, str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )


def _send(which: signal.Signals, processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(which)


def _freeze(processes: Sequence[psutil.Process]) -> None:
    """Stop processes and wait until they stand still: the signal alone is only a wish."""
    _send(signal.SIGSTOP, processes)
    for _ in range(PATIENCE):
        if all(map(_stands_still, processes)):
            return
        time.sleep(PAUSE)
    raise RuntimeError("A process of the server could not be frozen.")


def _stands_still(process: psutil.Process) -> bool:
    try:
        return process.status() in {psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE}
    except psutil.NoSuchProcess:
        return True


def _own_address() -> tuple[str, int]:
    """A loopback address and a port that nobody else takes while the server is down."""
    if os.uname().sysname == "Linux":  # where all of 127/8 is this machine
        number = os.getpid() * 4 + next(_ADDRESSES) % 4
        return f"127.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}", 5432
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return "127.0.0.1", port
