"""Budgets of an everyday size in the real Hermes, whose model counts all that it is sent."""

from __future__ import annotations

import os
import struct
import time
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sexton.spending.model import Scope, Unit
from tests.scenario.fake_model import ANSWER, Said, ToolUse, counting
from tests.scenario.finalizers_scene import wait_until
from tests.scenario.hermes_lab import Terminal, own_turns_ended
from tests.scenario.hermes_spender import Spender, budget, spender, working

REFUSED = "[sexton]"
SLACK = 200
"""So many tokens a question adds to a conversation at most, with how it is wrapped."""
SEES = {
    "agent: {": "agent: {image_input_mode: native, ",
    "context_length: 131072}": "context_length: 131072, supports_vision: true}",
}
DEARER = "{models: {fake-model: {input: 10, output: 10}}}"


@pytest.fixture(scope="module")
def python(furnished_python: Path) -> Path:
    return furnished_python


@pytest.fixture
def home(python: Path, tmp_path: Path) -> Iterator[Spender]:
    with spender(python, tmp_path) as made:
        yield made


def talking(messages: list[Any]) -> Said:
    """Wants one tool for each question, then says something, each time a bit more."""
    if messages[-1]["role"] == "user":
        return ToolUse("terminal", {"command": f"echo {len(messages)}"})
    return "Well. " * (60 + 10 * len(messages))


def have_ended(home: Spender, terminal: Terminal, turns: int) -> bool:
    """Whether so many turns are over; who is not listened to stands still."""
    terminal.read()
    return own_turns_ended(home.lab) == turns


def spent(home: Spender) -> int:
    return sum(each["total_tokens"] for each in home.model.used)


def longest(home: Spender) -> int:
    return max(each["completion_tokens"] for each in home.model.used)


@pytest.mark.parametrize(
    ("limit", "size", "words"),
    [
        (20_000, 4, ("--toolsets", "terminal")),
        (40_000, 2.8, ("--toolsets", "terminal")),
        (60_000, 5, ()),
    ],
)
def test_a_budget_is_used_up_to_its_last_call_over_several_turns_and_not_overspent(
    home: Spender, limit: int, size: float, words: tuple[str, ...]
) -> None:
    home.publish(budget(Scope.SESSION, Unit.TOKENS, limit))
    home.model.reply, home.model.counts = talking, counting(size)
    with home.lab.terminal("--yolo", *words) as terminal:
        terminal.wait_for("❯")
        turns = 0
        while REFUSED.encode() not in terminal.shown:
            terminal.type(f"And what comes after {turns}?")
            turns += 1
            wait_until(partial(have_ended, home, terminal, turns))
    last = home.model.used[-1]["total_tokens"]
    assert turns > 1
    assert spent(home) <= limit + longest(home)
    assert spent(home) + last + longest(home) + SLACK > limit, "one more call has no room"


def test_the_first_call_of_each_process_is_foreseen_with_its_tools(home: Spender) -> None:
    home.model.reply, home.model.counts = (lambda _: ANSWER), counting(4)
    shown = home.lab.ask("Hello", "--yolo")
    [session] = home.sessions()
    limit = int(3.6 * spent(home))
    home.publish(budget(Scope.SESSION, Unit.TOKENS, limit))
    while REFUSED not in shown:
        shown = home.lab.ask("Hello again", "--resume", session.id, "--yolo")
    assert limit * 0.8 <= spent(home) <= limit + longest(home)


def test_a_picture_takes_as_much_as_pictures_do_and_not_as_its_bytes(
    python: Path, tmp_path: Path
) -> None:
    with spender(python, tmp_path) as home:
        config = home.lab.home / "config.yaml"
        text = config.read_text()
        for before, after in SEES.items():
            text = text.replace(before, after)
        config.write_text(text)
        home.publish(budget(Scope.SESSION, Unit.TOKENS, 40_000))
        home.model.reply, home.model.counts = (lambda _: ANSWER), counting(4)
        picture = tmp_path / "noise.png"
        picture.write_bytes(noise(450))
        shown = home.lab.run("chat", "--image", str(picture), "-q", "What is that?").stdout
        assert REFUSED not in shown
        assert ANSWER in shown
        [asked] = home.model.asked
        assert "image_url" in [part["type"] for part in asked[-1]["content"]]


def noise(side: int) -> bytes:
    """A square picture that can not be made smaller."""
    rows = b"".join(b"\0" + os.urandom(3 * side) for _ in range(side))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    chunks = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def without_ledger(home: Spender, place: Path, rule: str) -> None:
    """A home whose ledger can not be used, with a budget that is known from the settings."""
    Path(home.ledger.removeprefix("sqlite:///")).write_bytes(b"no database" * 1000)
    settings = place / "sexton.yaml"
    settings.write_text(f"budgets: [{{scope: session, action: kill, {rule}}}]\nprices: {DEARER}\n")
    home.lab.add("SEXTON_CONFIG", str(settings))
    home.model.counts = counting(4)


def test_without_a_ledger_a_turn_spends_no_more_dollars_than_a_budget_has(
    home: Spender, tmp_path: Path
) -> None:
    without_ledger(home, tmp_path, "usd: 1")
    home.run_job()
    dollar = 100_000
    last = home.model.used[-1]["total_tokens"]
    assert spent(home) <= dollar + longest(home)
    assert spent(home) + last + longest(home) + SLACK > dollar, "one more call has no room"


def test_without_a_ledger_a_turn_brings_no_more_messages_than_a_budget_has(
    home: Spender, tmp_path: Path
) -> None:
    without_ledger(home, tmp_path, "messages: 10")
    home.run_job()
    assert len(home.model.asked) == 5, "the question, and a call and its tool for each answer"


def test_without_a_ledger_a_turn_takes_no_longer_than_a_budget_has(
    home: Spender, tmp_path: Path
) -> None:
    without_ledger(home, tmp_path, "wall: 5s")
    began: list[float] = []

    def slow(messages: list[Any]) -> Said:
        began.append(time.monotonic())
        if len(began) == 3:
            wait_until(lambda: time.monotonic() - began[0] > 6)
        return working(messages)

    home.model.reply = slow
    home.run_job()
    assert len(home.model.asked) <= 3
