"""What can not be stored exactly is refused before anything is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw
import psycopg
import pytest

import sexton
from sexton.core.message import Draft, draft
from sexton.errors import InvalidMessage, InvalidName
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.agent_worker import AgentWorker
from sexton.sessions.model import Appended, Batch, Filter
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_samples import (
    NO_RULES,
    NOON,
    born,
    everything,
    heard,
    reread,
    say,
)

NAMES = ["", "a\0b", "\0", "lone \ud800", "\udfff", "x" * 1025, "é" * 513, 7, None, b"bytes"]


@pytest.fixture
def opened(engine_url: str) -> Iterator[sexton.Sexton]:
    with sexton.open(engine_url) as found:
        yield found


@pytest.fixture
def worker(opened: sexton.Sexton) -> Iterator[AgentWorker]:
    with opened.worker() as found:
        yield found


@pytest.fixture
def session(worker: AgentWorker) -> OpenSession:
    return worker.session("talk")


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_can_not_be_stored_exactly_is_refused(
    opened: sexton.Sexton, worker: AgentWorker, name: Any
) -> None:
    given: list[dict[str, Any]] = [
        {"key": "k", "source": name},
        {"key": "k", "parent": name},
        {"key": name},
    ]
    for arguments in given:
        if arguments.get("parent", arguments.get("key")) is None:
            continue
        with pytest.raises(InvalidName) as caught:
            worker.session(**arguments)
        assert caught.value.exit_code == 25
    assert opened.ledger.index.page(Filter(), None, 10) == []


@pytest.mark.parametrize("name", [name for name in NAMES if name is not None])
def test_an_end_needs_a_reason_that_can_be_stored_exactly(session: OpenSession, name: Any) -> None:
    with pytest.raises(InvalidName):
        session.end(name)
    assert session.append(role="user", content="still open") == 1


@pytest.mark.parametrize(
    "name", ["x" * 1024, "é" * 512, "a/b\\c", "../..", "*", "%s :key $1", "\u202e"]
)
def test_any_other_name_is_stored_exactly(worker: AgentWorker, name: str) -> None:
    first = worker.session(name, source=name)
    again = worker.session(name)
    assert (again.id, again.key, again.source) == (first.id, name, name)


@pytest.mark.parametrize("role", ["", "a\0b", "lone \ud800", None, 7])
def test_a_role_must_be_plain_text(session: OpenSession, role: Any) -> None:
    with pytest.raises(InvalidMessage):
        session.append(role=role, content="x")
    assert list(session.messages()) == []


@pytest.mark.parametrize("content", [object(), {1, 2}, float("nan"), [float("inf")], b"bytes"])
def test_content_that_is_neither_text_nor_json_is_refused_and_so_is_its_batch(
    session: OpenSession, content: Any
) -> None:
    good = {"role": "user", "content": "good"}
    with pytest.raises(InvalidMessage):
        session.append(role="user", content=content)
    with pytest.raises(InvalidMessage):
        session.append(role="user", content="x", extra=content)
    with pytest.raises(InvalidMessage):
        session.append_many([good, {"role": "user", "content": content}, good])
    assert list(session.messages()) == []


def test_a_batch_of_which_one_message_is_refused_by_the_engine_stores_none(
    ledger: Ledger,
) -> None:
    begun = born(ledger)
    bad = Draft(None, True, b"x", None)  # type: ignore[arg-type]  # past every check of ours
    batch = Batch(session=begun, drafts=[draft("user", "x"), bad], schedule=NO_RULES)
    with pytest.raises((apsw.ConstraintError, psycopg.errors.NotNullViolation)):
        ledger.messages.append(batch, NOON)
    assert everything(ledger) == [begun]
    assert heard(ledger, begun) == []
    assert say(ledger, begun, "good") == Appended(1)
    assert reread(ledger, begun).message_count == 1
