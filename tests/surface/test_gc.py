"""What a person and a program see of garbage, the trash and the archive."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from sexton.model.session import State
from tests.crash.checking import tell
from tests.scenario.hermes_home import HermesScene
from tests.surface.program import Cli, environment, program

MONTH = timedelta(days=30)
MANY = 12_000


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
    return {each["state"] for each in cli("sessions", "list", "--json").json()}


def test_a_dry_run_shows_sources_sizes_and_reasons_and_changes_nothing(any_cli: Cli) -> None:
    garbage(any_cli, 3)
    garbage(any_cli, 2, source="cron")
    out = any_cli.ok("gc", "--dry-run")
    for words in ("SOURCE", "chat", "cron", "OLDEST", "1 message, and nothing for"):
        assert words in out
    assert states(any_cli) == {"ended"}


def test_garbage_goes_after_a_yes_and_comes_back_by_its_receipt(any_cli: Cli) -> None:
    ids = garbage(any_cli, 3)
    before = [any_cli.ok("sessions", "export", id) for id in ids]
    done = any_cli("gc", "--yes", "--json").json()
    assert (done["done"], done["skipped"], done["left"]) == (3, 0, 0)
    assert states(any_cli) == {"trashed"}
    [listed] = any_cli("trash", "list", "--json").json()
    assert (listed["receipt"], listed["sessions"]) == (done["receipt"], 3)
    refused = any_cli("sessions", "export", ids[0])
    assert refused.code == 29
    assert f"sexton undo {done['receipt']}" in refused.err
    assert "3 sessions brought back" in any_cli.ok("undo", done["receipt"])
    assert [any_cli.ok("sessions", "export", id) for id in ids] == before
    assert any_cli("undo", done["receipt"]).code == 43


def test_without_a_yes_and_a_terminal_nothing_goes(cli: Cli) -> None:
    garbage(cli)
    assert cli("gc").code == 2
    assert cli("gc", "--json").code == 2
    assert states(cli) == {"ended"}


def test_what_counts_as_garbage_can_be_said(cli: Cli) -> None:
    garbage(cli, 1, said=8)
    garbage(cli, 1, source="cron")
    assert "there is no garbage" in cli.ok("gc", "--dry-run", "--trivial-days", "60")
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


def test_plans_can_be_limited_to_a_source(cli: Cli, short: str) -> None:
    cli.talk("a", "1", "2", "3")
    cli.talk("b", "1", "2", "3", source="discord")
    plan = cli("plan", "--source", "discord", "--config", short, "--json").json()
    assert len(plan["actions"]) == 1
    done = cli("apply", "--source", "discord", "--config", short, "--yes", "--json").json()
    assert done["done"] == 1
    listed = cli("sessions", "list", "--json").json()
    assert {each["source"]: each["state"] for each in listed} == {
        "telegram": "open",
        "discord": "ended",
    }


def test_what_is_kept_although_it_is_small_is_told(cli: Cli) -> None:
    [pinned] = garbage(cli, 1)
    cli.ok("sessions", "pin", pinned)
    out = cli.ok("gc", "--dry-run")
    assert "it is pinned" in out
    assert "1 pinned" in out


def test_why_says_whether_a_session_is_garbage_and_where_a_removed_one_is(cli: Cli) -> None:
    small, big = *garbage(cli, 1), *garbage(cli, 1, said=9)
    assert "1 message, and nothing for" in cli.ok("why", small)
    assert "9 messages are more than 5" in cli.ok("why", big)
    receipt = cli("gc", "--yes", "--json").json()["receipt"]
    assert f"sexton undo {receipt}" in cli.ok("why", small)
    shown = cli("sessions", "show", small, "--json").json()
    assert shown["vault"]["receipt"] == receipt
    assert "trash" in cli.ok("sessions", "show", small)


def test_trash_is_emptied_only_when_its_time_is_over_unless_told_otherwise(cli: Cli) -> None:
    [id] = garbage(cli, 1)
    receipt = cli("gc", "--yes", "--json").json()["receipt"]
    assert "nothing in the trash is past its time" in cli.ok("trash", "empty", "--yes")
    shown = cli("trash", "empty", "--all", "--dry-run", "--json").json()
    assert [each["receipt"] for each in shown["kept"]] == [receipt]
    assert states(cli) == {"trashed"}
    assert cli("trash", "empty", "--all").code == 2
    assert len(cli("trash", "empty", "--all", "--yes", "--json").json()["removed"]) == 1
    assert states(cli) == {"purged"}
    assert "the trash is empty" in cli("trash", "list").err
    refused = cli("sessions", "export", id)
    assert (refused.code, "was purged" in refused.err) == (29, True)
    assert cli("undo", receipt).code == 43


def test_trash_and_undo_can_be_limited_to_a_source(cli: Cli) -> None:
    garbage(cli, 1)
    garbage(cli, 2, source="cron")
    receipt = cli("gc", "--yes", "--json").json()["receipt"]
    listed = cli("trash", "list", "--source", "cron", "--json").json()
    assert [each["sessions"] for each in listed] == [2]
    assert cli("undo", receipt, "--source", "nothing").code == 43
    shown = cli("undo", receipt, "--source", "cron", "--dry-run", "--json").json()
    assert [each["source"] for each in shown["files"]] == ["cron"]
    done = cli("undo", receipt, "--source", "cron", "--json").json()
    assert [each["sessions"] for each in done["files"]] == [2]
    assert states(cli) == {"ended", "trashed"}


def test_what_is_damaged_or_missing_is_found(cli: Cli, tmp_path: Path) -> None:
    garbage(cli, 1)
    garbage(cli, 1, source="cron")
    cli.ok("gc", "--yes")
    assert "2 files can be read, 0 can not" in cli.ok("archive", "verify")
    first, second = sorted((tmp_path / "ledger.db.vault").iterdir())
    first.write_bytes(first.read_bytes()[:-1] + b"x")
    assert cli("archive", "verify").code == 82
    second.unlink()
    first.unlink()
    answer = cli("archive", "verify", "--json")
    assert answer.code == 81
    assert len(json.loads(answer.out)["damaged"]) == 2


def test_a_session_is_restored_by_its_name(cli: Cli) -> None:
    [id] = garbage(cli, 1)
    assert cli("archive", "restore", id).code == 62
    cli.ok("gc", "--yes")
    assert cli("archive", "restore", id, "--dry-run", "--json").json()["files"]
    cli.ok("archive", "restore", id[:8])
    assert states(cli) == {"ended"}
    assert "nothing is archived" in cli("archive", "list").err


def test_a_hermes_home_is_collected_at_a_persons_word_and_comes_back(
    cli: Cli, scene: HermesScene
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
    done = cli("gc", "--yes", "--json", *home).json()
    assert scene.sql("SELECT * FROM sessions") == []
    cli.ok("undo", done["receipt"])
    assert scene.sql("SELECT id, end_reason FROM sessions") == [["trivial", "cli_close"]]
    assert scene.sql("SELECT content FROM messages") == [["hello"]]


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
    done = cli("apply", "--home", str(scene.path), "--yes", "--json").json()
    assert done["done"] == 1
    assert not file.exists()
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


def test_ctrl_c_stops_between_two_steps_and_the_rest_can_be_applied(
    many: Cli, tmp_path: Path
) -> None:
    parent, child = pty.openpty()  # on a terminal it shows a bar: from then on it is at work
    process = subprocess.Popen(
        program("gc", "--yes", "--ledger", many.url),
        env=environment(TERM="xterm"),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=child,
    )
    os.close(child)
    seen = b""
    while b"removing" not in seen:
        seen += os.read(parent, 1000)
    process.send_signal(signal.SIGINT)
    rest = _drained(parent)
    assert process.stdout is not None
    with process.stdout:
        out = process.stdout.read().decode()
    assert process.wait(60) == 130, (out, rest)
    [file] = tmp_path.glob("sexton-gc-*.json")
    with many.opened() as opened:
        tally = Counter({each.state: each.sessions for each in opened.ledger.index.tally(None)})
        assert tally[State.TRASHED] + tally[State.ENDED] == MANY
        assert {each.state for each in opened.ledger.vault.unfinished("")} == set()
    left = len(json.loads(file.read_text())["actions"])
    assert left == tally[State.ENDED]
    done = many("apply", str(file), "--json").json()
    assert (done["done"], done["skipped"]) == (left, 0)
    assert len(list((tmp_path / "ledger.db.vault").iterdir())) == len(
        many("trash", "list", "--json").json()
    )


def _drained(terminal: int) -> bytes:
    """All that is still written to a terminal before its last user closes it."""
    found = b""
    while True:
        try:
            more = os.read(terminal, 1000)
        except OSError:
            more = b""
        if not more:
            os.close(terminal)
            return found
        found += more
