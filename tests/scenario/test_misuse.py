"""What users do to a ledger that nobody meant them to do."""

from __future__ import annotations

import os
import threading
from datetime import timedelta
from functools import partial
from pathlib import Path

import apsw
import pytest

import sexton
from sexton.core.message import DEEPEST
from sexton.errors import (
    InvalidMessage,
    InvalidName,
    LedgerClosed,
    LedgerError,
    LedgerGone,
    SessionNotFound,
)
from sexton.resets.policy import Mode, ResetPolicy
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import Settings
from sexton.store.opening import masked, open_ledger
from sexton.store.sqlite import SqliteDatabase
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.contract.ledger_contract_samples import race
from tests.golden import golden

SECRETS = [
    "postgresql://u:pa#s3cret@127.0.0.1:1/db",
    "postgresql://u:pa?s3cret@127.0.0.1:1/db",
    "postgresql://u:pa/s3cret@127.0.0.1:1/db",
    "postgresql://u:s3cret%zz@127.0.0.1:1/db",
    "postgresql://u:x@127.0.0.1:1/db?sslpassword=a#s3cret",
    "postgresql://u:x@127.0.0.1:1/db?bogus=s3cret",
    "postgresql://u:s3cret@[::1/db",
    "host=127.0.0.1 port=1 password=s3cret dbname=x",
    "postgresql:u:s3cret@h/db",
    "postgres:/u:s3cret@h/db",
    "sqlite://u:s3cret@h/db",
]


@pytest.mark.parametrize("address", SECRETS)
def test_no_error_tells_a_password(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LedgerError) as refused:
        open_ledger(address)
    assert "s3cret" not in f"{refused.value} {refused.value.hint}"
    assert list(tmp_path.iterdir()) == [], "nothing was taken for a file's name"


@pytest.mark.parametrize("address", SECRETS[:7])
def test_no_shown_address_tells_a_password(address: str) -> None:
    assert "s3cret" not in masked(address)


@pytest.mark.parametrize(
    "address",
    [
        *(":memory:", "", "sqlite:///", "~nosuchuser/l.db", "x" * 300),
        *("a\0b", "sqlite:///a%00b", "\ud800.db"),
    ],
)
def test_an_address_that_names_no_file_is_refused(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LedgerError):
        open_ledger(address)


@pytest.mark.parametrize("gone", ["removed", "replaced"])
def test_nothing_is_acknowledged_that_went_to_a_lost_file(gone: str, tmp_path: Path) -> None:
    file = tmp_path / "l.db"
    house = sexton.open(str(file))
    session = house.worker().session("k", source="telegram")
    session.append(role="user", content="1")
    if gone == "removed":
        file.unlink()
    else:
        (tmp_path / "other").write_bytes(b"")
        (tmp_path / "other").replace(file)
    with pytest.raises(LedgerGone):
        session.append(role="user", content="2")
    with pytest.raises(LedgerGone):
        house.close()
    house.ledger.close()


def test_nothing_is_acknowledged_that_went_to_a_lost_log(tmp_path: Path) -> None:
    file = tmp_path / "l.db"
    with sexton.open(str(file)) as house:
        session = house.worker().session("k", source="telegram")
        session.append(role="user", content="1")
        Path(f"{file}-wal").unlink()
        with pytest.raises(LedgerGone):
            session.append(role="user", content="2")
        session.append(role="user", content="3")
        with sexton.open(str(file)) as other:
            read = other.worker().resume(session.id).messages()
            assert [each.content for each in read][-1] == "3"
        assert [each.content for each in session.messages()] == ["1", "2", "3"]


def test_a_ledger_that_was_moved_away_and_back_is_gone_meanwhile_and_only_then(
    tmp_path: Path,
) -> None:
    file, aside = tmp_path / "l.db", tmp_path / "aside.db"
    with sexton.open(str(file)) as house:
        session = house.worker().session("k", source="telegram")
        session.append(role="user", content="1")
        house.ledger.hygiene.checkpoint()
        file.rename(aside)
        open_ledger(str(file)).close()  # it finds the log of another file, and throws it away
        for _ in range(2):
            with pytest.raises(LedgerGone):
                session.append(role="user", content="lost")
            with pytest.raises(LedgerGone):
                list(session.messages())
        file.unlink()
        aside.rename(file)
        with pytest.raises(LedgerGone):  # it went to the log that was thrown away
            session.append(role="user", content="lost")
        session.append(role="user", content="2")
        with sexton.open(str(file)) as other:
            read = list(other.worker().resume(session.id).messages())
            assert [each.content for each in read if each.content != "lost"] == ["1", "2"]


def test_another_ledger_at_its_place_is_never_taken_for_it(tmp_path: Path) -> None:
    file = tmp_path / "l.db"
    house = sexton.open(str(file))
    session = house.worker().session("k", source="telegram")
    for each in tmp_path.iterdir():
        each.unlink()
    for _ in range(3):
        with pytest.raises(LedgerGone):
            session.append(role="user", content="lost")
        with sexton.open(str(file)) as other:
            assert list(other.ledger.index.find(None, session.id)) == []
    with pytest.raises(LedgerGone):
        house.close()


