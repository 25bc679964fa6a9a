"""`sexton finalizers`: what is owed, what became of it, and a person's word about it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.golden import golden
from tests.surface.program import Cli, call

GIVEN_UP = ["finalizers", "list", "--state", "dead", "--json"]


def configure(tmp_path: Path, *command: str, **more: Any) -> str:
    """Settings under which a program is run for every session."""
    log = {"name": "log", "kind": "command", "command": command, "attempts": 1, **more}
    file = tmp_path / "settings.yaml"
    file.write_text(
        json.dumps({"finalizers": [log], "serve": {"messages": True}}), encoding="utf-8"
    )
    return str(file)


@pytest.fixture
def failing(tmp_path: Path) -> str:
    """A program that fails and says why."""
    return configure(tmp_path, "sh", "-c", "echo no luck; exit 3")


def ended(cli: Cli, config: str, *keys: str, source: str = "telegram") -> list[str]:
    """Sessions that ended under these settings; their ids."""
    cli.ok("keep", "--once", "--config", config)
    ids = [cli.talk(key, "hello", source=source) for key in keys]
    for id in ids:
        cli.ok("sessions", "end", id, "--yes")
    return ids


def test_programs_learn_what_is_owed_and_what_became_of_it(any_cli: Cli, failing: str) -> None:
    [id] = ended(any_cli, failing, "a")
    [owed] = any_cli("finalizers", "list", "--json").items()
    assert {name: owed[name] for name in ("session", "finalizer", "state", "attempts")} == {
        "session": id,
        "finalizer": "log",
        "state": "pending",
        "attempts": 0,
    }
    assert owed["last_error"] is None
    any_cli.ok("keep", "--once", "--config", failing)
    [dead] = any_cli(*GIVEN_UP, "--config", failing).items()
    assert (dead["session"], dead["state"], dead["attempts"]) == (id, "dead", 1)
    assert "no luck" in dead["last_error"]
    assert (dead["since"], dead["through"], dead["key"]) == (0, 1, f"native/{id}/1/log")
    assert any_cli("finalizers", "show", id[:8], "--json", "--config", failing).items() == [dead]


def test_what_could_not_work_here_is_told_before_anything_is_owed(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "here.sh").touch(mode=0o700)
    unready: list[dict[str, Any]] = [
        {"name": "a", "kind": "memory", "base_url": "http://127.0.0.1:9", "model": "m"},
        {"name": "b", "kind": "command", "command": ["no such program"]},
        {"name": "c", "kind": "python", "entry_point": "missing"},
        {"name": "d", "kind": "webhook", "url": "http://127.0.0.1:9", "secret_env": "NO_SECRET"},
        {"name": "e", "kind": "command", "command": ["./away.sh"]},
    ]
    unready[0]["api_key_env"] = "NO_KEY"
    ready = [
        {"name": "f", "kind": "command", "command": ["./here.sh"]},
        {"name": "g", "kind": "command", "command": ["true"]},
        {"name": "h", "kind": "webhook", "url": "http://127.0.0.1:9"},
    ]
    config = tmp_path / "settings.yaml"
    config.write_text(json.dumps({"finalizers": [*unready, *ready]}), encoding="utf-8")
    for command in (["config", "check"], ["keep", "--once"]):
        answer = cli(*command, "--config", str(config))
        assert answer.code == 0
        missing = ("NO_KEY", "no such program", "missing", "NO_SECRET", "away.sh")
        lines = [line for line in answer.err.splitlines() if not line.startswith("looked at")]
        for line, name in zip(lines, missing, strict=True):
            assert name in line
        golden("finalizers", f"five could not work here, {command[0]}", "\n".join(lines))


def test_what_is_left_is_shown_by_doctor_also_if_nobody_would_do_it(
    any_cli: Cli, failing: str, tmp_path: Path
) -> None:
    ended(any_cli, failing, "a", "b")
    [left] = any_cli("doctor", "--json", "--config", failing).json()["finalizers"]
    counts = {"finalizer": "log", "pending": 2, "running": 0, "dead": 0}
    assert left == counts | {"configured": True}
    other = configure(tmp_path, "true", name="other")
    [left] = any_cli("doctor", "--json", "--config", other).json()["finalizers"]
    assert left == counts | {"configured": False}
    lines = any_cli.ok("doctor", "--config", other).splitlines()
    (told,) = [line for line in lines if "log: 2" in line]
    golden("finalizers", "doctor, nobody would do it", told)


def test_what_a_sweep_took_on_is_told(any_cli: Cli, failing: str) -> None:
    ended(any_cli, failing, "a")
    golden("finalizers", "a sweep took work on", any_cli.ok("keep", "--once", "--config", failing))
    ended(any_cli, failing, "b")
    assert any_cli("keep", "--once", "--config", failing, "--json").json()["finalizing"] == 1


def test_a_list_that_ends_before_the_work_does_says_so(any_cli: Cli, failing: str) -> None:
    ended(any_cli, failing, "a", "b")
    short = any_cli("finalizers", "list", "--json", "--limit", "1")
    assert len(short.items()) == 1
    assert short.json()["next"] is not None
    golden("finalizers", "a list that is cut", any_cli("finalizers", "list", "--limit", "1").err)
    assert any_cli("finalizers", "list", "--json", "--limit", "2").json()["next"] is None


def test_what_came_of_the_work_is_shown(any_cli: Cli, tmp_path: Path) -> None:
    config = configure(tmp_path, "true")
    [id] = ended(any_cli, config, "a")
    any_cli.ok("keep", "--once", "--config", config)
    show = ("finalizers", "show", id, "--config", config)
    [done] = any_cli(*show, "--json").items()
    assert (done["state"], done["last_error"]) == ("done", None)
    assert done["note"] in any_cli.ok(*show)


@pytest.mark.usefixtures("still")
def test_a_person_reads_the_same(cli: Cli, failing: str) -> None:
    [id] = ended(cli, failing, "a")
    golden("finalizers", "list, pending", cli.ok("finalizers", "list"))
    cli.ok("keep", "--once", "--config", failing)
    out = cli.ok("finalizers", "list")
    assert id[:8] in out
    golden("finalizers", "list, dead", out)
    shown = cli.ok("finalizers", "show", id)
    assert f"native/{id}/1/log" in shown
    golden("finalizers", "show, dead", shown)


def test_lists_are_narrowed_by_state_finalizer_session_and_number(cli: Cli, failing: str) -> None:
    first, second = ended(cli, failing, "a", "b")

    def listed(*options: str) -> list[str]:
        return [each["session"] for each in cli("finalizers", "list", "--json", *options).items()]

    assert listed() == [second, first]
    assert listed("--limit", "1") == [second]
    assert listed("--session", first) == [first]
    assert listed("--finalizer", "log", "--state", "pending") == [second, first]
    assert listed("--finalizer", "other") == listed("--state", "done") == []


def test_what_was_given_up_is_tried_again_when_a_person_says_so(
    any_cli: Cli, failing: str, tmp_path: Path
) -> None:
    first, second = ended(any_cli, failing, "a", "b")
    any_cli.ok("keep", "--once", "--config", failing)
    answer = any_cli("finalizers", "retry", "--session", first, "--yes", "--json").json()
    assert [each["session"] for each in answer["outcomes"]] == [first]
    [entry] = any_cli("journal", "--receipt", answer["receipt"], "--json").items()
    assert (entry["action"], entry["session"]) == ("retry_finalizer", first)
    any_cli.ok("keep", "--once", "--config", configure(tmp_path, "true"))
    states = {
        each["session"]: (each["state"], each["attempts"])
        for each in any_cli("finalizers", "list", "--json").items()
    }
    assert states == {first: ("done", 1), second: ("dead", 1)}
    again = any_cli("finalizers", "retry", "--session", first, "-y", "--json").json()
    assert again["outcomes"] == []
    told = any_cli.ok("finalizers", "retry", "--session", first, "-y")
    golden("finalizers", "nothing to retry", told)


def test_what_is_not_to_be_done_counts_as_done(any_cli: Cli, failing: str) -> None:
    dead, _ = ended(any_cli, failing, "a", "b")
    any_cli.ok("keep", "--once", "--config", failing)
    [pending] = ended(any_cli, failing, "c")
    golden("finalizers", "discard", any_cli.ok("finalizers", "discard", "--all", "--yes"))
    found = any_cli("finalizers", "list", "--json").items()
    assert [each["state"] for each in found] == ["done"] * 3
    for id in (dead, pending):
        assert any_cli("sessions", "show", id, "--json").json()["state"] == "finalized"
    any_cli.ok("keep", "--once", "--config", failing)
    assert any_cli(*GIVEN_UP).items() == []


@pytest.mark.parametrize("verb", ["retry", "discard"])
def test_a_decision_needs_to_say_about_what_and_a_yes(cli: Cli, failing: str, verb: str) -> None:
    ended(cli, failing, "a")
    cli.ok("keep", "--once", "--config", failing)
    vague = cli("finalizers", verb, "--yes")
    assert (vague.code, "--yes" in vague.err) == (62, False)
    golden("finalizers", f"{verb} of what?", vague.err)
    unsure = cli("finalizers", verb, "--all")
    assert (unsure.code, "--yes" in unsure.err) == (2, True)
    assert len(cli(*GIVEN_UP).items()) == 1


def test_sessions_that_ended_before_owe_nothing_until_a_backfill(
    any_cli: Cli, failing: str, tmp_path: Path
) -> None:
    old = any_cli.talk("old", "hello", "good day")
    any_cli.ok("sessions", "end", old, "--yes")
    [new] = ended(any_cli, failing, "new")
    assert [each["session"] for each in any_cli("finalizers", "list", "--json").items()] == [new]
    unsure = any_cli("finalizers", "backfill", "log", "--config", failing)
    assert (unsure.code, "--yes" in unsure.err) == (2, True)
    golden("finalizers", "a backfill asks first", unsure.out)
    command = ["finalizers", "backfill", "log", "--yes", "--json"]
    assert any_cli(*command, "--config", failing).json()["owed"] == 1
    assert any_cli(*command, "--config", failing).json()["owed"] == 0
    any_cli.ok("keep", "--once", "--config", configure(tmp_path, "true"))
    found = any_cli("finalizers", "list", "--json").items()
    assert {(each["session"], each["state"]) for each in found} == {(old, "done"), (new, "done")}


def test_a_backfill_looks_back_as_far_as_it_is_told(
    cli: Cli, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.ok("sessions", "end", cli.talk("old", "hello"), "--yes")
    with cli.opened() as opened:
        later = opened.clock.now() + timedelta(days=2)
    monkeypatch.setattr("sexton.core.clock.SystemClock.now", lambda _: later)
    for since, count in (("1d", 0), ("3d", 1)):
        command = ["finalizers", "backfill", "log", "--since", since, "--yes", "--json"]
        assert cli(*command, "--config", failing).json()["owed"] == count


def test_a_backfill_of_memories_says_what_it_would_cost(cli: Cli, tmp_path: Path) -> None:
    cli.ok("sessions", "end", cli.talk("old", *["word " * 400] * 4), "--yes")
    config = tmp_path / "memory.yaml"
    memory: dict[str, Any] = {"name": "m", "kind": "memory", "model": "x"}
    memory["base_url"] = "http://127.0.0.1:9"
    config.write_text(json.dumps({"finalizers": [memory]}), encoding="utf-8")
    answer = cli("finalizers", "backfill", "m", "--config", str(config))
    assert answer.code == 2
    golden("finalizers", "a backfill of memories in one call", answer.out)
    memory["context_tokens"] = 2000  # of which most is for the question and the answer
    config.write_text(json.dumps({"finalizers": [memory]}), encoding="utf-8")
    answer = cli("finalizers", "backfill", "m", "--config", str(config))
    golden("finalizers", "a backfill of memories in four calls", answer.out)
    assert "$" not in answer.out  # nobody knows the price of this model
    priced = {"finalizers": [memory], "prices": {"models": {"x": {"input": 100, "output": 200}}}}
    config.write_text(json.dumps(priced), encoding="utf-8")
    answer = cli("finalizers", "backfill", "m", "--config", str(config))
    assert "$0.50" in answer.out
    golden("finalizers", "a backfill of memories with a price", answer.out)


def test_a_backfill_of_what_nobody_configured_is_refused(cli: Cli, failing: str) -> None:
    cli.talk("a", "hello")
    answer = cli("finalizers", "backfill", "lgo", "--config", failing)
    assert answer.code == 62
    golden("finalizers", "a backfill of an unknown finalizer", answer.err)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["list", "--state", "lost"], 2),
        (["list", "--limit", "-1"], 2),
        (["list", "--session", "nothing"], 20),
        (["list", "--finalizer", "\ud800"], 25),
        (["show", "nothing"], 20),
        (["show"], 2),
        (["retry", "--session", "nothing", "--yes"], 20),
        (["discard", "--session", "nothing", "--yes"], 20),
        (["backfill", "log", "--since", "soon"], 2),
    ],
)
def test_bad_input_is_told_from_work_that_is_not_there(
    cli: Cli, failing: str, arguments: list[str], code: int
) -> None:
    ended(cli, failing, "a")
    before = cli("finalizers", "list", "--json").items()
    assert cli("finalizers", *arguments).code == code
    assert cli("finalizers", "list", "--json").items() == before


@pytest.mark.parametrize("verb", ["list", "show x", "retry --all", "discard --all"])
def test_without_a_ledger_none_is_made(cli: Cli, verb: str) -> None:
    assert cli("finalizers", *verb.split()).code == 10
    assert not Path(cli.url).exists()


@pytest.mark.slow
def test_the_program_does_what_is_owed_once_and_then_has_nothing_to_do(
    any_cli: Cli, tmp_path: Path
) -> None:
    config = configure(tmp_path, "sh", "-c", "cat >> told")
    [id] = ended(any_cli, config, "a")
    options = ("--ledger", any_cli.url, "--config", config)
    for count in (1, 0):
        answer = call("keep", "--once", "--json", *options)
        assert (answer.json()["finalizing"], answer.err) == (count, "")
    told = json.loads((tmp_path / "told").read_text())  # one document, so it ran once
    assert (told["session"]["id"], told["finalizer"], told["end_reason"]) == (id, "log", "closed")
    assert [each["content"] for each in told["messages"]] == ["hello"]
    assert told["idempotency_key"] == f"native/{id}/1/log"
