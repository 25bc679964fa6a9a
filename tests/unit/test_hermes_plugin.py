"""What the plugin decides without Hermes: failures, tokens, rows, and when to go without."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

import pytest

from sexton.errors import InputInvalid, LedgerBusy
from sexton.integrations.hermes_plugin import calls, plugin_turns
from sexton.integrations.hermes_plugin import plugin_rows as rows
from sexton.integrations.hermes_plugin import trying as trying_module
from sexton.integrations.hermes_plugin.bounded import OwnCount
from sexton.integrations.hermes_plugin.foresight import FIRST, PICTURE, REMEMBERED, Foresight
from sexton.integrations.hermes_plugin.guests import Guests
from sexton.integrations.hermes_plugin.plugin_background import warning
from sexton.integrations.hermes_plugin.plugin_beside import Beside
from sexton.integrations.hermes_plugin.plugin_turns import Turns
from sexton.integrations.hermes_plugin.runs import Run
from sexton.integrations.hermes_plugin.trying import REST, Trying
from sexton.integrations.hermes_plugin.uncounted import Uncounted
from sexton.integrations.hermes_plugin.weighing import Length
from sexton.spending.model import Act, Budget, Scope, Unit
from sexton.spending.policy import Price, Prices, SpendRules
from sexton.testing import ManualClock

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "result", "failed"),
    [
        ("ok", '{"output": "", "exit_code": 0}', False),
        ("ok", '{"output": "", "exit_code": 1}', True),
        ("ok", '{"output": "", "exit_code": null}', False),
        ("ok", 'words about "exit_code"', False),
        ("ok", '["exit_code"]', False),
        ("error", "no", True),
        ("timeout", None, True),
        ("cancelled", None, False),
        (None, 7, False),
    ],
)
def test_a_command_that_ends_with_an_error_has_failed_whatever_hermes_calls_it(
    status: str | None, result: object, failed: bool
) -> None:
    assert calls.has_failed(status, result) is failed


LONG = "x" * 3000
PICTURE_URL = "data:image/png;base64," + "A" * 90_000


@pytest.mark.parametrize(
    "asked",
    [
        {"messages": [{"role": "user", "content": LONG}]},
        {"messages": [], "tools": [{"function": {"description": LONG}}]},
        {"messages": [], "system": [{"text": LONG}]},
        {"input": [], "instructions": LONG},
        {"messages": [], "toolConfig": {"tools": [{"toolSpec": {"description": LONG}}]}},
    ],
)
def test_all_of_a_request_is_foreseen_before_the_model_has_counted(
    asked: dict[str, object],
) -> None:
    foreseen = Foresight().of({**asked, "max_tokens": 65_536}, "m")
    assert (1000 <= foreseen.sent < 1060, foreseen.answered) == (True, FIRST)


def test_the_same_is_foreseen_of_any_script_as_the_model_would_send_it() -> None:
    foresight, words = Foresight(), {"messages": ["\u0434" * 1500]}
    assert 1000 <= foresight.of(words, "m").sent < 1030
    assert foresight.of({"messages": ["\ud800"], "seed": None}, "m").sent < 20


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": PICTURE_URL}},
        {"type": "input_image", "image_url": PICTURE_URL},
        {"type": "image", "source": {"type": "base64", "data": "A" * 90_000}},
        {"type": "document", "source": {"type": "base64", "data": "A" * 90_000}},
        {"type": "input_file", "file_data": PICTURE_URL},
        {"image": {"format": "png", "source": {"bytes": b"A" * 90_000}}},
    ],
)
def test_a_picture_is_foreseen_as_one_however_large_it_is(part: dict[str, object]) -> None:
    request = {"messages": [{"role": "user", "content": [part, part]}]}
    sent = Foresight().of(request, "m").sent
    assert 2 * PICTURE < sent < 2 * PICTURE + 100


def test_a_picture_that_is_written_out_in_a_text_is_text() -> None:
    request = {"messages": [{"role": "user", "content": PICTURE_URL}]}
    assert Foresight().of(request, "m").sent > 30_000


def test_a_call_is_foreseen_as_the_last_one_of_its_session_and_what_has_come_since() -> None:
    foresight = Foresight()
    request = {"messages": [{"role": "user", "content": LONG}]}
    first = foresight.of(request, "m", "a")
    foresight.learn("m", "a", first.length, 2 * first.length.text, 5)
    assert foresight.of(request, "m", "a").sent == 2 * first.length.text
    longer = {"messages": [{"role": "user", "content": LONG + "x" * 400}]}
    assert foresight.of(longer, "m", "a").sent == 2 * first.length.text + 800
    shorter = {"messages": [{"role": "user", "content": "x"}]}
    compressed = foresight.of(shorter, "m", "a")
    assert compressed.sent == 2 * compressed.length.text
    assert foresight.of(request, "m", "b").sent == 2 * first.length.text, "as its model counts"
    assert foresight.of(request, "another", "a").sent == first.sent


def test_a_picture_that_the_model_has_counted_is_foreseen_as_it_counted() -> None:
    foresight, picture = Foresight(), {"type": "image", "source": {"type": "base64", "data": "A"}}
    request = {"messages": [LONG]}
    foresight.learn("m", "a", foresight.of(request, "m", "a").length, 750, 5)
    seen = {"messages": [LONG, picture]}
    before = foresight.of(seen, "m", "a")
    assert 750 + PICTURE <= before.sent < 750 + PICTURE + 10
    foresight.learn("m", "a", before.length, 840, 5)
    assert foresight.of(seen, "m", "a").sent == 840
    more = {"messages": [LONG, picture, "x" * 3000]}
    assert 1580 < foresight.of(more, "m", "a").sent < 1600, "text is counted as without pictures"


def test_what_a_session_has_taken_is_forgotten_with_it() -> None:
    foresight, request = Foresight(), {"messages": [LONG]}
    asked = foresight.of(request, "m", "a").length
    foresight.learn("m", "a", asked, 9000, 5)
    foresight.learn("m", "b", asked, 750, 5)
    foresight.learn("m", "b", asked, 0, 5)
    assert [foresight.of(request, "m", id).sent for id in "ab"] == [9000, 750]
    foresight.forget("a")
    assert [foresight.of(request, "m", id).sent for id in "ab"] == [750, 750]


def test_an_answer_is_foreseen_as_the_longest_of_the_last_ones_of_its_model() -> None:
    foresight = Foresight()
    for answered in (700, *range(1, REMEMBERED)):
        foresight.learn("m", "a", Length(0, 0), 0, answered)
    request = {"messages": [], "max_tokens": 65_536}
    assert foresight.of(request, "m").answered == 700
    foresight.learn("m", "a", Length(0, 0), 0, 3)
    assert foresight.of(request, "m").answered == REMEMBERED - 1
    assert foresight.of(request, "another").answered == FIRST
    for most in ("max_tokens", "max_completion_tokens", "max_output_tokens"):
        assert foresight.of({"messages": [], most: 2}, "m").answered == 2
    assert foresight.of({"messages": None, "max_tokens": "many"}, "m").answered == REMEMBERED - 1


def test_every_token_that_a_call_has_used_is_of_one_kind() -> None:
    usage = {
        "input_tokens": 5,
        "output_tokens": 30,
        "reasoning_tokens": 20,
        "cache_read_tokens": 3,
        "cache_write_tokens": 4,
        "total_tokens": 9,
    }
    assert calls.used(usage) == {
        "input_tokens": 5,
        "output_tokens": 10,
        "cached_tokens": 7,
        "reasoning_tokens": 20,
    }
    assert not any(calls.used({"input_tokens": "5", "output_tokens": -1}).values())
    assert not any(calls.used(None).values())


def test_without_a_ledger_a_turn_is_bounded_by_what_it_spends_itself() -> None:
    rules = SpendRules(
        budgets=(
            _budget(Unit.ITERATIONS, 2),
            _budget(Unit.TOOL_CALLS, 1, sources=("cron",)),
            _budget(Unit.TOKENS, 100, Act.WARN),
        )
    )
    count = OwnCount(ManualClock())
    count.add({Unit.INPUT: 400, Unit.ITERATIONS: 1, Unit.TOOL_CALLS: 1})
    one = {Unit.ITERATIONS: 1}
    assert count.refusal(rules, "cli", {**one, Unit.TOOL_CALLS: 1}) is None
    assert count.refusal(rules, "cron", {Unit.TOOL_CALLS: 1}) is not None
    count.add(one)
    assert count.refusal(rules, "cli", one) is not None
    assert count.refusal(rules, "cli", {Unit.INPUT: 1}) is None


def test_without_a_ledger_nothing_is_lost_that_several_tools_of_a_turn_count_at_once() -> None:
    """Every step of one may come between two steps of another."""
    count, threads, times = OwnCount(ManualClock()), 4, 20_000
    together = threading.Barrier(threads)

    def call_tools() -> None:
        together.wait()
        for _ in range(times):
            count.add({Unit.TOOL_CALLS: 1})

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        working = [threading.Thread(target=call_tools) for _ in range(threads)]
        for thread in working:
            thread.start()
        for thread in working:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    bound = SpendRules(budgets=(_budget(Unit.TOOL_CALLS, threads * times),))
    assert count.refusal(bound, "cli", {Unit.TOOL_CALLS: 1}) is not None


def test_without_a_ledger_messages_and_time_stop_what_comes_after_them() -> None:
    clock = ManualClock()
    count, one = OwnCount(clock), {Unit.TOOL_CALLS: 1}
    few = SpendRules(budgets=(_budget(Unit.MESSAGES, 2),))
    short = SpendRules(budgets=(_budget(Unit.WALL, 5000),))
    count.add({Unit.MESSAGES: 1})
    clock.advance(timedelta(seconds=4))
    assert [count.refusal(rules, "cli", one) for rules in (few, short)] == [None, None]
    count.add({Unit.MESSAGES: 1})
    clock.advance(timedelta(seconds=1))
    assert all(count.refusal(rules, "cli", one) for rules in (few, short))


def test_without_a_ledger_money_is_counted_by_ones_own_price_the_table_or_the_unknown_one() -> None:
    dollar = (_budget(Unit.USD, 1_000_000),)
    own = Prices(models=(("m", Price(per_input=10, per_output=10)),))
    half, call = {Unit.INPUT: 40_000, Unit.OUTPUT: 10_000}, {Unit.INPUT: 60_000}
    for rules, model in (
        (SpendRules(budgets=dollar, prices=own), "m"),
        (SpendRules(budgets=dollar, prices=Prices(unknown=own.models[0][1])), "other"),
    ):
        count = OwnCount(ManualClock())
        assert count.refusal(rules, "cli", call, model) is None
        count.add(half, model)
        assert count.refusal(rules, "cli", call, model) is not None
        assert count.refusal(rules, "cli", {Unit.TOOL_CALLS: 1}) is None
        assert not count.unpriced
    count = OwnCount(ManualClock())
    million = {Unit.INPUT: 10**6}
    assert count.refusal(SpendRules(budgets=dollar), "cli", million, "gpt-4o") is not None
    assert not count.unpriced


def test_without_a_ledger_a_model_without_a_price_is_named_and_other_budgets_hold() -> None:
    count = OwnCount(ManualClock())
    count.add({Unit.INPUT: 10**9}, "strange")
    rules = SpendRules(budgets=(_budget(Unit.USD, 1), _budget(Unit.ITERATIONS, 1)))
    assert count.refusal(rules, "cli", {Unit.INPUT: 10**9}, "strange") is None
    assert count.unpriced == {"strange"}
    assert count.refusal(rules, "cli", {Unit.ITERATIONS: 2}) is not None


@pytest.mark.parametrize("is_there", [True, False], ids=["closed", "gone"])
def test_a_call_is_bounded_too_where_nobody_can_be_told(
    monkeypatch: pytest.MonkeyPatch, *, is_there: bool
) -> None:
    """Hermes makes a call whose guard raises, so nothing may be raised; here no Hermes is there."""
    monkeypatch.setattr(sys, "stderr", io.StringIO() if is_there else None)
    if is_there:
        sys.stderr.close()
    clock = ManualClock()
    guests = Guests(lambda: pytest.fail("nobody comes"), clock.now)
    rules = SpendRules(budgets=(_budget(Unit.USD, 1), _budget(Unit.ITERATIONS, 1)))
    turns = Turns(guests, Trying(clock), lambda: rules)
    asked: list[object] = []
    for _ in range(2):
        answer = turns.around_model(
            {"messages": [LONG]}, asked.append, "1", "strange",
            api_mode="anthropic_messages", session_id="a", turn_id="t",
        )  # fmt: skip
    assert len(asked) == 1
    assert "[sexton]" in answer.content[0].text


def refused(answer: Any) -> bool:
    """Whether a model's answer was given in its place."""
    return answer is not None and "[sexton]" in answer.choices[0].message.content


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (Foresight, "of"),
        (Beside, "fresh"),
        (Beside, "hooked"),
        (Uncounted, "take"),
        (Guests, "hold"),
        (Run, "begin"),
        (Run, "beside"),
        (Run, "reserve"),
        (Run, "unpriced"),
        (OwnCount, "add"),
        (OwnCount, "refusal"),
        (Trying, "__call__"),
        (Trying, "_tell"),
        (ManualClock, "monotonic"),
        (ManualClock, "now"),
        (trying_module, "tell"),
        (plugin_turns, "tell"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__.rpartition(".")[2],
)
def test_whatever_fails_before_a_call_of_a_model_the_turn_is_bounded(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    """Hermes makes the call whose middleware raises; here no Hermes is there."""
    monkeypatch.setattr(owner, name, _broken)
    rules = SpendRules(budgets=(_budget(Unit.USD, 1), _budget(Unit.ITERATIONS, 2)))
    asked, answers = _asked_often(lambda: rules)
    assert len(asked) <= 2
    assert all(map(refused, answers[2:]))


def test_a_turn_whose_calls_cannot_be_foreseen_counts_what_they_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Foresight, "of", _broken)
    monkeypatch.setattr(Foresight, "learn", _broken)
    rules = SpendRules(budgets=(_budget(Unit.INPUT, 3000),))
    asked, _ = _asked_often(lambda: rules, {"input_tokens": 1000})
    assert len(asked) == 3