def test_what_no_row_can_hold_is_an_invalid_message(tmp_path: Path) -> None:
    with sexton.open(str(tmp_path / "l.db")) as house:
        session = house.worker().session("k")
        database = house.ledger.messages._database
        assert isinstance(database, SqliteDatabase)
        assert database._writer is not None
        database._writer.connection.limit(apsw.SQLITE_LIMIT_LENGTH, 50_000)  # else a gigabyte
        with pytest.raises(InvalidMessage) as refused:
            session.append(role="user", content="x" * 60_000)
        golden("errors", "a message that no row can hold", str(refused.value))
        assert session.append(role="user", content="x" * 40_000) == 1


def test_whoever_closes_a_lost_ledger_is_told_and_lets_go_of_it(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    house = sexton.open(str(path))
    session = house.worker().session("talk", source="chat")
    race([partial(session.append, role="user", content="x")] * 8)
    path.unlink()
    with pytest.raises(LedgerGone):
        house.close()
    with pytest.raises(LedgerClosed):
        session.append(role="user", content="y")
    links = (os.readlink(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd")
             if os.path.lexists(f"/proc/self/fd/{each}"))  # fmt: skip
    assert not [link for link in links if link.startswith(str(path))]


def test_a_parent_that_nobody_knows_is_refused_and_nothing_is_opened(engine_url: str) -> None:
    with sexton.open(engine_url) as house, house.worker() as worker:
        with pytest.raises(SessionNotFound, match="nobody"):
            worker.session("child", parent="nobody", relation="fork")
        assert house.ledger.book.current("child") is None
        parent = worker.session("parent")
        parent.end("done")
        child = worker.session("child", parent=parent.id, relation="fork")
        assert house.find(child.id).parent == parent.id


def test_a_forked_child_that_unwinds_a_turn_does_not_end_it(engine_url: str) -> None:
    with sexton.open(engine_url) as house, house.worker() as worker:
        session = worker.session("k", source="telegram")
        with session.turn() as turn:
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    turn.__exit__(None, None, None)
                    code = 0
                finally:
                    os._exit(code)
            assert os.waitpid(pid, 0)[1] == 0
            [holder] = house.find(session.id).holders
            assert holder.busy_since is not None
        assert house.find(session.id).holders[0].busy_since is None


def test_content_nested_too_deep_to_be_read_again_is_refused(tmp_path: Path) -> None:
    deep: object = 1
    for _ in range(DEEPEST):
        deep = [deep]
    with sexton.open(str(tmp_path / "l.db")) as house, house.worker() as worker:
        session = worker.session("k")
        session.append(role="tool", content=deep)
        with pytest.raises(InvalidMessage, match="deep"):
            session.append(role="tool", content=[deep])
        with pytest.raises(InvalidMessage, match="mapping"):
            session.append_many(["not a message"])  # type: ignore[list-item]  # that is the point
        assert [message.content for message in session.messages()] == [deep]


def test_asking_needs_no_write_lock(tmp_path: Path) -> None:
    file = tmp_path / "l.db"
    with sexton.open(str(file)):
        pass
    writer = apsw.Connection(str(file))
    writer.execute("BEGIN IMMEDIATE")
    try:
        asked = threading.Event()

        def ask() -> None:
            ledger = open_ledger(str(file))
            ledger.homes.all()
            asked.set()
            ledger.close()

        thread = threading.Thread(target=ask)
        thread.start()
        assert asked.wait(240)
    finally:
        writer.execute("ROLLBACK")
        writer.close()
    thread.join(240)


def test_every_folder_made_for_a_ledger_is_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with sexton.open(str(tmp_path / "a" / "b" / "l.db")):
            pass
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {"a": 0o700, "b": 0o700, "l.db": 0o600}


def test_a_moment_under_a_wrong_clock_does_not_outlast_it(
    engine_url: str, manual_clock: ManualClock
) -> None:
    rules = Rulebook(reset=ResetPolicy(mode=Mode.IDLE, idle_minutes=60))
    with (
        Sexton(open_ledger(engine_url), Settings(rulebook=rules), clock=manual_clock) as house,
        house.worker() as worker,
    ):
        house.publish()
        right = manual_clock.now()
        session = worker.session("k")
        manual_clock.set(right + timedelta(days=365))
        session.append(role="user", content="from the future")
        manual_clock.set(right)
        session.append(role="user", content="now")
        manual_clock.advance(timedelta(hours=2))
        assert [each.action.reason.code for each in house.sweep().outcomes] == ["idle"]


def test_a_name_with_a_slash_means_the_home_before_it(engine_url: str) -> None:
    with sexton.open(engine_url) as house, house.worker() as worker:
        session = worker.session("k")
        assert house.find(f"native/{session.id}").id == session.id
        with pytest.raises(InvalidName):
            house.find("a\0b")
