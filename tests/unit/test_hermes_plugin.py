"""What the plugin decides without Hermes: failures, tokens, rows, and when to go without."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sexton.errors import InputInvalid, LedgerBusy
from sexton.integrations.hermes_plugin import calls, rows
from sexton.integrations.hermes_plugin.background import warning
from sexton.integrations.hermes_plugin.bounded import OwnCount
from sexton.integrations.hermes_plugin.foresight import FIRST, REMEMBERED, Foresight, Sent
from sexton.integrations.hermes_plugin.trying import REST, Trying
from sexton.model.spend import Act, Budget, Scope, Unit
from sexton.policies.spend import SpendRules
from sexton.testing.clock import ManualClock

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


def test_a_call_is_foreseen_as_the_last_one_of_its_turn_and_what_has_come_since() -> None:
    foresight = Foresight()
    request = {"messages": [{"role": "user", "content": "x" * 400}], "max_tokens": 65_536}
    first = foresight.of(request, "m", None)
    assert (100 < first.sent < 120, first.answered) == (True, FIRST)
    longer = {**request, "messages": [{"role": "user", "content": "x" * 800}]}
    second = foresight.of(longer, "m", Sent(9000, first.text))
    assert second.sent == 9000 + 100
    shorter = {**request, "messages": []}
    assert foresight.of(shorter, "m", Sent(5, first.text)).sent == 0
    assert foresight.of({"messages": None, "max_tokens": "many"}, "m", None).sent == 0


def test_an_answer_is_foreseen_as_the_longest_of_the_last_ones_of_its_model() -> None:
    foresight = Foresight()
    for answered in (700, *range(1, REMEMBERED)):
        foresight.learn("m", answered)
    request = {"messages": [], "max_tokens": 65_536}
    assert foresight.of(request, "m", None).answered == 700
    foresight.learn("m", 3)
    assert foresight.of(request, "m", None).answered == REMEMBERED - 1
    assert foresight.of(request, "another", None).answered == FIRST
    assert foresight.of({**request, "max_tokens": 2}, "m", None).answered == 2


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
    count = OwnCount()
    count.add({Unit.INPUT: 400, Unit.ITERATIONS: 1, Unit.TOOL_CALLS: 1})
    assert count.refusal(rules, "cli", {Unit.ITERATIONS: 1, Unit.TOOL_CALLS: 1}) is None
    assert count.refusal(rules, "cron", {Unit.TOOL_CALLS: 1}) is not None
    count.add({Unit.ITERATIONS: 1})
    assert count.refusal(rules, "cli", {Unit.ITERATIONS: 1}) is not None
    assert count.refusal(rules, "cli", {Unit.INPUT: 1}) is None


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
    assert trying.trouble == "held"


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
