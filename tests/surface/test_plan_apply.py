"""`sexton plan`, `apply`, `why`, `journal`: from the question to what was done."""

from __future__ import annotations

import hmac
import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

import sexton
from sexton.cli import run
from tests.golden import golden
from tests.surface.program import Cli


@pytest.fixture
def due(any_cli: Cli) -> str:
    """A session that has reached the limit of the short settings."""
    return any_cli.talk("a", "1", "2", "3")


def test_a_plan_says_what_should_be_done_and_changes_nothing(
    any_cli: Cli, due: str, short: str
) -> None:
    plan = any_cli("plan", "--json", "--config", short).json()
    (action,) = plan["actions"]
    assert (action["kind"], action["session"]["id"]) == ("end", due)
    assert action["reason"]["code"] == "max_messages"
    golden("plan", "a session is due", any_cli.ok("plan", "--config", short))
    assert any_cli("sessions", "show", due, "--json").json()["state"] == "open"


def test_a_plan_written_to_a_file_is_applied_once_and_skipped_the_second_time(
    any_cli: Cli, due: str, short: str, tmp_path: Path
) -> None:
    file = tmp_path / "plan.json"
    any_cli.ok("plan", "-o", str(file), "--config", short)
    assert file.stat().st_mode & 0o777 == 0o600
    skipped = any_cli("apply", str(file), "--json").json()
    assert [each["result"] for each in skipped["outcomes"]] == ["skipped"]
    assert any_cli("sessions", "show", due, "--json").json()["state"] == "open"
    golden("apply", "the policies have changed", any_cli.ok("apply", str(file)))
    golden("apply", "a session is ended", any_cli.ok("apply", str(file), "--config", short))
    assert any_cli("sessions", "show", due, "--json").json()["end_reason"] == "max_messages"
    again = any_cli("apply", str(file), "--json").json()
    assert (again["done"], again["skipped"]) == (0, 1)
    golden("apply", "a session has ended already", any_cli.ok("apply", str(file)))


def test_a_plan_from_standard_output_is_as_good_as_a_file(
    cli: Cli, short: str, tmp_path: Path
) -> None:
    session = cli.talk("a", "1", "2", "3")
    file = tmp_path / "piped.json"
    file.write_text(cli.ok("plan", "--json", "--config", short))
    assert cli("apply", str(file), "--json").json()["outcomes"][0]["session"] == session


