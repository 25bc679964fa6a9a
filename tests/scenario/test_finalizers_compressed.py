"""End-of-session work of conversations that were compressed: every message once, none left out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sexton.core.message import Message
from sexton.sessions.agent_session import OpenSession
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.scenario.effects_server import Server, reply, say
from tests.scenario.finalizers_scene import configure, memory, open_house, owed, states, webhook


@pytest.fixture
def hook() -> Iterator[Server]:
    with Server([reply()]) as server:
        yield server


@pytest.fixture
def house(
    engine_url: str, tmp_path: Path, hook: Server, manual_clock: ManualClock
) -> Iterator[Sexton]:
    with open_house(engine_url, configure(tmp_path, webhook(hook.url)), manual_clock) as opened:
        yield opened


def failing(messages: list[Message]) -> str:
    raise ConnectionError


def tell(session: OpenSession, first: int, last: int) -> None:
    session.append_many({"role": "user", "content": f"m{n}"} for n in range(first, last + 1))


def shorten(session: OpenSession) -> None:
    terms = {"keep_head": 1, "keep_tail": 2}
    assert session.compress(failing, attempts=1, on_failure="fallback", **terms)  # type: ignore[arg-type]


def posted(hook: Server) -> list[list[str]]:
    """What was said in each post so far."""
    return [[each["content"] for each in post.json["messages"]] for post in hook.requests]


def named(first: int, last: int) -> list[str]:
    return [f"m{n}" for n in range(first, last + 1)]


def test_what_was_flushed_before_a_fallback_is_not_flushed_again(
    house: Sexton, hook: Server
) -> None:
    session = house.worker().session("k", source="cli")
    tell(session, 1, 10)
    lost = house.find(session.id)
    assert house.ledger.book.end_now(lost, "reaped:test", house.clock.now())
    house.sweep()
    session.revive()
    tell(session, 11, 20)
    shorten(session)
    session.end()
    house.sweep()
    assert sorted(posted(hook)) == sorted([named(1, 10), named(11, 18), named(19, 20)])
    assert states(house) == {"done": 4}


def test_after_two_fallbacks_every_message_is_flushed_once(house: Sexton, hook: Server) -> None:
    session = house.worker().session("k", source="cli")
    tell(session, 1, 10)
    shorten(session)
    tell(session, 11, 15)
    shorten(session)
    tell(session, 16, 17)
    session.end()
    house.sweep()
    assert sorted(posted(hook)) == sorted([named(1, 8), named(9, 13), named(14, 17)])


def test_a_summary_after_a_fallback_leaves_nothing_out(house: Sexton, hook: Server) -> None:
    session = house.worker().session("k", source="cli")
    tell(session, 1, 10)
    shorten(session)
    tell(session, 11, 15)
    assert session.compress(lambda _: "in short", keep_head=1, keep_tail=2)
    session.end()
    house.sweep()
    assert sorted(posted(hook)) == sorted([named(1, 8), ["in short", "m14", "m15"]])


def test_the_short_tip_of_a_long_conversation_is_remembered(
    engine_url: str, tmp_path: Path
) -> None:
    with Server([say("- fact")]) as model:
        config = configure(tmp_path, memory(model.url, min_messages=4))
        with open_house(engine_url, config) as house:
            session = house.worker().session("k", source="cli")
            tell(session, 1, 10)
            assert session.compress(lambda _: "in short", keep_head=1, keep_tail=1)
            session.end()
            house.sweep()
            assert [each.session for each in owed(house)] == [session.id]
            assert states(house) == {"done": 1}
