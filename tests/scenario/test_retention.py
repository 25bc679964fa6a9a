"""Does what sessions left behind go when it was kept long enough, and only then?"""

from __future__ import annotations

import logging
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sexton.cli.space import measure
from sexton.core.plan import Outcome, Plan, RemoveFiles, Result, TrashSession
from sexton.core.record import replace
from sexton.core.session import State
from sexton.notifications.model import Event
from sexton.retention import retain
from sexton.retention.files.flat_directory import FlatFiles
from sexton.retention.files.own_directories import OwnFiles
from sexton.retention.model import VaultState, WantedFiles
from sexton.retention.proposal import with_retention
from sexton.settings.loader import load
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.crash.checking import tell
from tests.golden import golden
from tests.scenario.hermes_home import HermesScene

START = datetime(2026, 6, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
CRON = "retention: {classes: [{sources: [cron], rows: %s, rows_max_age: 30d}]}"


class Native:
    """A ledger under some settings, with the files of its sessions."""

    def __init__(
        self, url: str, place: Path, text: str = "", age: str = "null", vault: str = "vault"
    ) -> None:
        self.place = place
        self.clock = ManualClock(START)
        file = place / "sexton.yaml"
        file.write_text(f"archive: {{directory: {vault}, max_age: {age}}}\n{text}")
        self.sexton = Sexton(open_ledger(url), load(file, {}), clock=self.clock)
        self.sexton.publish()

    @property
    def files(self) -> OwnFiles:
        means = self.sexton.estate().removing
        assert means is not None
        found = means.files["native"]
        assert isinstance(found, OwnFiles)
        return found

    def over(
        self, key: str | None = None, source: str = "cron", size: int = 0, **facts: Any
    ) -> str:
        """The id of a session that has ended, with a file of a size."""
        with self.sexton.worker() as worker:
            session = worker.session(key, source=source, **facts)
            session.append(role="user", content="hello")
            session.end("done")
        if size:
            (self.files.directory(session.id) / "report.txt").write_bytes(b"x" * size)
        return session.id

    def pass_days(self, days: float) -> None:
        self.clock.advance(days * DAY)

    def state(self, id: str) -> State:
        return self.sexton.find(id).state

    def file(self, id: str) -> Path:
        return self.files.directory(id) / "report.txt"

    def sweep(self) -> list[Outcome]:
        """What a keeper that was just started does in its first round."""
        worker = self.sexton.worker(kind="keeper")
        keeper = self.sexton.keeper(worker, watchful=False)
        outcomes = keeper.once().outcomes
        keeper.close()
        worker.leave()
        return list(outcomes)

    def done(self, outcomes: list[Outcome]) -> list[tuple[str, str]]:
        return sorted(
            (each.action.kind, each.action.seen.id)
            for each in outcomes
            if each.result is Result.DONE
        )


@pytest.fixture
def opened(engine_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Opens the ledger under the settings of a text."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    made: list[Native] = []

    def open_with(text: str = "", age: str = "null", vault: str = "vault") -> Native:
        made.append(Native(engine_url, tmp_path, text, age, vault))
        return made[-1]

    yield open_with
    for each in made:
        each.sexton.close()


def removed(plan: Plan) -> list[tuple[str, str, str]]:
    kinds = ("remove_files", "trash", "archive")
    return sorted(
        (each.kind, each.seen.id, each.reason.code) for each in plan.actions if each.kind in kinds
    )


def test_an_archive_is_kept_for_ever_unless_it_has_an_age(opened: Any) -> None:
    native = opened(CRON % "archive")
    id, _ = native.over(), native.over(source="chat")
    native.pass_days(31)
    native.sweep()
    native.pass_days(10_000)
    native.sweep()
    assert native.state(id) is State.ARCHIVED


def test_an_archive_that_is_too_old_can_be_had_back_from_the_trash_for_a_while(
    opened: Any,
) -> None:
    before = opened(CRON % "archive")
    first, second, _ = before.over(), before.over(), before.over(source="chat")
    before.pass_days(31)
    before.sweep()
    native = opened(CRON % "archive", age="365d")
    native.clock.advance(before.clock.now() - START)
    for days, state in ((364, State.ARCHIVED), (2, State.TRASHED), (6, State.TRASHED)):
        native.pass_days(days)
        native.sweep()
        assert native.state(first) is native.state(second) is state
    entry = native.sexton.ledger.journal.page(native.sexton.find(first), None, None, 1)[0]
    assert (entry.action, entry.reason.code) == ("discard", "archive_age")
    native.sexton.undo(entry.receipt)
    assert native.state(first) is native.state(second) is State.ENDED


def test_an_archive_that_nobody_wanted_back_is_given_up(opened: Any) -> None:
    native = opened(CRON % "archive", age="365d")
    id, _ = native.over(), native.over(source="chat")
    for days, state in (
        (31, State.ARCHIVED),
        (364, State.ARCHIVED),
        (2, State.TRASHED),
        (8, State.PURGED),
    ):
        native.pass_days(days)
        native.sweep()
        assert native.state(id) is state
    assert not list((native.place / "vault").glob("*.zst"))


def test_archived_files_that_are_too_old_are_told_of_and_come_back_by_their_receipt(
    opened: Any,
) -> None:
    native = opened(CRON.replace("rows: %s, rows_max_age: 30d", "on_reset: archive"), age="30d")
    ids = [native.over(size=10) for _ in range(2)]
    native.sweep()
    native.pass_days(31)
    native.sweep()
    ledger = native.sexton.ledger
    assert [each.kind for each in ledger.vault.page(WantedFiles(), 0, 3)] == ["trash"] * 2
    entries = [ledger.journal.page(native.sexton.find(id), None, None, 2) for id in ids]
    assert [[each.action for each in told] for told in entries] == [["discard", "remove_files"]] * 2
    assert ledger.removable.removed_on("native", native.clock.now().date()) == 2
    native.sexton.undo(entries[0][1].receipt)
    assert [native.file(id).exists() for id in ids] == [True, True]


def test_archives_obey_the_settings_that_hold_now(opened: Any) -> None:
    before = opened(CRON % "archive", age="30d")
    id, _ = before.over(), before.over(source="chat")
    before.pass_days(31)
    before.sweep()
    for age, state in (("90d", State.ARCHIVED), ("null", State.ARCHIVED), ("50d", State.TRASHED)):
        native = opened(CRON % "archive", age=age)
        native.clock.advance(before.clock.now() - START + 60 * DAY)
        native.sweep()
        native.sweep()
        assert native.state(id) is state


def test_a_pinned_session_stays_archived_whatever_its_age(opened: Any) -> None:
    native = opened(CRON % "archive", age="30d")
    id, _ = native.over(), native.over(source="chat")
    native.pass_days(31)
    native.sweep()
    native.sexton.ledger.book.mark(native.sexton.find(id).ref, pinned=True)
    native.pass_days(31)
    native.sweep()
    assert native.state(id) is State.ARCHIVED


def test_a_pinned_archive_uses_up_nothing_of_what_a_day_may_take(opened: Any) -> None:
    native: Native = opened(CRON % "archive", age="30d")
    pinned, other, _ = native.over(), native.over(), native.over(source="chat")
    native.pass_days(31)
    native.sweep()
    ledger, session = native.sexton.ledger, native.sexton.find(pinned)
    file = ledger.vault.of_session(session.ref)
    assert file is not None
    whole_day = replace(file.written, sessions=500)  # as if it were a tree as big as that
    assert ledger.removal.turn(file, VaultState.KEPT, None, whole_day)
    ledger.book.mark(session.ref, pinned=True)
    native.pass_days(33)
    native.sweep()
    assert (native.state(pinned), native.state(other)) == (State.ARCHIVED, State.TRASHED)


def test_files_in_the_trash_stay_while_their_session_is_pinned(opened: Any) -> None:
    native: Native = opened()
    id = native.over(size=100)
    native.pass_days(7.1)
    native.sexton.apply(native.sexton.plan(), "receipt")
    assert not native.file(id).exists()
    native.sexton.ledger.book.mark(native.sexton.find(id).ref, pinned=True)
    native.pass_days(100)
    native.sweep()
    native.sexton.undo("receipt")
    assert native.file(id).exists()


def test_by_default_files_go_after_a_week_and_can_be_had_back(opened: Any) -> None:
    native: Native = opened()
    id = native.over(size=100)
    native.pass_days(6.9)
    assert removed(native.sexton.plan()) == []
    native.pass_days(0.2)
    assert native.done(native.sweep()) == [("remove_files", id)]
    assert not native.file(id).exists()
    assert native.state(id) is State.ENDED
    (entry,) = [each for each in native.sexton.why(id).journal if each.action == "remove_files"]
    assert entry.receipt is not None
    native.sexton.undo(entry.receipt)
    assert native.file(id).read_bytes() == b"x" * 100


def test_what_was_brought_back_is_left_alone_for_a_week(opened: Any) -> None:
    native: Native = opened(CRON % "archive")
    files, rows = native.over(source="chat", size=10), native.over(size=10)
    native.pass_days(31)
    assert native.done(native.sweep()) == sorted([("remove_files", files), ("archive", rows)])
    for receipt in {each.receipt for each in native.sexton.ledger.vault.page(WantedFiles(), 0, 9)}:
        native.sexton.undo(receipt)
    native.pass_days(6)
    assert native.done(native.sweep()) == []
    assert (native.file(files).exists(), native.state(rows)) == (True, State.ENDED)
    held = {each.seen.id: each.holding.code for each in native.sexton.plan().held}
    assert held == {files: "restored", rows: "restored"}
    [told] = [each for each in native.sexton.why(files).answers if each.question == "retention"]
    golden("why", "retention: brought back", told.detail)
    native.pass_days(1.1)
    assert native.done(native.sweep()) == sorted([("remove_files", files), ("archive", rows)])


@pytest.mark.parametrize(
    ("fate", "state"), [("remove", State.TRASHED), ("archive", State.ARCHIVED)]
)
def test_records_go_where_a_class_says_so(opened: Any, fate: str, state: State) -> None:
    native: Native = opened(CRON % fate)
    cron, chat = native.over(size=10), native.over(source="telegram")
    native.pass_days(31)
    kind = "trash" if fate == "remove" else "archive"
    assert native.done(native.sweep()) == [(kind, cron)]
    assert (native.state(cron), native.state(chat)) == (state, State.ENDED)
    assert not native.file(cron).exists()


def test_the_newest_of_a_job_are_kept(opened: Any) -> None:
    native: Native = opened(CRON.replace("rows:", "keep_last: 2, rows:") % "remove")
    ids = []
    for _ in range(4):
        ids.append(native.over(job="backup"))
        native.clock.advance(60)
    native.pass_days(31)
    assert native.done(native.sweep()) == sorted(("trash", id) for id in ids[:2])


def test_pinned_sessions_and_what_a_class_protects_are_kept(opened: Any) -> None:
    text = CRON.replace("cron", "chat").replace("rows:", "protect: [human_touched], rows:")
    native: Native = opened(text % "remove")
    written = native.over(source="chat")
    with native.sexton.worker() as worker:
        session = worker.session(None, source="chat")
        session.append(role="assistant", content="nobody wrote this either")
        session.end("done")
        pinned = session.id
        session = worker.session(None, source="chat")
        session.append(role="assistant", content="nobody wrote this")
        session.end("done")
    native.sexton.ledger.book.mark(native.sexton.find(pinned).ref, pinned=True)
    native.pass_days(31)
    assert native.sexton.find(written).human_touched
    assert native.done(native.sweep()) == [("trash", session.id)]
    assert {native.state(pinned), native.state(written)} == {State.ENDED}


def test_what_was_delivered_goes_at_once_and_what_went_wrong_stays(opened: Any) -> None:
    native: Native = opened("retention: {classes: [{sources: [cron], after_delivery: remove}]}")
    good = native.over()
    with native.sexton.worker() as worker:
        session = worker.session("bad", source="cron")
        with suppress(ZeroDivisionError), session.turn():
            raise ZeroDivisionError
        session.end("done")
        bad = session.id
    assert native.sexton.find(bad).errored
    assert native.done(native.sweep()) == [("trash", good)]
    assert native.state(bad) is State.ENDED


def test_a_compressed_conversation_is_judged_by_its_newest_part(opened: Any) -> None:
    native: Native = opened(CRON % "remove")
    with native.sexton.worker() as worker:
        session = worker.session("talk", source="cron")
        for number in range(30):
            session.append(role="user", content=f"message {number} " + "x" * 100)
        first = session.id
        native.pass_days(40)
        assert session.compress(lambda _: "in short")
        session.append(role="user", content="one more thing")
        assert removed(native.sexton.plan()) == []
        session.end("done")
        tip = session.id
    native.pass_days(29)
    assert removed(native.sexton.plan()) == []
    native.pass_days(2)
    native.over(source="telegram")  # not all of the home is to go
    assert native.done(native.sweep()) == sorted([("trash", first), ("trash", tip)])


def test_a_policy_that_would_leave_nothing_is_refused_unless_it_is_meant(
    opened: Any, caplog: pytest.LogCaptureFixture
) -> None:
    native: Native = opened(CRON % "remove")
    ids = [native.over() for _ in range(2)]
    native.pass_days(31)
    plan = native.sexton.plan()
    assert removed(plan) == []
    assert {each.holding.code for each in plan.held} == {"remove_all"}
    with caplog.at_level(logging.WARNING, "sexton.keeper"):
        assert native.done(native.sweep()) == []
    assert "sexton apply --allow-remove-all" in caplog.text
    meant = opened((CRON % "remove").replace("{classes", "{allow_remove_all: true, classes"))
    meant.pass_days(31)
    assert native.done(meant.sweep()) == sorted(("trash", id) for id in ids)


def test_a_budget_that_would_leave_nothing_is_refused_too(opened: Any) -> None:
    native: Native = opened("disk: {max_use: 1MB}\n" + CRON % "remove")
    for _ in range(3):
        native.over(size=1_000_000)
    plan = native.sexton.plan()
    assert (removed(plan), {each.holding.code for each in plan.held}) == ([], {"remove_all"})


def test_what_was_delivered_goes_also_if_nothing_else_is_there(opened: Any) -> None:
    native: Native = opened("retention: {classes: [{sources: [cron], after_delivery: remove}]}")
    id = native.over()
    assert native.done(native.sweep()) == [("trash", id)]


def backlog(
    native: Native, url: str, count: int, relation: str | None = None, name: str = "old"
) -> None:
    """So many cron sessions that ended two months ago; with a relation each came of the last."""
    then = int((native.clock.now() - 60 * DAY).timestamp() * 1e6)
    elder = f"CASE WHEN i > 1 THEN '{name} ' || (i - 1) END" if relation else "NULL"
    related = f"CASE WHEN i > 1 THEN '{relation}' END" if relation else "NULL"
    tell(
        url,
        f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) "
        "INSERT INTO sessions "
        "(home, id, source, state, started_at, active_at, ended_at, parent, relation) "
        f"SELECT h.ref, '{name} ' || i, 'cron', 'ended', {then} + i, {then} + i, {then} + i, "
        f"{elder}, {related} FROM n CROSS JOIN homes AS h WHERE h.name = 'native'",
    )


def test_unattended_a_day_takes_a_part_of_the_backlog_and_a_person_takes_all(
    opened: Any, engine_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    native: Native = opened(CRON % "remove")
    native.over(source="telegram")
    backlog(native, engine_url, 600)
    with caplog.at_level(logging.WARNING, "sexton.keeper"):
        assert len(native.done(native.sweep())) == 500
    [line] = [each for each in caplog.messages if "'native'" in each]
    assert re.findall(r"\d+", line) == ["100"]
    assert native.done(native.sweep()) == []
    assert len(native.sexton.apply(native.sexton.plan())) == 100


def test_a_budget_that_is_much_too_small_takes_no_more_a_day(opened: Any, engine_url: str) -> None:
    native: Native = opened("disk: {max_use: 1MB}\n" + CRON.replace("30d", "900d") % "remove")
    large = native.over(source="telegram", size=3_000_000)
    native.sexton.ledger.book.mark(native.sexton.find(large).ref, pinned=True)
    backlog(native, engine_url, 600)
    tell(engine_url, "UPDATE sessions SET byte_count = 1000 WHERE source = 'cron'")
    assert len(native.done(native.sweep())) == 500


def test_archiving_all_of_a_home_loses_nothing_and_goes_on(opened: Any) -> None:
    native: Native = opened(CRON % "archive")
    id = native.over()
    native.pass_days(31)
    assert native.done(native.sweep()) == [("archive", id)]


def test_where_nothing_would_be_left_only_the_removals_wait(opened: Any) -> None:
    other = "{sources: [chat], rows: remove, rows_max_age: 30d}"
    native: Native = opened((CRON % "archive").replace("30d}", f"30d}}, {other}"))
    kept, lost = native.over(), native.over(source="chat")
    native.pass_days(31)
    plan = native.sexton.plan()
    assert removed(plan) == [("archive", kept, "max_age")]
    assert [(each.seen.id, each.holding.code) for each in plan.held] == [(lost, "remove_all")]


@pytest.mark.slow
def test_unattended_a_day_archives_all_of_a_backlog_and_counts_none_of_it(
    opened: Any, engine_url: str
) -> None:
    native: Native = opened(CRON % "archive")
    backlog(native, engine_url, 600)
    assert len(native.done(native.sweep())) == 600
    assert native.sexton.ledger.removable.removed_on("native", native.clock.now().date()) == 0


def test_the_files_that_a_day_archives_do_not_count_as_removed(opened: Any) -> None:
    native: Native = opened(CRON.replace("rows: %s, rows_max_age: 30d", "on_reset: archive"))
    id = native.over(size=10)
    assert native.done(native.sweep()) == [("remove_files", id)]
    assert native.sexton.ledger.removable.removed_on("native", native.clock.now().date()) == 0


@pytest.mark.parametrize("fate", ["remove", "archive"])
@pytest.mark.parametrize("relation", [None, "subagent", "compression"])
def test_a_plan_takes_twice_as_many_calls_for_twice_as_many_sessions(
    opened: Any,
    engine_url: str,
    monkeypatch: pytest.MonkeyPatch,
    fate: str,
    relation: str | None,
) -> None:
    native: Native = opened(CRON % fate)
    if relation == "compression":  # one conversation on many pages
        monkeypatch.setattr(retain, "PAGE", 25)

    def cost() -> int:
        """How many functions, of Python or built in, are called to make a plan."""
        calls = 0

        def count(_frame: object, event: str, _detail: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            native.sexton.plan()
        finally:
            sys.setprofile(None)
        return calls

    backlog(native, engine_url, 200, relation, "first")
    once = cost()
    tell(engine_url, "DELETE FROM sessions")
    backlog(native, engine_url, 400, relation, "second")
    assert cost() < 2.5 * once


def test_what_was_used_since_the_plan_is_left_alone(opened: Any) -> None:
    native: Native = opened()
    id = native.over(size=10)
    other = native.over(size=10)
    native.pass_days(8)
    plan = native.sexton.plan()
    native.sexton.ledger.book.mark(native.sexton.find(id).ref, pinned=True)
    outcomes = native.sexton.apply(plan)
    by_id = {each.action.seen.id: each for each in outcomes}
    assert by_id[id].result is Result.SKIPPED
    golden("outcomes", "skipped: files of a pinned session", by_id[id].detail)
    assert native.file(id).exists()
    assert not native.file(other).exists()


@pytest.mark.parametrize("fate", ["remove", "archive"])
def test_what_was_brought_back_since_the_plan_is_left_alone(opened: Any, fate: str) -> None:
    native: Native = opened(CRON % fate)
    files, rows = native.over(source="chat", size=10), native.over(size=10)
    native.pass_days(31)
    plan = native.sexton.plan()
    assert {each.result for each in native.sexton.apply(plan)} == {Result.DONE}
    native.pass_days(1)
    for receipt in {each.receipt for each in native.sexton.ledger.vault.page(WantedFiles(), 0, 9)}:
        native.sexton.undo(receipt)
    again = {each.action.seen.id: each for each in native.sexton.apply(plan)}
    assert {id: each.result for id, each in again.items()} == dict.fromkeys(
        (files, rows), Result.SKIPPED
    )
    golden("outcomes", "skipped: brought back", again[rows].detail)
    assert (native.file(files).exists(), native.state(rows)) == (True, State.ENDED)


def test_files_that_were_written_to_since_the_plan_stay(opened: Any) -> None:
    native: Native = opened()
    id = native.over(size=10)
    native.pass_days(8)
    plan = native.sexton.plan()
    (native.file(id).parent / "more.txt").write_text("and one more thing")
    [outcome] = native.sexton.apply(plan)
    assert outcome.result is Result.SKIPPED
    golden("outcomes", "skipped: files written to", outcome.detail)
    assert native.file(id).exists()


def test_a_link_among_its_files_keeps_all_of_a_sessions_files(opened: Any) -> None:
    native: Native = opened()
    id = native.over(size=10)
    (native.files.directory(id) / "link").symlink_to("/etc/passwd")
    native.pass_days(8)
    (outcome,) = native.sexton.apply(native.sexton.plan())
    assert outcome.result is Result.SKIPPED
    golden("outcomes", "skipped: a link among its files", outcome.detail)
    assert native.file(id).exists()


def test_files_that_came_after_all_else_was_purged_go_as_well(opened: Any) -> None:
    native: Native = opened()
    id = native.over(source="chat")
    native.pass_days(8)
    native.sexton.apply(native.sexton.plan(gc=True))
    late = native.file(id)
    late.write_text("written by somebody who did not know")
    os.utime(late, (START.timestamp(), START.timestamp()))
    assert removed(native.sexton.plan()) == []  # the session may still come back
    native.pass_days(8)
    assert native.done(native.sweep()) == [("remove_files", native.files.owner(id))]
    assert (native.state(id), late.exists()) == (State.PURGED, False)


def test_the_disk_budget_takes_the_oldest_files_first_and_no_more_than_needed(
    opened: Any,
) -> None:
    native: Native = opened("disk: {max_use: 8MB}\nretention: {max_age: 90d}")
    ids = []
    for _ in range(10):
        ids.append(native.over(size=1_000_000))
        native.pass_days(1)
    assert {code for *_, code in removed(native.sexton.plan())} == {"disk"}
    native.sweep()
    kept = [native.file(id).exists() for id in ids]
    assert kept == sorted(kept)  # the oldest went
    assert 4 <= kept.count(True) <= 8
    for _ in range(3):  # what lies in the trash is on its way out; only the ledger grew a little
        native.sweep()
    assert sum(native.file(id).exists() for id in ids) >= kept.count(True) - 1


def test_trash_of_another_directory_frees_nothing_for_the_budget(opened: Any) -> None:
    before: Native = opened(vault="before")
    before.file(before.over(size=1)).write_bytes(random.Random(1).randbytes(4_000_000))
    before.pass_days(7.1)
    before.sweep()
    native: Native = opened("disk: {max_use: 5MB}\nretention: {max_age: 90d}")
    native.clock.advance(before.clock.now() - START)
    id = native.over(size=6_000_000)
    assert removed(native.sexton.plan()) == [("remove_files", id, "disk")]


def test_it_is_told_what_stands_in_the_way_of_the_budget(
    opened: Any, caplog: pytest.LogCaptureFixture
) -> None:
    native: Native = opened("disk: {max_use: 1MB}")
    id = native.over(size=2_000_000)
    native.sexton.ledger.book.mark(native.sexton.find(id).ref, pinned=True)
    with caplog.at_level(logging.WARNING, "sexton.keeper"):
        assert native.done(native.sweep()) == []
    # It is told before it is too late, and also after.
    lines = sorted(re.sub(r"\d{3,}", "<number>", each) for each in caplog.messages)
    golden("keeper", "a pinned session is larger than the disk budget", "\n".join(lines))


def test_what_something_else_keeps_does_not_stand_in_for_what_could_go(
    opened: Any, caplog: pytest.LogCaptureFixture
) -> None:
    native: Native = opened("disk: {max_use: 40MB}\nretention: {max_age: 90d}")
    parent = native.over(size=20_000_000)
    native.pass_days(1)
    younger = native.over(size=20_000_000)
    with native.sexton.worker() as worker:
        worker.session("child", source="chat", parent=parent)
        with caplog.at_level(logging.WARNING, "sexton.keeper"):
            assert native.done(native.sweep()) == [("remove_files", younger)]
        assert native.file(parent).exists()
        assert not [each for each in caplog.messages if f"{20_000_000}" in each]
        native.sexton.ledger.book.mark(
            native.sexton.find(native.over(size=30_000_000)).ref, pinned=True
        )
        with caplog.at_level(logging.WARNING, "sexton.keeper"):
            native.sweep()
    [line] = [each for each in caplog.messages if f"{20_000_000}" in each]
    line = re.sub(r"by \d+ bytes", "by <number> bytes", line)
    golden("keeper", "an open child keeps files from the disk budget", line)


def test_the_budget_takes_a_conversation_to_be_as_old_as_its_newest_part(opened: Any) -> None:
    native: Native = opened("disk: {max_use: 55MB}\nretention: {max_age: 90d}")
    with native.sexton.worker() as worker:
        talk = worker.session("talk", source="chat")
        talk.append_many([{"role": "user", "content": "hello"}] * 9)
        old = talk.id
        (native.files.directory(old) / "report.txt").write_bytes(b"x" * 20_000_000)
        native.pass_days(1)
        talk.compress(lambda _: "in short", keep_tail=2)
        middle = native.over(size=20_000_000)
        native.pass_days(1)
        talk.append(role="user", content="still there?")
        talk.end()
    (native.files.directory(talk.id) / "report.txt").write_bytes(b"x" * 20_000_000)
    assert native.done(native.sweep()) == [("remove_files", middle)]
    assert native.file(old).exists()


def test_archives_are_named_where_they_stand_in_the_way_of_the_budget(opened: Any) -> None:
    native: Native = opened("disk: {max_use: 1MB}\n" + CRON % "archive")
    native.over(size=10)
    with native.sexton.worker() as worker:
        session = worker.session(None, source="cron")
        for _ in range(20):
            session.append(role="user", content=os.urandom(50_000).hex())
        session.end()
    native.over(source="chat")  # or nothing would be left, which is refused
    native.pass_days(31)
    native.sweep()
    told: list[str] = []
    estate = native.sexton.estate()
    with_retention(estate, native.sexton.plan(), tell=told.append)
    [words] = told
    words = re.sub(r"\d{3,}", "<number>", words)
    golden("keeper", "archives are larger than the disk budget", words)


def test_people_are_told_once_a_day_that_space_runs_out(opened: Any) -> None:
    hook = "notify: {webhook: 'http://127.0.0.1:9/', events: [disk]}\n"
    native: Native = opened(hook + "disk: {max_use: 1MB}")
    id = native.over(size=2_000_000)
    native.sexton.ledger.book.mark(native.sexton.find(id).ref, pinned=True)
    native.sweep()
    native.sweep()
    letters = native.sexton.ledger.outbox.page(None, None, 10)
    assert {each.notice.event for each in letters} == {Event.DISK}
    keys = ["disk/budget/2026-06-01", "disk/disk_use/2026-06-01"]
    assert sorted(each.notice.key for each in letters) == keys
    native.pass_days(1)
    native.sweep()
    assert len(native.sexton.ledger.outbox.page(None, None, 10)) == 4


def test_why_tells_what_retention_thinks(opened: Any) -> None:
    native: Native = opened()
    id = native.over()

    def answer() -> tuple[str, str]:
        (found,) = [each for each in native.sexton.why(id).answers if each.question == "retention"]
        return found.answer, found.detail

    young = answer()
    native.pass_days(8)
    old = answer()
    native.sexton.ledger.book.mark(native.sexton.find(id).ref, pinned=True)
    pinned = answer()
    assert young[0] == pinned[0] != old[0]
    details = [": ".join(each) for each in (young, old, pinned)]
    golden("why", "retention: young, old, pinned", "\n".join(details))


def test_the_journal_forgets_what_is_older_than_a_year(opened: Any) -> None:
    native: Native = opened()
    with native.sexton.worker() as worker:
        worker.session("talk", source="telegram").append(role="user", content="hi")
    assert native.sexton.ledger.journal.page(None, None, None, 10)  # the policies came in force
    native.pass_days(366)
    native.sweep()
    left = native.sexton.ledger.journal.page(None, None, None, 10)
    assert all(each.at > START + DAY for each in left)


@contextmanager
def scans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[type]]:
    """How often the files of our own home and of another agent's are looked through."""
    found: Counter[type] = Counter()

    def counting(real: Any) -> Any:
        def scan(files: Any) -> Any:
            found[type(files)] += 1
            return real(files)

        return scan

    with monkeypatch.context() as patch:
        for kind in (OwnFiles, FlatFiles):
            patch.setattr(kind, "scan", counting(kind.scan))
        yield found


def test_a_plan_looks_through_the_files_of_a_home_once(
    opened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    native: Native = opened("disk: {max_use: 3MB}\nretention: {max_age: 20d}")
    native.over(size=1_000_000)
    native.pass_days(30)
    pinned, *others = [native.over(size=1_000_000) for _ in range(4)]
    native.sexton.ledger.book.mark(native.sexton.find(pinned).ref, pinned=True)
    with native.sexton.worker() as worker:
        worker.session("child", source="chat", parent=others[0])  # so it is chosen anew
        with scans(monkeypatch) as plan:
            assert "disk" in {code for *_, code in removed(native.sexton.plan())}
        with scans(monkeypatch) as explained:
            native.sexton.why(others[1])
        with scans(monkeypatch) as changing:
            assert native.done(native.sweep())
        with scans(monkeypatch) as quiet:
            assert not native.done(native.sweep())
        with scans(monkeypatch) as examined:
            measure(native.sexton)
    assert (plan[OwnFiles], explained[OwnFiles]) == (1, 0)
    assert changing[OwnFiles] == 2  # what was removed is not there any more
    assert (quiet[OwnFiles], examined[OwnFiles]) == (1, 1)


HERMES = "homes: [{path: home, name: work%s}]\n"


class Foreign(Native):
    """A Hermes home with files, beside a ledger."""

    def __init__(self, scene: HermesScene, url: str, place: Path, text: str) -> None:
        super().__init__(url, place, text)
        self.scene = scene
        self.clock.set(datetime.now(UTC))

    def session(self, id: str, *, ended: bool = True, source: str = "cli") -> list[Path]:
        """A session with its snapshot and a request dump."""
        self.scene.start(id, source)
        self.scene.say(id, "hello")
        if ended:
            self.scene.end(id)
        place = self.scene.path / "sessions"
        place.mkdir(exist_ok=True)
        files = [
            place / f"session_{id}.json",
            place / f"request_dump_{id}_20260301_115900_000001.json",
        ]
        for file in files:
            file.write_text('{"some": "thing"}')
        return files

    def look(self) -> None:
        self.scene.settle()
        self.sweep()


@pytest.fixture
def foreign(scene: HermesScene, tmp_path: Path) -> Iterator[Any]:
    made: list[Foreign] = []

    def open_with(text: str = "", act: bool = False) -> Foreign:
        listed = HERMES % (", act: true" if act else "")
        made.append(Foreign(scene, f"sqlite:///{tmp_path / 'l.db'}", tmp_path, listed + text))
        return made[-1]

    yield open_with
    for each in made:
        each.sexton.close()


def test_in_an_observed_home_files_are_only_proposed_until_a_person_applies(foreign: Any) -> None:
    home: Foreign = foreign()
    old = home.session("20260301_115900_a1b2c3")
    running = home.session("20260301_115901_a1b2c4", ended=False)
    home.look()
    before = home.scene.sql("SELECT * FROM sessions")
    home.pass_days(8)
    home.sweep()
    assert all(file.exists() for file in (*old, *running))
    recorded = home.sexton.ledger.journal.page(None, None, None, 1000)
    told = [each for each in recorded if each.action == "remove_files"]
    assert [each.result for each in told] == ["recorded"]
    outcomes = home.sexton.apply(home.sexton.plan("work"), observed=True)
    assert home.done(outcomes) == [("remove_files", "20260301_115900_a1b2c3")]
    assert not any(file.exists() for file in old)
    assert all(file.exists() for file in running)
    assert home.scene.sql("SELECT * FROM sessions") == before
    (receipt,) = {
        each.receipt
        for each in home.sexton.ledger.journal.page(None, None, None, 1000)
        if each.action == "remove_files" and each.result == "done"
    }
    assert receipt is not None
    home.sexton.undo(receipt)
    assert [file.read_text() for file in old] == ['{"some": "thing"}'] * 2


def test_the_files_of_another_agent_are_looked_through_once_for_a_plan(
    foreign: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    home: Foreign = foreign("disk: {max_use: 1MB}")
    home.session("20260301_115900_a1b2c3")
    home.look()
    home.pass_days(8)
    with scans(monkeypatch) as plan:
        assert home.sexton.plan("work").actions
    with scans(monkeypatch) as sweep:
        home.sweep()
    assert plan[FlatFiles] == sweep[FlatFiles] == 1


def test_an_apply_looks_through_files_once_however_many_of_nobody_it_removes(
    foreign: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sexton.retention.file_retention.MOST_SESSIONS", 1)  # so they go one by one
    home: Foreign = foreign()
    [beside, _] = home.session("20260301_115900_a1b2c3", ended=False)
    nobodys = [beside.with_name(f"session_20260301_11590{n}_a1b2c3.json") for n in range(1, 6)]
    for file in nobodys:
        file.write_text("{}")
    home.look()
    home.pass_days(8)
    plan = home.sexton.plan("work")
    assert [each.seen.ref for each in plan.actions] == [0] * 5
    claimed = plan.actions[-1].seen.id
    with scans(monkeypatch) as apply:
        applying = home.sexton.applying(plan, observed=True)
        outcomes = [next(applying)]
        home.scene.start(claimed, "cli")  # its owner is known only now
        outcomes += applying
    assert apply[FlatFiles] == 1
    assert len(home.done(outcomes)) == 4
    assert [file for file in nobodys if file.exists()] == [
        beside.with_name(f"session_{claimed}.json")
    ]


def test_a_session_that_its_agent_went_on_with_since_the_plan_keeps_its_files(
    foreign: Any,
) -> None:
    home: Foreign = foreign()
    resumed = home.session("20260301_115900_a1b2c3")
    other = home.session("20260301_115901_a1b2c4")
    home.look()
    home.pass_days(8)
    plan = home.sexton.plan("work")
    assert len(plan.actions) == 2
    home.scene.sql("UPDATE sessions SET ended_at = NULL WHERE id LIKE '%a1b2c3'")
    home.scene.say("20260301_115900_a1b2c3", "one more thing")
    home.scene.settle()
    outcomes = home.sexton.apply(plan, observed=True)
    assert home.done(outcomes) == [("remove_files", "20260301_115901_a1b2c4")]
    assert all(file.exists() for file in resumed)
    assert not any(file.exists() for file in other)


def test_in_a_home_that_is_acted_on_a_keeper_removes_files(foreign: Any) -> None:
    home: Foreign = foreign(act=True)
    old = home.session("20260301_115900_a1b2c3")
    home.look()
    assert all(file.exists() for file in old)
    home.pass_days(8)
    assert home.done(home.sweep()) == [("remove_files", "20260301_115900_a1b2c3")]
    assert not any(file.exists() for file in old)


def test_files_go_with_the_end_where_the_database_has_it_all(foreign: Any) -> None:
    text = "retention: {classes: [{sources: [cron], database_only: true}]}"
    home: Foreign = foreign(text, act=True)
    cron = home.session("20260301_115900_a1b2c3", source="cron")
    chat = home.session("20260301_115901_a1b2c4")
    home.look()
    home.sweep()
    assert not any(file.exists() for file in cron)
    assert all(file.exists() for file in chat)


def test_files_of_no_session_go_after_a_week_and_strange_ones_never(foreign: Any) -> None:
    home: Foreign = foreign(act=True)
    kept = home.session("20260301_115900_a1b2c3")
    place = home.scene.path / "sessions"
    orphan = place / "request_dump_20200101_000000_abcdef_20200101_000000_000001.json"
    strange = [place / name for name in ("notes.txt", "sessions.json", "todo.jsonl")]
    for file in (orphan, *strange):
        file.write_text("{}")
        old = datetime.now(UTC).timestamp() - 30 * 86_400
        os.utime(file, (old, old))
    home.look()
    home.sweep()
    assert not orphan.exists()
    assert all(file.exists() for file in (*kept, *strange))


def test_records_of_another_agent_go_only_where_a_class_asks_for_it(foreign: Any) -> None:
    text = "retention: {classes: [{sources: [cron], rows: remove, rows_max_age: 1d}]}"
    home: Foreign = foreign(text, act=True)
    files = home.session("20260301_115900_a1b2c3")
    gone = home.session("cron_news_20260301_115900", source="cron")
    home.look()
    home.pass_days(8)
    plan = home.sexton.plan("work")
    assert {type(each) for each in plan.actions} == {RemoveFiles, TrashSession}
    before = home.scene.sql("SELECT * FROM sessions")
    receipt = "rows and files"
    home.sexton.apply(plan, receipt)
    assert home.scene.sql("SELECT id FROM sessions") == [["20260301_115900_a1b2c3"]]
    assert not any(file.exists() for file in (*files, *gone))
    home.sexton.undo(receipt)
    assert home.scene.sql("SELECT * FROM sessions") == before
    assert all(file.exists() for file in (*files, *gone))
