"""Does every default about what sessions leave behind act? One test per row of docs/defaults.md."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sexton.errors import SettingsInvalid
from sexton.model.record import replace
from sexton.model.remains import Remains
from sexton.model.session import Session, State
from sexton.policies.disk_budget import DiskUse, disk_warning, excess
from sexton.policies.retention import Fate, Retention, Verdict, judge
from sexton.settings.loader import load
from sexton.settings.values import Settings

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
TERABYTES = 10**13


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


def test_files_outlive_the_end_of_their_session(tmp_path: Path) -> None:
    assert verdict(kept(tmp_path), over()).files is Fate.KEEP


def test_files_go_after_a_week(tmp_path: Path) -> None:
    assert verdict(kept(tmp_path), over(7 * DAY - timedelta(seconds=1))).files is Fate.KEEP
    assert verdict(kept(tmp_path), over(7 * DAY)).files is Fate.REMOVE


def test_the_last_of_a_key_go_by_age_too(tmp_path: Path) -> None:
    assert verdict(kept(tmp_path), over(8 * DAY)).files is Fate.REMOVE
    few = kept(tmp_path, "retention: {keep_last: 1}")
    assert verdict(few, over(8 * DAY)).reason.code == "keep_last"


def test_only_pinned_sessions_keep_everything(tmp_path: Path) -> None:
    retention = kept(tmp_path)
    assert verdict(retention, over(8 * DAY, human_touched=True)).files is Fate.REMOVE
    assert verdict(retention, over(8 * DAY, errored=True)).files is Fate.REMOVE
    assert verdict(retention, over(8 * DAY, pinned=True)).reason.code == "pinned"


def test_files_of_other_agents_outlive_the_end_of_their_session(tmp_path: Path) -> None:
    assert not kept(tmp_path).general.database_only
    assert verdict(kept(tmp_path), over()).files is Fate.KEEP


def test_messages_are_never_removed_by_themselves(tmp_path: Path) -> None:
    assert verdict(kept(tmp_path), over(3650 * DAY)).rows is Fate.KEEP


def test_there_is_no_age_at_which_messages_go(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="rows: archive needs an age in rows_max_age"):
        kept(tmp_path, "retention: {rows: archive}")


def test_to_remove_every_message_in_the_end_is_refused(tmp_path: Path) -> None:
    text = "retention: {rows: remove, rows_max_age: 30d"
    with pytest.raises(SettingsInvalid, match="or set allow_remove_all: true"):
        kept(tmp_path, text + "}")
    assert kept(tmp_path, text + ", allow_remove_all: true}").general.rows is Fate.REMOVE


def test_without_classes_all_sources_are_kept_the_same(tmp_path: Path) -> None:
    retention = kept(tmp_path)
    assert retention.classes == ()
    assert retention.of("cron") is retention.of("telegram")


def test_a_class_without_sources_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match=r"retention.classes\[0\].sources: is required"):
        kept(tmp_path, "retention: {classes: [{max_age: 1d}]}")


def test_what_was_delivered_stays(tmp_path: Path) -> None:
    retention = kept(tmp_path, "retention: {classes: [{sources: [cron], max_age: 1d}]}")
    assert verdict(retention, over(source="cron")).rows is Fate.KEEP


def test_a_class_inherits_what_it_does_not_set(tmp_path: Path) -> None:
    text = (
        "retention: {max_age: 3d, protect: [errored], classes: [{sources: [cron], keep_last: 1}]}"
    )
    policy = kept(tmp_path, text).of("cron")
    assert (policy.max_age, policy.keep_last) == (3 * DAY, 1)
    assert policy.protect == ("errored",)


def test_there_is_no_bound_for_what_is_kept(tmp_path: Path) -> None:
    assert excess(settings_of(tmp_path).disk, DiskUse(used=TERABYTES, free=1)) == 0


def test_nothing_goes_because_others_fill_the_disk(tmp_path: Path) -> None:
    assert excess(settings_of(tmp_path).disk, DiskUse(used=1, free=0)) == 0


def test_a_budget_is_told_of_at_four_fifths(tmp_path: Path) -> None:
    budget = settings_of(tmp_path, "disk: {max_use: 10MB}").disk
    assert disk_warning(budget, DiskUse(used=7_999_999, free=1)) is None
    assert disk_warning(budget, DiskUse(used=8_000_000, free=1)) is not None


def test_archives_are_written_with_zstd(tmp_path: Path) -> None:
    assert settings_of(tmp_path).archive.format == "zstd"


def test_the_vault_lies_beside_the_ledger(tmp_path: Path) -> None:
    assert settings_of(tmp_path).archive.directory is None
    elsewhere = settings_of(tmp_path, "archive: {directory: old}").archive
    assert elsewhere.directory == tmp_path / "old"


def test_what_was_removed_can_be_had_back_for_a_week(tmp_path: Path) -> None:
    assert settings_of(tmp_path).trash.grace == 7 * DAY


def test_a_session_without_a_message_is_garbage_after_a_day(tmp_path: Path) -> None:
    assert settings_of(tmp_path).gc.empty_hours == 24


def test_a_trivial_session_is_garbage_after_a_week(tmp_path: Path) -> None:
    assert settings_of(tmp_path).gc.trivial_days == 7


def test_five_messages_are_few(tmp_path: Path) -> None:
    assert settings_of(tmp_path).gc.trivial_max == 5
