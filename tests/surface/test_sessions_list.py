"""`sexton sessions list`: what programs and people get."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.golden import golden
from tests.surface.program import Cli

PROMISED = {
    "id", "home", "key", "source", "state", "started_at", "active_at", "ended_at", "end_reason",
    "message_count", "holders",
}  # fmt: skip


def test_sessions_are_listed_newest_activity_first(any_cli: Cli) -> None:
    first = any_cli.talk("a", "one")
    second = any_cli.talk("b", "two")
    any_cli.talk("a", "three")
    listed = any_cli("sessions", "list", "--json").items()
    assert [each["id"] for each in listed] == [first, second]
    assert [each["message_count"] for each in listed] == [2, 1]


def test_every_object_has_the_promised_fields(any_cli: Cli) -> None:
    with any_cli.opened() as opened, opened.worker() as worker:
        session = worker.session("a", source="telegram", title="Ünïcödé 漢字 😀")
        session.append(role="user", content="hello")
        ended = worker.session("b", source="cli")
        ended.end("done")
        listed = {each["id"]: each for each in any_cli("sessions", "list", "--json").items()}
        shown = listed[session.id]
        assert shown.keys() >= PROMISED
        assert shown["holders"] == [worker.id]
        assert shown["home"] == "native"
        assert shown["state"] == "open"
        assert shown["ended_at"] is None
        assert shown["title"] == "Ünïcödé 漢字 😀"
        assert listed[ended.id]["end_reason"] == "done"
        for name in ("started_at", "active_at"):
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", shown[name])
        assert datetime.fromisoformat(shown["active_at"]).tzinfo is not None


def test_a_list_can_be_filtered(cli: Cli) -> None:
    chat = cli.talk("chat", "hello")
    cron = cli.talk("job", "work", source="cron")

    def ids(*arguments: str) -> list[str]:
        return [each["id"] for each in cli("sessions", "list", "--json", *arguments).items()]

    assert ids("--source", "cron") == [cron]
    assert ids("--state", "open") == [chat]
    assert ids("--state", "ended") == [cron]
    assert ids("--key", "chat") == [chat]
    assert ids("--home", "native", "--source", "telegram") == [chat]


def test_pages_follow_one_another_without_gap_or_repetition(any_cli: Cli) -> None:
    made = [any_cli.talk(f"k{number}", "hello") for number in range(7)]
    seen: list[str] = []
    after: list[str] = []
    for _ in range(4):
        page = any_cli("sessions", "list", "--json", "--limit", "2", *after).json()
        seen += [each["id"] for each in page["items"]]
        after = ["--after", page["next"]]
    assert seen == made[::-1]
    assert page["next"] is None
    said = any_cli("sessions", "list", "--limit", "3").err
    assert re.search(r"--after \d+-\d+", said)
    assert "--after" not in any_cli("sessions", "list", "--limit", "8").err


def test_a_limit_larger_than_a_chunk_is_kept(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sexton.cli.paging.CHUNK", 2)
    made = [cli.talk(f"k{number}", "hello") for number in range(5)]
    listed = cli("sessions", "list", "--json", "--limit", "5").items()
    assert [each["id"] for each in listed] == made[::-1]
    assert len(cli("sessions", "list", "--json", "--limit", "3").items()) == 3


@pytest.mark.usefixtures("still")
def test_a_person_gets_an_aligned_table_without_drawing(cli: Cli) -> None:
    cli.talk("telegram:42", "hello there", title="漢字")
    cli.talk("telegram:43", "a longer preview than the other one")
    out = cli.ok("sessions", "list")
    golden("sessions-list", "two conversations", out)
    header, *rows = out.splitlines()
    column = header.index("KEY")
    assert [row[column:].split("  ")[0] for row in rows] == ["telegram:43", "telegram:42"]
    assert out.isprintable() or set(out) - {"\n"} == {c for c in out if c.isprintable()}
    assert "─" not in out


def test_where_no_ledger_is_yet_the_list_is_empty_and_none_is_made(cli: Cli) -> None:
    answer = cli("sessions", "list")
    assert (answer.code, answer.out) == (0, "")
    golden("sessions-list", "there is no ledger", answer.err)
    assert cli("sessions", "list", "--json").items() == []
    assert not Path(cli.url).exists()


def test_a_list_says_when_no_keeper_has_run(any_cli: Cli) -> None:
    any_cli.talk("a", "hello")
    notice = any_cli("doctor", "--json").json()["keeper"]["notice"]
    golden("sessions-list", "no keeper has run", notice)
    assert any_cli("sessions", "list").err == f"{notice}\n"
    assert any_cli("sessions", "list", "--json").err == f"{notice}\n"
    for kind in ("workers", "processes", "finalizers", "notices", "trash", "archive"):
        assert any_cli(kind, "list").err.splitlines()[-1] == notice
    long_ago = ManualClock(datetime(2020, 11, 2, 10, tzinfo=UTC))
    with Sexton(open_ledger(any_cli.url), Settings(), clock=long_ago) as opened:
        opened.sweep()
    late = any_cli("sessions", "list").err
    golden("sessions-list", "no keeper has run lately", late)
    assert "2020-11-02 10:00 UTC" in late
    any_cli.ok("keep", "--once")
    assert any_cli("sessions", "list").err == ""


def test_reading_publishes_no_policies(cli: Cli, short: str) -> None:
    session = cli.talk("a", "hello")
    for command in (
        ["sessions", "list"], ["sessions", "show", session], ["why", session], ["journal"],
        ["doctor"], ["config", "check", "--effect"], ["sessions", "export", session],
        ["plan"], ["apply", "--dry-run"],
    ):  # fmt: skip
        cli.ok(*command, "--config", short)
    with cli.opened() as opened:
        assert opened.ledger.policies.in_force() is None
    cli.ok("keep", "--once", "--config", short)
    with cli.opened() as opened:
        assert opened.ledger.policies.in_force() is not None
