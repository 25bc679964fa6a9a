"""A server that is frozen, down, started again or killed: no hang, no half work, no loss."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from sexton.errors import LedgerError, LedgerUnreachable
from sexton.sessions.message_store import LedgerMessages
from sexton.store.ledger import Ledger
from sexton.store.opening import masked, open_ledger
from tests.contract.ledger_contract_samples import (
    born,
    heard,
    race,
    reread,
    say,
)
from tests.crash.checking import Promises, check
from tests.crash.impatience import impatient
from tests.kit.nursery import Nursery
from tests.kit.postgres_server import PostgresServer

DEADLINE = 2.0
"""After so many seconds a call to a server that is away is given up; others have their time."""
PATIENCE = 240.0


@pytest.fixture(scope="module")
def hurt_server() -> Iterator[PostgresServer]:
    """A server for these tests alone, reached with a password, as a fleet's would be."""
    with PostgresServer(tcp=True) as server:
        yield server


@pytest.fixture
def url(hurt_server: PostgresServer) -> Iterator[str]:
    hurt_server.start()
    yield hurt_server.create_database()
    hurt_server.start()


@pytest.fixture
def ledger(url: str) -> Iterator[Ledger]:
    opened = open_ledger(url, patience=PATIENCE)
    yield opened
    opened.close()


def refused(act: Callable[[], object]) -> str:
    """The words with which a call is refused; one that hangs is ended with its test."""
    with pytest.raises(LedgerUnreachable) as caught:
        act()
    return str(caught.value)


def fill_pool(ledger: Ledger, connections: int) -> None:
    """Have so many connections, by using them at the same time."""
    barrier = threading.Barrier(connections, timeout=PATIENCE)
    assert isinstance(ledger.messages, LedgerMessages)
    race([partial(ledger.messages._database.read, lambda _: barrier.wait())] * connections)


def works(act: Callable[[], object]) -> bool:
    """Whether a call that may meet a broken connection got through."""
    try:
        return act() is not None
    except LedgerUnreachable:
        return False


def test_a_frozen_server_is_given_up_in_time_and_everything_works_once_it_goes_on(
    hurt_server: PostgresServer, ledger: Ledger
) -> None:
    begun = born(ledger)
    assert say(ledger, begun, "before")
    hurt_server.pause()
    with impatient(ledger, DEADLINE):
        refused(lambda: say(ledger, begun, "in", "between"))
        refused(lambda: ledger.book.end_now(begun, "closed", begun.started_at))
        refused(lambda: ledger.book.current("talk"))
    hurt_server.resume()
    assert say(ledger, begun, "after")
    texts = [message.content for message in heard(ledger, begun)]
    assert texts in (["before", "after"], ["before", "in", "between", "after"])
    now = reread(ledger, begun)
    assert (now.message_count, now.is_open) == (len(texts), True)


def test_many_threads_are_all_given_up_in_time(hurt_server: PostgresServer, ledger: Ledger) -> None:
    begun = [born(ledger, f"{number}") for number in range(24)]
    race([partial(say, ledger, each, "before") for each in begun])
    hurt_server.pause()
    with impatient(ledger, DEADLINE):
        words = race([partial(refused, partial(say, ledger, each, "lost")) for each in begun])
    assert len(words) == 24
    hurt_server.resume()
    race([partial(say, ledger, each, "after") for each in begun])
    for each in begun:
        texts = [message.content for message in heard(ledger, each)]
        assert (texts[0], texts[-1]) == ("before", "after")
        assert reread(ledger, each).message_count == len(texts)


def test_a_frozen_server_does_not_keep_an_opener_waiting(
    hurt_server: PostgresServer, url: str
) -> None:
    hurt_server.pause()
    refused(lambda: open_ledger(url, patience=DEADLINE))
    hurt_server.resume()
    open_ledger(url, patience=PATIENCE).close()


def test_a_server_that_is_down_is_told_at_once(hurt_server: PostgresServer, url: str) -> None:
    hurt_server.stop()
    refused(lambda: open_ledger(url, patience=10 * PATIENCE))  # longer than a test may take


@pytest.mark.parametrize("hurt", [PostgresServer.stop, PostgresServer.kill])
def test_after_a_restart_at_most_the_call_that_finds_out_fails(
    hurt_server: PostgresServer, ledger: Ledger, hurt: Callable[[PostgresServer], None]
) -> None:
    begun = [born(ledger, f"{number}") for number in range(8)]
    race([partial(say, ledger, each, "before") for each in begun])
    fill_pool(ledger, len(begun))
    hurt(hurt_server)
    hurt_server.start()
    assert sum(works(partial(say, ledger, each, "after")) for each in begun) >= len(begun) - 1
    for each in begun:
        assert say(ledger, each, "once more")
        texts = [message.content for message in heard(ledger, each)]
        assert (texts[0], texts[-1]) == ("before", "once more")
        assert reread(ledger, each).message_count == len(texts)


def test_calls_made_while_the_server_is_down_do_not_delay_those_after_it_is_back(
    hurt_server: PostgresServer, ledger: Ledger
) -> None:
    begun = born(ledger)
    hurt_server.stop()
    with impatient(ledger, DEADLINE):
        for _ in range(3):
            refused(lambda: say(ledger, begun, "lost"))
    hurt_server.start()
    assert any(works(lambda: say(ledger, begun, "back")) for _ in range(2))


def test_a_server_killed_while_a_client_writes_loses_nothing_acknowledged(
    nursery: Nursery, hurt_server: PostgresServer, url: str
) -> None:
    promises = Promises()
    for number in range(3):
        child = nursery.start("tests.crash.appending:append", url, "threads", f"child{number}")
        child.wait_for(lambda lines: len(lines) > 100)
        hurt_server.kill()
        child.kill()
        hurt_server.start()
        assert promises.hear(child.lines()) > 20
        check(url, promises)


def test_no_error_shows_the_password(hurt_server: PostgresServer, ledger: Ledger, url: str) -> None:
    secret = url.partition("@")[0].rpartition(":")[2]
    assert secret not in ledger.url
    begun = born(ledger)
    hurt_server.pause()
    with impatient(ledger, DEADLINE):
        assert secret not in refused(lambda: say(ledger, begun, "x"))
        hurt_server.stop()
        assert secret not in refused(lambda: say(ledger, begun, "x"))
    with pytest.raises(LedgerUnreachable) as caught:
        open_ledger(url)
    assert secret not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:sesame@127.0.0.1:1/db",
        "postgresql://me:sesame@127.0.0.1:bad/db",
        "postgresql://me:sesame@[::1/db",
        "postgresql://me:sesame@127.0.0.1:1/db?unheard=of",
        "postgresql://me:open@sesame@127.0.0.1:1/db",
        "postgresql://me:open/sesame@127.0.0.1:1/db",
        "postgresql://me:open?sesame@127.0.0.1:1/db",
        "postgresql://me:open#sesame@127.0.0.1:1/db",
        "postgresql://me:sesame%zz@127.0.0.1:1/db",
        "postgresql://127.0.0.1:1/db?user=me&password=sesame",
        "postgresql://127.0.0.1:1/db?password=open@sesame",
        "postgresql://me:sesame@\u2100/db",
    ],
)
def test_an_address_is_refused_without_a_word_of_its_password(url: str) -> None:
    with pytest.raises(LedgerError) as caught:
        open_ledger(url, patience=DEADLINE)
    assert "sesame" not in str(caught.value) + repr(caught.value.__cause__) + masked(url)
    assert caught.value.hint
