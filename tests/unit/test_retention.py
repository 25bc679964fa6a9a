"""How long is what a session left behind kept?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from sexton.core.record import replace
from sexton.core.session import Session, State
from sexton.retention.model import Remains
from sexton.retention.policy import (
    Fate,
    Protection,
    Retention,
    RetentionClass,
    judge,
)

NOW = datetime(2026, 12, 1, tzinfo=UTC)
WEEK = timedelta(days=7)
LONG_AGO = NOW - timedelta(days=400)


def over(last_used: datetime = LONG_AGO, /, **facts: object) -> Session:
    session = Session(
        ref=1,
        home="native",
        id="a",
        key="k",
        source="telegram",
        state=State.ENDED,
        started_at=last_used,
        active_at=last_used,
        ended_at=last_used,
        end_reason="idle",
    )
    return replace(session, **facts)


def verdict(session: Session, policy: RetentionClass, **more: object) -> tuple[Fate, Fate, str]:
    found = judge(Remains(session=session, **more), policy, NOW)  # type: ignore[arg-type]
    return found.files, found.rows, found.reason.code


def test_by_default_only_files_go_and_only_after_a_week() -> None:
    usual = RetentionClass()
    assert verdict(over(NOW - WEEK), usual) == (Fate.REMOVE, Fate.KEEP, "files_max_age")
    young = over(NOW - WEEK + timedelta(seconds=1))
    assert verdict(young, usual) == (Fate.KEEP, Fate.KEEP, "young")


@pytest.mark.parametrize(
    ("facts", "owes", "code"),
    [
        ({"state": State.OPEN, "ended_at": None}, False, "open"),
        ({}, True, "owing"),
        ({"pinned": True}, False, "pinned"),
    ],
)
def test_open_owing_and_pinned_sessions_are_never_touched(
    facts: dict[str, object], owes: bool, code: str
) -> None:
    greedy = RetentionClass(
        on_reset=Fate.REMOVE,
        protect=(),
        after_delivery=Fate.REMOVE,
        rows=Fate.REMOVE,
        rows_max_age=WEEK,
    )
    assert verdict(over(LONG_AGO, **facts), greedy, owes=owes) == (Fate.KEEP, Fate.KEEP, code)


@pytest.mark.parametrize("fact", ["human_touched", "errored"])
def test_what_a_class_protects_is_spared(fact: str) -> None:
    session = over(LONG_AGO, **{fact: True})
    rows = RetentionClass(rows=Fate.REMOVE, rows_max_age=WEEK)
    assert verdict(session, rows)[1] is Fate.REMOVE
    spared = replace(rows, protect=(Protection(fact),))
    assert verdict(session, spared) == (Fate.KEEP, Fate.KEEP, fact)


def test_the_last_of_a_job_are_kept() -> None:
    policy = RetentionClass(rows=Fate.REMOVE, rows_max_age=WEEK, keep_last=2)
    session = over(job="backup")
    assert [verdict(session, policy, rank=rank)[2] for rank in (1, 2, 3)] == [
        "keep_last",
        "keep_last",
        "max_age",
    ]
    assert verdict(session, policy)[1] is Fate.REMOVE  # neither key nor job: nothing to count


def test_files_go_at_the_reset_where_a_class_says_so() -> None:
    just_now = over(NOW)
    for fate in (Fate.ARCHIVE, Fate.REMOVE):
        policy = RetentionClass(on_reset=fate)
        assert verdict(just_now, policy) == (fate, Fate.KEEP, "on_reset")
    only = RetentionClass(database_only=True)
    assert verdict(just_now, only) == (Fate.REMOVE, Fate.KEEP, "database_only")


def test_records_go_by_age_only_where_a_class_says_so() -> None:
    policy = RetentionClass(rows=Fate.ARCHIVE, rows_max_age=2 * WEEK)
    assert verdict(over(NOW - 2 * WEEK), policy) == (Fate.ARCHIVE, Fate.ARCHIVE, "max_age")
    assert verdict(over(NOW - WEEK), policy) == (Fate.REMOVE, Fate.KEEP, "files_max_age")
    without_age = RetentionClass(rows=Fate.ARCHIVE)
    assert verdict(over(), without_age)[1] is Fate.KEEP


@pytest.mark.parametrize(
    ("facts", "goes"),
    [
        ({"end_reason": "done"}, True),
        ({"end_reason": "done", "errored": True}, False),
        ({"end_reason": "reaped:process_gone"}, False),
        ({"end_reason": "budget:tokens"}, False),
    ],
)
def test_only_what_came_to_its_end_by_itself_was_delivered(
    facts: dict[str, object], goes: bool
) -> None:
    policy = RetentionClass(after_delivery=Fate.REMOVE)
    found = verdict(over(NOW, **facts), policy)
    assert found == (
        (Fate.REMOVE, Fate.REMOVE, "delivered") if goes else (Fate.KEEP, Fate.KEEP, "young")
    )


def test_the_last_class_that_names_a_source_is_its_class() -> None:
    first, second = RetentionClass(sources=("cron", "cli")), RetentionClass(sources=("cron",))
    retention = Retention(classes=(first, second))
    assert retention.of("cron") is second
    assert retention.of("cli") is first
    assert retention.of("telegram") is retention.general


def test_without_an_age_nothing_goes_by_age() -> None:
    assert verdict(over(), RetentionClass(max_age=None)) == (Fate.KEEP, Fate.KEEP, "kept")
