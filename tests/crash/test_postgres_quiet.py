"""What does an application print while its PostgreSQL is away? Only what it wants to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.kit.postgres_server import PostgresServer

APPLICATION = """
import logging, sys
from sexton.errors import LedgerUnreachable
from sexton.store.opening import open_ledger
from tests.contract.ledger_contract_samples import born, say
from tests.crash.impatience import impatient

if sys.argv[2] == "logs":
    logging.basicConfig(format="%(name)s")
ledger = open_ledger(sys.argv[1])
begun = born(ledger)

def away(act, *values, **options):
    try:
        act(*values, **options)
    except LedgerUnreachable:
        return
    raise AssertionError("it was there")

for _ in range(2):
    print("ready", flush=True)
    sys.stdin.readline()
    with impatient(ledger, 1.0):
        away(ledger.book.current, "talk")
        away(say, ledger, begun, "one", "two")
    away(open_ledger, sys.argv[1], patience=1)
ledger.close()
"""


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    with PostgresServer(tcp=True) as running:
        yield running


def printed(server: PostgresServer, habit: str) -> str:
    """What an application wrote to stderr while its server was frozen and then down."""
    command = [sys.executable, "-c", APPLICATION, server.create_database(), habit]
    with subprocess.Popen(
        command, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as application:  # fmt: skip
        assert application.stdin
        assert application.stdout
        for hurt in (server.pause, server.stop):
            assert application.stdout.readline() == "ready\n"
            hurt()
            application.stdin.write("\n")
            application.stdin.flush()
        _, words = application.communicate(timeout=240)
        assert application.returncode == 0, words
        return words


@pytest.mark.parametrize("habit", ["logs nothing", "logs"])
def test_an_application_prints_nothing_of_the_driver(server: PostgresServer, habit: str) -> None:
    assert printed(server, habit) == ""
