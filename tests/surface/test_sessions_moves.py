"""`sexton sessions show, end, reset, pin`: what an operator does by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sexton.errors import SessionEnded
from sexton.keeper.apply import apply
from sexton.operations.changes import applying
from tests.golden import golden
from tests.surface.program import Cli


@pytest.mark.usefixtures("still")
def test_show_tells_everything_about_a_session(
    any_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTON_SERVE__MESSAGES", "true")  # a shared ledger hides it else
    with any_cli.opened() as opened, opened.worker(kind="gateway") as worker:
        session = worker.session("telegram:42", source="telegram", chat_type="dm", job="night")
        session.append(role="user", content="hello there")
        with session.turn():
            shown = any_cli("sessions", "show", session.id, "--json").json()
            out = any_cli.ok("sessions", "show", session.id)
        assert shown["workers"][0]["worker"] == worker.id
        assert shown["workers"][0]["busy_since"]
        assert shown["chat_type"] == "dm"
        golden("sessions-show", "a session in a turn", out)


def test_an_operator_ends_a_session_with_a_reason_and_it_is_journalled(any_cli: Cli) -> None:
    session = any_cli.talk("a", "hello")
    how = ("--reason", "abandoned", "--yes", "--json")
    receipt = any_cli("sessions", "end", session, *how).json()["receipt"]
    shown = any_cli("sessions", "show", session, "--json").json()
    assert (shown["state"], shown["end_reason"]) == ("ended", "abandoned")
    entry, *others = any_cli("journal", "--receipt", receipt, "--json").items()
    assert (entry["action"], entry["result"], entry["session"]) == ("end", "done", session)
    assert others == []


def test_what_an_operator_ended_is_opened_again_by_its_receipt(any_cli: Cli) -> None:
    session = any_cli.talk("a", "hello")
    told = any_cli.ok("sessions", "end", session, "--yes")
    golden("sessions-end", "a session is ended", told)
    [receipt] = {each["receipt"] for each in any_cli("journal", "--json").items()}
    assert receipt in told
    assert [step["verb"] for step in would(any_cli, receipt)] == ["reopen"]
    done = any_cli("undo", receipt, "--json").json()
    assert (done["opened_again"], done["stayed"], done["work_begun"]) == (1, 0, 0)
    shown = any_cli("sessions", "show", session, "--json").json()
    assert (shown["state"], shown["end_reason"]) == ("open", None)
    entry = any_cli("journal", "--receipt", done["receipt"], "--json").items()[0]
    assert (entry["action"], receipt in entry["reason"]["text"]) == ("revive", True)
    refused = any_cli("undo", done["receipt"])
    assert refused.code == 43
    golden("errors", "an undo is not undone", refused.err)
    assert any_cli.talk("a", "hello again") == session, "the conversation goes on"
    again = any_cli("undo", receipt)
    assert again.code == 43
    golden("errors", "nothing to undo", again.err)


def would(cli: Cli, receipt: str) -> list[Any]:
    """What an undo would do."""
    steps: list[Any] = cli("undo", receipt, "--dry-run", "--json").json()["actions"][0]["steps"]
    return steps


def test_an_end_is_not_undone_beside_a_newer_session_of_the_key(cli: Cli) -> None:
    session = cli.talk("a", "hello")
    receipt = cli("sessions", "end", session, "--yes", "--json").json()["receipt"]
    newer = cli.talk("a", "hello")
    [step] = would(cli, receipt)
    assert (step["spares"], newer in step["why"]) == (True, True)
    refused = cli("undo", receipt)
    assert (refused.code, newer in refused.err) == (43, True)
    golden("errors", "a conversation goes on in another session", refused.err)
    assert cli("sessions", "show", session, "--json").json()["state"] == "ended"


def test_ending_an_ended_session_is_an_error_and_the_first_reason_stands(cli: Cli) -> None:
    session = cli.talk("a", "hello")
    cli.ok("sessions", "end", session, "--yes")
    again = cli("sessions", "end", session, "--reason", "other", "--yes")
    assert again.code == 22
    golden("errors", "a session has ended", again.err)
    assert cli("sessions", "show", session, "--json").json()["end_reason"] == "closed"


def test_whoever_held_an_ended_session_is_refused(any_cli: Cli) -> None:
    with any_cli.opened() as opened, opened.worker() as worker:
        session = worker.session("a", source="telegram")
        any_cli.ok("sessions", "end", session.id, "--yes")
        with pytest.raises(SessionEnded):
            session.append(role="user", content="too late")


def test_without_a_terminal_nothing_is_ended_unless_yes_is_said(cli: Cli) -> None:
    session = cli.talk("a", "hello")
    answer = cli("sessions", "end", session)
    assert answer.code == 2
    assert "--yes" in answer.err
    assert cli("sessions", "end", session, "--json").error()["exit_code"] == 2
    assert cli("sessions", "show", session, "--json").json()["state"] == "open"


def test_reset_ends_the_session_and_its_key_begins_anew(any_cli: Cli) -> None:
    session = any_cli.talk("a", "hello")
    told = any_cli("sessions", "reset", session, "--json").json()
    assert [(each["session"], each["result"]) for each in told["outcomes"]] == [(session, "done")]
    assert any_cli("sessions", "show", session, "--json").json()["end_reason"] == "reset"
    assert any_cli.talk("a", "hello again") != session


def test_reset_is_refused_while_a_turn_runs_unless_it_is_forced(any_cli: Cli) -> None:
    with any_cli.opened() as opened, opened.worker() as worker:
        session = worker.session("a", source="telegram")
        with session.turn():
            refused = any_cli("sessions", "reset", session.id)
            assert refused.code == 24
            assert "--force" in refused.err
            any_cli.ok("sessions", "reset", session.id, "--force")
        assert any_cli("sessions", "reset", session.id).code == 22


def test_a_turn_that_begins_while_an_operator_resets_is_not_cut_off(
    any_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    with any_cli.opened() as opened, opened.worker() as worker:
        session = worker.session("a", source="telegram")
        applied = apply

        def late(*given: Any, **more: Any) -> Any:
            monkeypatch.undo()
            session.turn().__enter__()
            return applied(*given, **more)

        monkeypatch.setattr(applying, "carry_out", late)
        refused = any_cli("sessions", "reset", session.id, "--json")
        assert refused.error()["error"] == "SessionBusy"
        assert opened.find(session.id).is_open


def test_a_reason_of_sextons_own_is_refused(cli: Cli) -> None:
    session = cli.talk("a", "hello")
    refused = cli("sessions", "end", session, "--reason", "compression", "--yes")
    assert refused.code == 62
    golden("errors", "a reason of Sexton's own", refused.err)
    assert cli("sessions", "show", session, "--json").json()["state"] == "open"


@pytest.fixture
def chain(any_cli: Cli) -> list[str]:
    """The sessions of a conversation that was compressed twice, oldest first."""
    with any_cli.opened() as opened, opened.worker() as worker:
        session = worker.session("a", source="telegram")
        ids = [session.id]
        for turn in range(2):
            texts = [f"{turn}{n}" for n in range(5)]
            session.append_many({"role": "user", "content": text} for text in texts)
            assert session.compress(lambda _: "in short", keep_head=0, keep_tail=1)
            ids.append(session.id)
        return ids


def test_a_conversation_that_was_compressed_is_one_line_and_its_parts_are_there_if_asked_for(
    any_cli: Cli, chain: list[str]
) -> None:
    listed = any_cli("sessions", "list", "--json").items()
    assert [each["id"] for each in listed] == chain[-1:]
    listed = any_cli("sessions", "list", "--all", "--json").items()
    assert {each["id"] for each in listed} == set(chain)


def test_what_is_done_to_a_compressed_session_is_done_to_its_conversation(
    any_cli: Cli, chain: list[str]
) -> None:
    [pinned] = any_cli("sessions", "pin", chain[0], "--json").json()["outcomes"]
    assert pinned["session"] == chain[-1]
    assert _pinned(any_cli) == set(chain)
    any_cli.ok("sessions", "unpin", chain[0])
    assert _pinned(any_cli) == set(), "else no policy would ever let it go"
    assert chain[-1] in any_cli.ok("why", chain[0])
    [reset] = any_cli("sessions", "reset", chain[0], "--json").json()["outcomes"]
    assert reset["session"] == chain[-1]
    ended = any_cli("sessions", "end", chain[0], "--yes")
    assert (ended.code, chain[-1] in ended.err) == (22, True)


def _pinned(cli: Cli) -> set[str]:
    listed = cli("sessions", "list", "--all", "--json").items()
    return {each["id"] for each in listed if each["pinned"]}


@pytest.mark.usefixtures("still")
def test_a_conversation_is_shown_and_exported_as_a_whole(
    any_cli: Cli, chain: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTON_SERVE__MESSAGES", "true")  # a shared ledger hides it else
    shown = any_cli("sessions", "show", chain[-1], "--json").json()
    assert shown["conversation"] == {"sessions": chain, "tokens": 0, "cost_micros": 0}
    out = any_cli.ok("sessions", "show", chain[-1])
    golden("sessions-show", "a conversation that was compressed", out)
    assert chain[0] in out
    lines = any_cli.ok("sessions", "export", chain[-1], "--history").splitlines()
    said = [json.loads(line)["content"] for line in lines]
    assert said == [f"{turn}{n}" for turn in range(2) for n in range(5)]
    lines = any_cli.ok("sessions", "export", chain[-1]).splitlines()
    assert [json.loads(line)["content"] for line in lines] == ["in short", "14"]


def test_a_pinned_session_is_held_back_until_it_is_unpinned(any_cli: Cli, short: str) -> None:
    session = any_cli.talk("a", "1", "2", "3")
    any_cli.ok("sessions", "pin", session)
    any_cli.ok("sessions", "pin", session)
    plan = any_cli("plan", "--json", "--config", short).json()
    assert plan["actions"] == []
    assert plan["held"][0]["holding"]["code"] == "pinned"
    assert [each["pinned"] for each in any_cli("sessions", "list", "--json").items()] == [True]
    assert any_cli("sessions", "unpin", session, "--json").json()["pinned"] is False
    assert len(any_cli("plan", "--json", "--config", short).json()["actions"]) == 1
    said = [entry["action"] for entry in any_cli("journal", "--session", session, "--json").items()]
    assert said == ["unpin", "pin"]