def test_where_nothing_says_what_bounds_a_turn_no_model_is_asked() -> None:
    asked, answers = _asked_often(_broken)
    assert not asked
    assert all(map(refused, answers))


def _asked_often(
    rules: Callable[[], SpendRules], usage: dict[str, int] | None = None
) -> tuple[list[object], list[Any]]:
    """The requests that reach the model of five, and what Hermes gets."""
    clock = ManualClock()
    turns = Turns(Guests(lambda: pytest.fail("nobody comes"), clock.now), Trying(clock), rules)
    asked: list[object] = []
    answers = []
    for number in range(5):
        answers.append(
            turns.around_model(
                {"messages": [LONG]}, asked.append, str(number), "strange",
                session_id="a", turn_id="t",
            )
        )  # fmt: skip
        with suppress(ZeroDivisionError):  # Hermes logs what this hook raises
            turns.after_model(str(number), "strange", usage)
    return asked, answers


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (Turns, "_find"),
        (Run, "before_tool"),
        (OwnCount, "add"),
        (OwnCount, "refusal"),
        (Trying, "__call__"),
        (Trying, "_tell"),
        (ManualClock, "monotonic"),
        (ManualClock, "now"),
    ],
)
def test_whatever_fails_before_a_tool_the_turn_is_bounded(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    clock = ManualClock()
    rules = SpendRules(budgets=(_budget(Unit.TOOL_CALLS, 2),))
    guests = Guests(lambda: pytest.fail("nobody comes"), clock.now)
    turns = Turns(guests, Trying(clock), lambda: rules)
    told = {"session_id": "a", "turn_id": "t"}
    turns.begin(**told)
    monkeypatch.setattr(owner, name, _broken)
    blocked = [turns.before_tool("terminal", {}, **told) is not None for _ in range(5)]
    assert all(blocked[2:])


def _broken(*_: object, **__: object) -> NoReturn:
    raise ZeroDivisionError


def _budget(
    unit: Unit, limit: int, action: Act = Act.PAUSE, sources: tuple[str, ...] = ()
) -> Budget:
    return Budget(
        name=unit, scope=Scope.SESSION, unit=unit, limit=limit, action=action, sources=sources
    )


def test_a_row_is_told_with_what_was_really_said_in_it() -> None:
    said = {"messages": 600, "bytes": 7, "from_user": 3, "last_at": NOW.timestamp()}
    row = {"id": "a", "source": "cli", "started_at": 0.0, "message_count": 3, "said": said}
    session = rows.told(row, NOW)
    assert (session.is_open, session.message_count, session.turn_count) == (True, 600, 3)
    assert session.active_at == NOW
    ended = rows.told({**row, "ended_at": NOW.timestamp(), "end_reason": None}, NOW)
    assert (ended.is_open, ended.end_reason, ended.ended_at) == (False, "ended", NOW)


def test_only_what_spends_from_the_tree_of_its_parent_is_told_with_it() -> None:
    row = {"id": "b", "source": "subagent", "parent_session_id": "a", "started_at": "?"}
    assert (rows.told(row, NOW).parent, rows.told(row, NOW).started_at) == ("a", NOW)
    other = {**row, "source": "cli"}
    assert rows.told(other, NOW).parent is None
    assert rows.told({**other, "model_config": '{"_delegate_from": "a"}'}, NOW).parent == "a"
    assert rows.told({**other, "model_config": "["}, NOW).parent is None
    longer = {**other, "parent_end_reason": "compression"}
    assert (rows.told(longer, NOW).parent, rows.told(longer, NOW).relation) == ("a", "compression")
    delegated = {**longer, "source": "subagent", "model_config": '{"_delegate_from": "a"}'}
    assert rows.told(delegated, NOW).relation == "subagent"
    assert rows.told({**delegated, "parent_session_id": "b"}, NOW).relation == "compression"
    branch = {**longer, "model_config": '{"_branched_from": "a"}'}
    assert rows.told(branch, NOW).parent is None


def test_after_trouble_with_the_ledger_nobody_waits_for_a_while_and_it_is_told_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock, asked = ManualClock(), []
    trying = Trying(clock)

    def busy() -> int:
        asked.append(1)
        raise LedgerBusy("held")

    assert [trying(busy, 7), trying(busy, 8)] == [7, 8]
    assert len(asked) == 1
    clock.advance(timedelta(seconds=REST + 1))
    assert trying(busy, 9) == 9
    assert len(asked) == 2
    clock.advance(timedelta(seconds=REST + 1))
    assert trying(lambda: 1, 0) == 1
    assert capsys.readouterr().err.count("held") == 1
    assert str(trying.trouble).endswith(" UTC: held")
    trying.answered()
    assert trying.trouble is None


def test_a_mistake_of_one_call_keeps_no_other_from_being_tried() -> None:
    trying = Trying(ManualClock())

    def wrong() -> int:
        raise InputInvalid("no")

    def mistaken() -> int:
        raise ZeroDivisionError

    assert trying(wrong, 0) == 0
    assert trying(mistaken, 3) == 3, "Hermes would go on without any guard"
    assert trying(lambda: 5, 0) == 5


def test_whoever_leaves_is_told_what_runs() -> None:
    assert "pid 7: make" in warning(["pid 7: make"])