def test_an_existing_file_is_not_replaced_by_a_plan_unless_forced(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_text("precious")
    refused = cli("plan", "-o", str(file))
    assert refused.code == 62
    assert "--force" in refused.err
    assert file.read_text() == "precious"
    cli.ok("plan", "-o", str(file), "--force")
    assert json.loads(file.read_text())["format"] == "sexton-plan"
    assert os.listdir(tmp_path).count("precious") == 1


def test_apply_without_a_file_needs_a_person_or_yes(any_cli: Cli, due: str, short: str) -> None:
    refused = any_cli("apply", "--config", short)
    assert refused.code == 2
    assert "--yes" in refused.err
    assert any_cli("apply", "--json", "--config", short).error()["exit_code"] == 2
    assert any_cli("sessions", "show", due, "--json").json()["state"] == "open"
    receipt = any_cli("apply", "--yes", "--json", "--config", short).json()["receipt"]
    entries = any_cli("journal", "--receipt", receipt, "--json").items()
    assert [entry["session"] for entry in entries] == [due]


def test_apply_with_nothing_to_do_asks_nobody(cli: Cli) -> None:
    golden("apply", "nothing is due", cli.ok("apply"))
    told = cli("apply", "--json").json()
    assert told["outcomes"] == []


def test_a_dry_run_is_a_plan_not_applied(any_cli: Cli, due: str, short: str) -> None:
    golden("plan", "a session is due", any_cli.ok("apply", "--dry-run", "--config", short))
    shown = any_cli("apply", "--dry-run", "--json", "--config", short).json()
    assert len(shown["actions"]) == 1
    assert any_cli("sessions", "show", due, "--json").json()["state"] == "open"


def test_an_edited_plan_is_refused_before_anything_is_done(
    cli: Cli, short: str, tmp_path: Path
) -> None:
    session = cli.talk("a", "1", "2", "3")
    file = tmp_path / "plan.json"
    file.write_text(cli.ok("plan", "--json", "--config", short).replace("max_messages", "idle"))
    refused = cli("apply", str(file))
    assert refused.code == 41
    golden("errors", "a plan was edited", refused.err)
    assert cli("sessions", "show", session, "--json").json()["state"] == "open"


def test_a_plan_that_somebody_wrote_without_the_ledger_ends_nothing(
    any_cli: Cli, due: str, short: str, tmp_path: Path
) -> None:
    with sexton.open(any_cli.url, short) as house, house.worker() as worker:
        living = worker.session(source="cli")
        (holder,) = house.find(living.id).holders
        plan = any_cli("plan", "--json", "--config", short).json()
        del plan["digest"]
        (action,) = plan["actions"]
        action |= {"kind": "reap", "dead": [[worker.id, holder.worker.beat]]}
        action["session"] |= {
            "ref": house.find(living.id).ref, "id": living.id, "message_count": 0,
            "active_at": house.find(living.id).active_at.isoformat(),
        }  # fmt: skip
        canonical = json.dumps(plan, sort_keys=True, separators=(",", ":")).encode()
        by_hand = hmac.new(b"a guess", canonical, sha256).hexdigest()
        file = tmp_path / "forged.json"
        for digest, code in (
            (f"sha256:{sha256(canonical).hexdigest()}", 40),
            (f"hmac-sha256:{by_hand}", 41),
            (f"hmac-sha256:{sha256(canonical).hexdigest()}", 41),
        ):
            file.write_text(json.dumps(plan | {"digest": digest}))
            refused = any_cli("apply", str(file), "--config", short)
            assert refused.code == code
        assert house.find(living.id).is_open
        assert house.find(due).is_open


def test_no_command_shows_the_key_that_signs_plans(any_cli: Cli, due: str, short: str) -> None:
    with sexton.open(any_cli.url, short) as house:
        key = house.ledger.plan_key().hex()
    for args in (
        ("plan", "--json"),
        ("doctor", "--json"),
        ("config", "show"),
        ("config", "show", "--json"),
        ("why", due, "--json"),
        ("sessions", "show", due, "--json"),
        ("sessions", "export", due),
        ("journal", "--json"),
        ("apply", "--yes", "--json"),
    ):
        said = any_cli(*args, "--config", short)
        assert key not in said.out + said.err, args


def test_a_plan_of_another_ledger_is_refused(cli: Cli, short: str, tmp_path: Path) -> None:
    cli.talk("a", "1", "2", "3")
    file = tmp_path / "plan.json"
    cli.ok("plan", "-o", str(file), "--config", short)
    other = str(tmp_path / "other.db")
    assert run(["--ledger", other, "apply", str(file)]) == 42
    assert run(["--ledger", other, "apply", "--dry-run", str(file)]) == 42


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b"not json"])
def test_what_is_no_plan_is_refused(cli: Cli, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "plan.json"
    file.write_bytes(content)
    assert cli("apply", str(file)).code == 40


def test_a_plan_that_can_not_be_read_is_refused(cli: Cli, tmp_path: Path) -> None:
    assert cli("apply", str(tmp_path / "missing.json")).code == 40
    assert cli("apply", str(tmp_path)).code == 40


def test_why_gives_every_answer_and_the_journal(
    any_cli: Cli, due: str, short: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTON_SERVE__MESSAGES", "true")  # a shared ledger hides it else
    with sexton.open(any_cli.url, short):
        pass  # puts the settings in force
    told = any_cli("why", due, "--json").json()
    answers = {each["question"]: each["answer"] for each in told["answers"]}
    assert answers["state"] == "open"
    assert answers["reset"] == "due"
    assert told["session"]["id"] == due
    any_cli.ok("apply", "--yes", "--config", short)
    told = any_cli("why", due, "--json").json()
    assert told["journal"][0]["reason"]["code"] == "max_messages"
    golden("why", "a session has reached a limit", any_cli.ok("why", due))


def test_the_journal_shows_the_newest_first_and_as_many_as_wanted(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sexton.cli.paging.CHUNK", 2)
    made = [cli.talk(f"k{number}", "hello") for number in range(5)]
    for session in made:
        cli.ok("sessions", "reset", session)
    entries = cli("journal", "--json", "--limit", "4").items()
    assert [entry["session"] for entry in entries] == made[:0:-1]
    (entry,) = cli("journal", "--json", "--session", made[2]).items()
    assert entry["reason"]["code"] == "reset"
    assert (
        cli("journal", "--json", "--receipt", entry["receipt"], "--session", made[1]).items() == []
    )
    text = cli("journal")
    assert made[0] in text.out
    golden("journal", "sessions were reset", text.out + text.err)
    nothing = cli("journal", "--receipt", "unknown")
    assert nothing.out == ""
    golden("journal", "no entry of a receipt", nothing.err)
    assert cli("journal", "--receipt", "unknown", "--json").items() == []
