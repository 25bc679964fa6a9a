"""What a person and a program see of garbage, the trash and the archive."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from sexton.core.session import NATIVE, State
from sexton.retention.files.own_directories import OwnFiles
from sexton.wiring.removal_wiring import NEAR
from tests.contract.ledger_contract_samples import everything
from tests.crash.checking import tell
from tests.golden import golden
from tests.scenario.hermes_home import HermesScene
from tests.surface.program import PATIENCE, Cli, environment

MONTH = timedelta(days=30)
MANY = 3_000


def garbage(cli: Cli, count: int = 3, said: int = 1, source: str = "chat") -> list[str]:
    """Sessions in which little was said a month ago."""
    with cli.opened() as opened, opened.worker() as worker:
        ids = []
        for number in range(count):
            session = worker.session(None, source=source)
            for _ in range(said):
                session.append(role="user", content=f"word {number}")
            session.end()
            ids.append(session.id)
    age(cli)
    return ids


def age(cli: Cli) -> None:
    """Let a month pass since the last activity of all sessions."""
    micros = int(MONTH.total_seconds() * 1_000_000)
    url = cli.url if "://" in cli.url else f"sqlite:///{cli.url}"
    tell(url, f"UPDATE sessions SET active_at = active_at - {micros} WHERE state <> 'open'")


def states(cli: Cli) -> set[str]:
    return {each["state"] for each in cli("sessions", "list", "--json").items()}


def test_a_dry_run_shows_sources_sizes_and_reasons_and_changes_nothing(any_cli: Cli) -> None:
    garbage(any_cli, 3)
    garbage(any_cli, 2, source="cron")
    golden("gc", "garbage of two sources", any_cli.ok("gc", "--dry-run"))
    plan = any_cli("gc", "--dry-run", "--json").json()
    told = Counter((each["source"], each["reason"]["code"]) for each in plan["actions"])
    assert told == {("chat", "trivial"): 3, ("cron", "trivial"): 2}
    assert states(any_cli) == {"ended"}


def test_garbage_goes_after_a_yes_and_comes_back_by_its_receipt(any_cli: Cli) -> None:
    ids = garbage(any_cli, 3)
    before = [any_cli.ok("sessions", "export", id) for id in ids]
    done = any_cli("gc", "--yes", "--json").json()
    assert (done["done"], done["skipped"], done["left"]) == (3, 0, 0)
    assert states(any_cli) == {"trashed"}
    [listed] = any_cli("trash", "list", "--json").items()
    assert (listed["receipt"], listed["sessions"]) == (done["receipt"], 3)
    refused = any_cli("sessions", "export", ids[0])
    assert (refused.code, done["receipt"] in refused.err) == (29, True)
    golden("undo", "what was removed comes back", any_cli.ok("undo", done["receipt"]))
    assert [any_cli.ok("sessions", "export", id) for id in ids] == before
    assert any_cli("undo", done["receipt"]).code == 43


def test_nothing_is_promised_where_nothing_went(cli: Cli, tmp_path: Path) -> None:
    [id] = garbage(cli, 1)
    file = tmp_path / "sexton.yaml"
    file.write_text("trash: {grace: 36h}\n")
    told = cli.ok("gc", "--yes", "--config", str(file))
    golden("gc", "garbage went, for 36 hours", told)
    receipt = cli("trash", "list", "--json").items()[0]["receipt"]
    assert receipt in told
    cli.ok("undo", receipt)
    directory = OwnFiles(tmp_path / "ledger.db.files", NATIVE).directory(id)
    (directory / "link").symlink_to("/etc/passwd")
    said = cli("gc", "--yes")
    golden("gc", "a session with a link among its files stays", said.out + said.err)
    skipped = cli("gc", "--yes", "--json").json()
    assert [each["result"] for each in skipped["outcomes"]] == ["skipped"]
    (directory / "link").unlink()
    (directory / "chart.png").write_bytes(b"x" * 5000)
    golden("gc", "garbage with files", cli.ok("gc", "--dry-run"))
    written = cli("gc", "--output", str(tmp_path / "plan.json")).err
    golden("gc", "the plan is written to a file", written)
    [of_source] = cli("gc", "--yes", "--json").json()["sources"]
    assert (of_source["bytes"], of_source["file_bytes"]) == (6, 5000)


def test_without_a_yes_and_a_terminal_nothing_goes(cli: Cli) -> None:
    garbage(cli)
    assert cli("gc").code == 2
    assert cli("gc", "--json").code == 2
    assert states(cli) == {"ended"}


def test_what_counts_as_garbage_can_be_said(cli: Cli) -> None:
    garbage(cli, 1, said=8)
    garbage(cli, 1, source="cron")
    golden("gc", "no garbage", cli.ok("gc", "--dry-run", "--trivial-days", "60"))
    plan = json.loads(cli.ok("gc", "--dry-run", "--json", "--source", "cron"))
    assert [each["source"] for each in plan["actions"]] == ["cron"]
    plan = json.loads(cli.ok("gc", "--dry-run", "--json", "--trivial-max", "10"))
    assert len(plan["actions"]) == 2
    assert cli("gc", "--trivial-max", "-1").code == 2


def test_the_plan_can_be_kept_and_applied_later(cli: Cli, tmp_path: Path) -> None:
    garbage(cli)
    file = tmp_path / "plan.json"
    cli.ok("gc", "-o", str(file))
    assert states(cli) == {"ended"}
    assert file.stat().st_mode & 0o777 == 0o600
    assert cli("apply", str(file), "--json").json()["done"] == 3
    assert states(cli) == {"trashed"}


def test_a_program_that_finds_no_garbage_is_not_asked(cli: Cli) -> None:
    found = cli("gc", "--json")
    assert (found.code, found.json()["done"]) == (0, 0)


def test_every_command_that_may_remove_something_takes_the_same_words(cli: Cli) -> None:
    garbage(cli, 1)
    same = ("--home", "native", "--source", "chat", "--json")
    assert isinstance(json.loads(cli.ok("plan", *same)), dict)
    for command in (("gc",), ("apply",), ("trash", "empty")):
        assert isinstance(json.loads(cli.ok(*command, *same, "--dry-run", "--yes")), dict)
    receipt = cli("gc", "--yes", "--json").json()["receipt"]
    [id] = [each["id"] for each in cli("sessions", "list", "--json").items()]
    for restoring in (["undo", receipt], ["archive", "restore", id]):
        assert isinstance(json.loads(cli.ok(*restoring, *same, "--dry-run")), dict)


def test_plans_can_be_limited_to_a_source(cli: Cli, short: str) -> None:
    cli.talk("a", "1", "2", "3")
    cli.talk("b", "1", "2", "3", source="discord")
    plan = cli("plan", "--source", "discord", "--config", short, "--json").json()
    assert len(plan["actions"]) == 1
    done = cli("apply", "--source", "discord", "--config", short, "--yes", "--json").json()
    assert done["done"] == 1
    listed = cli("sessions", "list", "--json").items()
    assert {each["source"]: each["state"] for each in listed} == {
        "telegram": "open",
        "discord": "ended",
    }


def test_what_would_leave_nothing_of_a_home_needs_a_word_more(cli: Cli, tmp_path: Path) -> None:
    garbage(cli, 2, source="cron")
    file = tmp_path / "all.yaml"
    file.write_text("retention: {classes: [{sources: [cron], rows: remove, rows_max_age: 1d}]}\n")
    settings = ("--config", str(file))
    plan = cli("plan", "--json", *settings).json()
    assert (plan["actions"], len(plan["held"])) == ([], 2)
    assert {each["holding"]["code"] for each in plan["held"]} == {"remove_all"}
    assert cli("apply", "--yes", "--json", *settings).json()["done"] == 0
    assert len(cli("plan", "--allow-remove-all", "--json", *settings).json()["actions"]) == 2
    done = cli("apply", "--allow-remove-all", "--yes", "--json", *settings).json()
    assert (done["done"], states(cli)) == (2, {"trashed"})


def test_what_is_kept_although_it_is_small_is_told(cli: Cli) -> None:
    [pinned] = garbage(cli, 1)
    cli.ok("sessions", "pin", pinned)
    golden("gc", "pinned garbage", cli.ok("gc", "--dry-run"))
    plan = cli("gc", "--dry-run", "--json").json()
    assert (plan["actions"], plan["held"][0]["holding"]["code"]) == ([], "pinned")


@pytest.mark.usefixtures("still")
def test_why_says_whether_a_session_is_garbage_and_where_a_removed_one_is(cli: Cli) -> None:
    small, big = *garbage(cli, 1), *garbage(cli, 1, said=9)
    golden("why", "a session is garbage", cli.ok("why", small))
    golden("why", "a session is too big for garbage", cli.ok("why", big))
    receipt = cli("gc", "--yes", "--json").json()["receipt"]
    told = cli.ok("why", small)
    golden("why", "a session is in the trash", told)
    assert receipt in told
    shown = cli("sessions", "show", small, "--json").json()
    assert (shown["vault"]["receipt"], shown["vault"]["kind"]) == (receipt, "trash")
    golden("sessions-show", "a session is in the trash", cli.ok("sessions", "show", small))


def test_trash_is_emptied_only_when_its_time_is_over_unless_told_otherwise(cli: Cli) -> None:
    [id] = garbage(cli, 1)
    receipt = cli("gc", "--yes", "--json").json()["receipt"]
    golden("trash", "nothing is past its time", cli.ok("trash", "empty", "--yes"))
    assert cli("trash", "empty", "--yes", "--json").json()["outcomes"] == []
    nothing = ("trash", "empty", "--all", "--source", "nowhere", "--yes")
    golden("trash", "nothing of a source is there", cli.ok(*nothing))
    assert cli(*nothing, "--json").json()["outcomes"] == []
    assert len(steps(cli, "trash", "empty", "--all")) == 1
    assert states(cli) == {"trashed"}
    assert cli("trash", "empty", "--all").code == 2
    assert cli("trash", "empty", "--all", "--yes", "--json").json()["done"] == 1
    assert states(cli) == {"purged"}
    golden("trash", "the trash is empty", cli("trash", "list").err)
    refused = cli("sessions", "export", id)
    assert refused.code == 29
    golden("errors", "a session was purged", refused.err)
    assert cli("undo", receipt).code == 43


def steps(cli: Cli, *command: str) -> list[Any]:
    """What a command would do."""
    found: list[Any] = cli(*command, "--dry-run", "--json").json()["actions"][0]["steps"]
    return found


def test_trash_and_undo_can_be_limited_to_a_source(cli: Cli) -> None:
    garbage(cli, 1)
    garbage(cli, 2, source="cron")
    receipt = cli("gc", "--yes", "--json").json()["receipt"]
    listed = cli("trash", "list", "--source", "cron", "--json").items()
    assert [each["sessions"] for each in listed] == [2]
    assert cli("undo", receipt, "--source", "nothing").code == 43
    [step] = steps(cli, "undo", receipt, "--source", "cron")
    assert step["why"].startswith("cron of native")
    done = cli("undo", receipt, "--source", "cron", "--json").json()
    assert [each["sessions"] for each in done["files"]] == [2]
    assert states(cli) == {"ended", "trashed"}


def test_what_is_damaged_or_missing_is_found(cli: Cli, tmp_path: Path) -> None:
    garbage(cli, 1)
    garbage(cli, 1, source="cron")
    cli.ok("gc", "--yes")
    golden("archive", "all files can be read", cli.ok("archive", "verify"))
    sound = cli("archive", "verify", "--json").json()
    assert (sound["verified"], sound["damaged"]) == (2, [])
    first, second = sorted((tmp_path / "ledger.db.vault").iterdir())
    first.write_bytes(first.read_bytes()[:-1] + b"x")
    assert cli("archive", "verify").code == 82
    second.unlink()
    first.unlink()
    answer = cli("archive", "verify", "--json")
    assert answer.code == 81
    assert len(json.loads(answer.out)["damaged"]) == 2


def test_a_session_is_restored_by_its_name_and_no_other(cli: Cli) -> None:
    id, other = garbage(cli, 2)
    assert cli("archive", "restore", id).code == 62
    cli.ok("gc", "--yes")
    assert len(steps(cli, "archive", "restore", id)) == 1
    golden("archive", "one session would come back", cli.ok("archive", "restore", id, "--dry-run"))
    assert cli("archive", "restore", id, "--source", "cron").code != 0
    cli.ok("archive", "restore", id, "--source", "chat", "--home", "native")
    listed = {each["id"]: each["state"] for each in cli("sessions", "list", "--json").items()}
    assert listed == {id: "ended", other: "trashed"}
    assert " 1 of 2 " in cli.ok("trash", "list")
    [file] = cli("trash", "list", "--json").items()
    assert (file["sessions"], file["left"]) == (2, 1)
    golden("archive", "nothing is archived", cli("archive", "list").err)


def test_where_only_files_are_archived_those_of_one_session_come_back_alone(
    cli: Cli, tmp_path: Path
) -> None:
    id, other = garbage(cli, 2)
    kept = OwnFiles(tmp_path / "ledger.db.files", NATIVE)
    for each in (id, other):
        (kept.directory(each) / "report.txt").write_text(each)
    config = tmp_path / "sexton.yaml"
    config.write_text("retention: {on_reset: archive}\n")
    done = cli("apply", "--yes", "--json", "--config", str(config)).json()
    assert done["done"] == 2
    listed = cli("archive", "list", "--json").items()
    assert [(each["holds"], each["sessions"]) for each in listed] == [("files", 1)] * 2
    golden("archive", "the files of a session come back", cli.ok("archive", "restore", id))
    assert (kept.directory(id) / "report.txt").read_text() == id
    assert not (kept.directory(other) / "report.txt").exists()
    assert cli("archive", "restore", id).code == 62
    again = cli("undo", done["receipt"], "--json").json()
    assert [each["files"] for each in again["files"]] == [1]
    assert (kept.directory(other) / "report.txt").read_text() == other


def test_a_hermes_home_is_collected_at_a_persons_word_and_comes_back(
    cli: Cli, scene: HermesScene, tmp_path: Path
) -> None:
    scene.start("trivial")
    scene.say("trivial", "hello")
    scene.end("trivial")
    scene.sql("UPDATE messages SET timestamp = timestamp - ?", MONTH.total_seconds())
    scene.sql(
        "UPDATE sessions SET started_at = started_at - ?, ended_at = ended_at - ?",
        MONTH.total_seconds(),
        MONTH.total_seconds(),
    )
    home = ("--home", str(scene.path))
    assert "trivial" in cli.ok("gc", "--dry-run", *home)
    cli.ok("gc", "--output", str(tmp_path / "plan.json"), *home)
    left = cli("apply", str(tmp_path / "plan.json"), "--json").json()
    assert (left["done"], left["observed"]) == (0, 1)
    refused = cli("gc", "--yes", *home)
    assert (refused.code, "--allow-observed" in refused.err) == (53, True)
    assert scene.sql("SELECT id FROM sessions") == [["trivial"]]
    allowed = ("--allow-observed", "--json")
    done = cli("apply", str(tmp_path / "plan.json"), *allowed).json()  # which knows its home
    assert scene.sql("SELECT * FROM sessions") == []
    cli.ok("undo", done["receipt"])
    assert scene.sql("SELECT id, end_reason FROM sessions") == [["trivial", "cli_close"]]
    assert scene.sql("SELECT content FROM messages") == [["hello"]]


def test_what_was_ended_in_a_hermes_home_is_opened_again_by_the_receipt(
    cli: Cli, scene: HermesScene
) -> None:
    scene.start("left")
    scene.close()
    home = ("--home", str(scene.path))
    receipt = cli("apply", "--yes", "--allow-observed", "--json", *home).json()["receipt"]
    assert scene.sql("SELECT end_reason FROM sessions") == [["reaped"]]
    scene.close()
    golden("undo", "a session would be opened again", cli.ok("undo", receipt, "--dry-run"))
    assert cli("undo", receipt, "--source", "cron").code != 0
    assert cli("undo", receipt, "--json").json()["opened_again"] == 1
    assert scene.sql("SELECT end_reason FROM sessions") == [[None]]


def test_files_of_a_hermes_home_that_a_person_let_go_come_back_by_the_receipt(
    cli: Cli, scene: HermesScene
) -> None:
    scene.start("20260101_101010_abcdef")
    scene.end("20260101_101010_abcdef")
    folder = scene.path / "sessions"
    folder.mkdir(exist_ok=True)
    file = folder / "session_20260101_101010_abcdef.json"
    file.write_text("{}")
    old = (datetime.now(UTC) - MONTH).timestamp()
    os.utime(file, (old, old))
    for name in ("started_at", "ended_at"):
        scene.sql(f"UPDATE sessions SET {name} = {name} - ?", MONTH.total_seconds())
    done = cli("apply", "--home", str(scene.path), "--yes", "--allow-observed", "--json").json()
    assert done["done"] == 1
    assert not file.exists()
    refused = cli("archive", "restore", "hermes/20260101_101010_abcdef")
    assert (refused.code, done["receipt"] in refused.err) == (62, True)
    cli.ok("undo", done["receipt"])
    assert file.read_text() == "{}"


@pytest.fixture
def many(cli: Cli, tmp_path: Path) -> Cli:
    """A ledger with so much garbage that it takes a while."""
    cli.ok("gc", "--yes")
    connection = apsw.Connection(str(tmp_path / "ledger.db"))
    now = int(datetime.now(UTC).timestamp() * 1e6) - int(MONTH.total_seconds() * 1e6)
    with connection:
        connection.execute(
            f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) "
            "INSERT INTO sessions (home, id, source, state, started_at, active_at, ended_at) "
            "SELECT 1, 'many ' || i, 'chat', 'ended', ?, ?, ? FROM n",
            (now, now, now),
        )
    connection.close()
    return cli


INTERRUPTED = """
import os, signal, threading
from contextlib import contextmanager
from sexton.cli import main, carrying_out as carrying

