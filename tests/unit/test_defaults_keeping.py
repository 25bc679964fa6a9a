"""Does every default about what sessions leave behind act? One test per setting."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sexton.core.record import replace
from sexton.core.session import Session, State
from sexton.errors import SettingsInvalid
from sexton.retention.disk_budget import DiskUse, disk_warning, excess
from sexton.retention.model import Remains
from sexton.retention.policy import Fate, Retention, Verdict, judge
from sexton.settings.loader import load
from sexton.settings.settings_values import Settings
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.unit.conftest import FAR, MOST, Opener
from tests.unit.showing_defaults import shows

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
VAULT = "ledger.db.vault"


def settings_of(tmp_path: Path, text: str = "") -> Settings:
    file = tmp_path / "sexton.yaml"
    file.write_text(text)
    return load(file, {})


def kept(tmp_path: Path, text: str = "") -> Retention:
    return settings_of(tmp_path, text).rulebook.retention


def over(age: timedelta = timedelta(), source: str = "telegram", **facts: bool) -> Remains:
    """What a session that ended by itself a while ago left behind."""
    then = NOW - age
    session = Session(
        ref=1, home="native", id="s", key="k", source=source, state=State.ENDED,
        started_at=then, active_at=then, ended_at=then, end_reason="done",
    )  # fmt: skip
    return Remains(session=replace(session, **facts), rank=1)


def verdict(retention: Retention, remains: Remains) -> Verdict:
    return judge(remains, retention.of(remains.session.source), NOW)


@shows("retention.on_reset")
def test_files_outlive_the_end_of_their_session(tmp_path: Path) -> None:
    assert verdict(kept(tmp_path), over()).files is Fate.KEEP


@shows("retention.max_age")
def test_files_go_after_a_week(tmp_path: Path) -> None:
    assert verdict(kept(tmp_path), over(7 * DAY - timedelta(seconds=1))).files is Fate.KEEP
    assert verdict(kept(tmp_path), over(7 * DAY)).files is Fate.REMOVE


@shows("retention.keep_last")
def test_the_last_of_a_key_go_by_age_too(tmp_path: Path) -> None:
    assert verdict(kept(tmp_path), over(8 * DAY)).files is Fate.REMOVE
    few = kept(tmp_path, "retention: {keep_last: 1}")
    assert verdict(few, over(8 * DAY)).reason.code == "keep_last"


@shows("retention.protect")
def test_only_pinned_sessions_keep_everything(tmp_path: Path) -> None:
    retention = kept(tmp_path)
    assert verdict(retention, over(8 * DAY, human_touched=True)).files is Fate.REMOVE
    assert verdict(retention, over(8 * DAY, errored=True)).files is Fate.REMOVE
    assert verdict(retention, over(8 * DAY, pinned=True)).reason.code == "pinned"


@shows("retention.database_only")
def test_files_of_other_agents_outlive_the_end_of_their_session(tmp_path: Path) -> None:
    assert verdict(kept(tmp_path), over()).files is Fate.KEEP
    asked_for = kept(tmp_path, "retention: {database_only: true}")
    assert verdict(asked_for, over()).files is Fate.REMOVE


@shows("retention.rows")
def test_messages_are_never_removed_by_themselves(tmp_path: Path) -> None:
    assert verdict(kept(tmp_path), over(3650 * DAY)).rows is Fate.KEEP


@shows("retention.rows_max_age")
def test_there_is_no_age_at_which_messages_go(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid) as refused:
        kept(tmp_path, "retention: {rows: archive}")
    assert "retention.rows: " in str(refused.value)


@shows("retention.allow_remove_all")
def test_to_remove_every_message_in_the_end_is_refused(tmp_path: Path) -> None:
    text = "retention: {rows: remove, rows_max_age: 30d"
    with pytest.raises(SettingsInvalid) as refused:
        kept(tmp_path, text + "}")
    assert "allow_remove_all" in str(refused.value)
    assert kept(tmp_path, text + ", allow_remove_all: true}").general.rows is Fate.REMOVE


@shows("retention.classes")
def test_without_classes_all_sources_are_kept_the_same(tmp_path: Path) -> None:
    retention = kept(tmp_path)
    assert retention.classes == ()
    assert retention.of("cron") is retention.of("telegram")


@shows("retention.classes[].sources")
def test_a_class_without_sources_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match=r"retention\.classes\[0\]\.sources"):
        kept(tmp_path, "retention: {classes: [{max_age: 1d}]}")


@shows("retention.classes[].after_delivery")
def test_what_was_delivered_stays(tmp_path: Path) -> None:
    retention = kept(tmp_path, "retention: {classes: [{sources: [cron], max_age: 1d}]}")
    assert verdict(retention, over(source="cron")).rows is Fate.KEEP


@shows("retention.classes[].*")
def test_a_class_inherits_what_it_does_not_set(tmp_path: Path) -> None:
    text = (
        "retention: {max_age: 3d, protect: [errored], classes: [{sources: [cron], keep_last: 1}]}"
    )
    policy = kept(tmp_path, text).of("cron")
    assert (policy.max_age, policy.keep_last) == (3 * DAY, 1)
    assert policy.protect == ("errored",)


@shows("disk.max_use")
def test_there_is_no_bound_for_what_is_kept(tmp_path: Path) -> None:
    assert excess(settings_of(tmp_path).disk, DiskUse(used=MOST, free=MOST)) == 0


@shows("disk.keep_free")
def test_nothing_goes_because_others_fill_the_disk(tmp_path: Path) -> None:
    assert excess(settings_of(tmp_path).disk, DiskUse(used=1, free=0)) == 0


@shows("disk.warn_at")
def test_a_budget_is_told_of_at_four_fifths(tmp_path: Path) -> None:
    budget = settings_of(tmp_path, "disk: {max_use: 10MB}").disk
    assert disk_warning(budget, DiskUse(used=7_999_999, free=1)) is None
    assert disk_warning(budget, DiskUse(used=8_000_000, free=1)) is not None


def ended(sexton: Sexton, messages: int) -> str:
    """The id of a session in which so much was said."""
    with sexton.worker() as worker:
        session = worker.session(source="telegram")
        session.append_many([{"role": "user", "content": "hello"}] * messages)
        session.end("done")
        return session.id


def archive(opened: Opener, clock: ManualClock, text: str = "") -> str:
    """Let a keeper archive a session; its id."""
    sexton = opened(
        f"retention: {{rows: archive, rows_max_age: 30d, allow_remove_all: true}}\n{text}"
    )
    id = ended(sexton, 1)
    clock.advance(30 * DAY)
    sexton.sweep()
    assert sexton.find(id).state is State.ARCHIVED
    return id


def files_in(place: Path) -> list[Path]:
    return [each for each in place.rglob("*") if each.is_file()]


@shows("archive.format")
def test_archives_are_written_with_zstd(opened: Opener, clock: ManualClock, tmp_path: Path) -> None:
    archive(opened, clock)
    begun = [each.read_bytes()[:4] for each in files_in(tmp_path / VAULT)]
    assert b"\x28\xb5\x2f\xfd" in begun


@shows("archive.directory")
def test_the_vault_lies_beside_the_ledger(
    opened: Opener, clock: ManualClock, tmp_path: Path
) -> None:
    archive(opened, clock, "archive: {directory: old}")
    assert files_in(tmp_path / "old")
    assert not files_in(tmp_path / VAULT)
    archive(opened, clock)
    assert files_in(tmp_path / VAULT)


@shows("archive.max_age")
def test_archives_are_kept_for_ever(opened: Opener, clock: ManualClock) -> None:
    id = archive(opened, clock)
    clock.set(FAR)
    for text, state in (("", State.ARCHIVED), ("archive: {max_age: 10d}", State.TRASHED)):
        sexton = opened(text)
        sexton.sweep()
        sexton.sweep()
        assert sexton.find(id).state is state


@shows("trash.grace")
def test_what_was_removed_can_be_had_back_for_a_week(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("")
    id = ended(sexton, 1)
    clock.advance(7 * DAY)
    sexton.apply(sexton.plan(gc=True))
    states = []
    for step in (7 * DAY - SECOND, SECOND):
        clock.advance(step)
        sexton.sweep()
        states.append(sexton.find(id).state)
    assert states == [State.TRASHED, State.PURGED]


def garbage_after(sexton: Sexton, clock: ManualClock, *steps: timedelta) -> list[int]:
    """How many sessions are garbage after each step of time."""
    found = []
    for step in steps:
        clock.advance(step)
        found.append(len(sexton.plan(gc=True).actions))
    return found


@shows("gc.empty_hours")
def test_a_session_without_a_message_is_garbage_after_a_day(
    opened: Opener, clock: ManualClock
) -> None:
    sexton = opened("")
    ended(sexton, 0)
    assert garbage_after(sexton, clock, DAY - SECOND, SECOND) == [0, 1]


@shows("gc.trivial_days")
def test_a_trivial_session_is_garbage_after_a_week(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("")
    ended(sexton, 1)
    assert garbage_after(sexton, clock, 7 * DAY - SECOND, SECOND) == [0, 1]


@shows("gc.trivial_max")
def test_five_messages_are_few(opened: Opener, clock: ManualClock) -> None:
    sexton = opened("")
    ended(sexton, 6)
    assert garbage_after(sexton, clock, 7 * DAY) == [0]
    ended(sexton, 5)
    assert garbage_after(sexton, clock, 7 * DAY) == [1]
