"""What the plugin decides without Hermes: failures, tokens, rows, and when to go without."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sexton.errors import InputInvalid, LedgerBusy
from sexton.integrations.hermes_plugin import calls, rows
from sexton.integrations.hermes_plugin.background import warning
from sexton.integrations.hermes_plugin.trying import REST, Trying
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


def test_what_a_call_may_use_is_foreseen_from_what_it_sends() -> None:
    request = {"messages": [{"role": "user", "content": "x" * 400}], "max_tokens": 50}
    sent, most = calls.foreseen(request)
    assert (100 < sent < 120, most) == (True, 50)
    assert calls.foreseen({"messages": None, "max_tokens": "many"}) == (0, 0)


def test_of_what_a_call_has_used_only_numbers_count() -> None:
    usage = {"input_tokens": 5, "output_tokens": -1, "cache_read_tokens": "3", "total_tokens": 9}
    assert calls.used(usage) == {"input_tokens": 5}
    assert calls.used(None) == {}


def test_a_row_is_told_with_what_was_really_said_in_it() -> None:
    said = {"messages": 600, "bytes": 7, "from_user": 3, "last_at": NOW.timestamp()}
    row = {"id": "a", "source": "cli", "started_at": 0.0, "message_count": 3, "said": said}
    session = rows.told(row, NOW)
    assert (session.is_open, session.message_count, session.turn_count) == (True, 600, 3)
    assert session.active_at == NOW
    ended = rows.told({**row, "ended_at": NOW.timestamp(), "end_reason": None}, NOW)
    assert (ended.is_open, ended.end_reason, ended.ended_at) == (False, "ended", NOW)


def test_only_a_subagent_has_the_parent_that_started_it() -> None:
    row = {"id": "b", "source": "subagent", "parent_session_id": "a", "started_at": "?"}
    assert (rows.told(row, NOW).parent, rows.told(row, NOW).started_at) == ("a", NOW)
    assert rows.told({**row, "source": "cli"}, NOW).parent is None


def test_after_trouble_with_the_ledger_nobody_waits_for_a_while_and_it_is_told_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock, asked = ManualClock(), []
    trying = Trying(clock)

    def busy() -> int:
        asked.append(1)
        raise LedgerBusy("somebody holds it")

    assert [trying(busy, 7), trying(busy, 8)] == [7, 8]
    assert len(asked) == 1
    clock.advance(timedelta(seconds=REST + 1))
    assert trying(busy, 9) == 9
    assert len(asked) == 2
    clock.advance(timedelta(seconds=REST + 1))
    assert trying(lambda: 1, 0) == 1
    assert capsys.readouterr().err.count("somebody holds it") == 1
    assert trying.trouble == "somebody holds it"


def test_a_mistake_of_one_call_keeps_no_other_from_being_tried() -> None:
    trying = Trying(ManualClock())

    def wrong() -> int:
        raise InputInvalid("no")

    assert trying(wrong, 0) == 0
    assert trying(lambda: 5, 0) == 5


def test_whoever_leaves_is_told_what_runs() -> None:
    assert "pid 7: make" in warning(["pid 7: make"])