shown, listening, told = carrying.bar, carrying.stopped_by_signals, threading.Event()

@contextmanager
def interrupted(*given):
    with shown(*given) as advance:
        def advanced(count):
            if not told.is_set():
                os.kill(os.getpid(), signal.SIGINT)
                told.wait(240)
            advance(count)
        yield advanced

carrying.bar = interrupted
carrying.stopped_by_signals = lambda stop: listening(lambda: (stop(), told.set()))
main()
"""
"""The program; it is interrupted, and has heard of it, when the first session has gone."""


@pytest.mark.parametrize("command", ["gc", "apply"])
@pytest.mark.slow
def test_ctrl_c_stops_between_two_steps_and_the_rest_can_be_applied(
    command: str, many: Cli, tmp_path: Path
) -> None:
    arguments = ["gc", "--yes"]
    if command == "apply":
        many.ok("gc", "--output", str(tmp_path / "plan.json"))
        arguments = ["apply", "plan.json", "--json"]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *arguments, "--ledger", many.url],
        env=environment(),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 130, done
    [file] = tmp_path.glob(f"sexton-{command}-*.json")
    with many.opened() as opened:
        tally = Counter(each.state for each in everything(opened.ledger))
        assert tally[State.TRASHED] + tally[State.ENDED] == MANY
        assert {each.state for each in opened.ledger.vault.unfinished(NEAR)} == set()
    left = len(json.loads(file.read_text())["actions"])
    assert left == tally[State.ENDED]
    rest = many("apply", str(file), "--json").json()
    assert (rest["done"], rest["skipped"]) == (left, 0)
    assert len(list((tmp_path / "ledger.db.vault").iterdir())) == len(
        many("trash", "list", "--json").items()
    )
