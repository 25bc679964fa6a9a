"""Are settings about what sessions leave behind read, refused and judged as they are meant?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sexton.core.session import Session, State
from sexton.retention.model import Remains
from sexton.retention.policy import Fate, Retention, RetentionClass
from sexton.settings.effect import retention_effect
from sexton.settings.lint import inert
from sexton.settings.loader import load, problems
from tests.golden import golden

NOW = datetime(2026, 6, 1, tzinfo=UTC)
CLASS = "retention: {classes: [{sources: [cron], "


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "sexton.yaml"
    file.write_text(text)
    return file


MISTAKES = (
    "retention: {max_age: 0d}",
    "retention: {max_age: -7d}",
    "retention: {keep_last: 0}",
    "retention: {keep_last: -1}",
    "retention: {on_reset: delete}",
    "retention: {on_reset: null}",
    "retention: {on_reset: arcive}",
    "retention: {on_reset: 3}",
    "retention: {protect: [human-touched]}",
    "retention: {protect: pinned}",
    "retention: {protect: [pined]}",
    "retention: {rows: archive}",
    "retention: {rows: archive, rows_max_age: null}",
    "retention: {rows_max_age: 0s}",
    "retention: {after_delivery: remove}",
    CLASS + "rows: remove}]}",
    CLASS + "keep_lst: 3}]}",
    "retention: {classes: [{sources: []}]}",
    "retention: {classes: [{sources: ['*']}]}",
    "retention: {classes: [{sources: [telegram], after_delivery: remove}]}",
    "disk: {max_use: 999KB}",
    "disk: {max_use: 0}",
    "disk: {keep_free: 10%}",
    "disk: {keep_free: 1}",
    "disk: {warn_at: 80}",
    "archive: {format: zst}",
    "archive: {format: tar.gz}",
    "archive: {directory: 5}",
    "trash: {grace: 0s}",
    "trash: {grace: 7}",
    "gc: {empty_hours: 0}",
    "gc: {trivial_max: none}",
    "keeper: {keep_journal: 0d}",
)


def test_what_can_only_be_a_mistake_is_refused(tmp_path: Path) -> None:
    told = []
    for text in MISTAKES:
        (problem,) = problems(written(tmp_path, text), {})
        told.append(f"{problem.where}: {problem.message}")
    golden("settings", "retention: mistakes", "\n".join(told))


def test_what_the_file_and_a_variable_say_together_is_told_of_the_variable(tmp_path: Path) -> None:
    file = written(tmp_path, "retention: {rows_max_age: 30d}")
    assert load(file, {"SEXTON_RETENTION__ROWS": "archive"}).rulebook.retention.general.rows
    (problem,) = problems(None, {"SEXTON_RETENTION__ROWS": "archive"})
    assert problem.where == "SEXTON_RETENTION__ROWS"
    (in_file,) = problems(None, {"SEXTON_RETENTION__CLASSES": "[]"})
    golden("settings", "a list in the environment", str(in_file))


def test_work_of_sources_that_end_with_their_process_can_be_delivered(tmp_path: Path) -> None:
    text = "liveness: {dies_with_owner: [robot]}\n"
    text += "retention: {classes: [{sources: [robot], after_delivery: remove}]}"
    assert load(written(tmp_path, text), {}).rulebook.retention.of("robot").touches_rows


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "retention: {classes: [{sources: [a], max_age: 1d}, {sources: [a, b], max_age: 2d}]}",
            "retention.classes[0]",
        ),
        (
            "retention: {classes: [{sources: [a], max_age: 7d}]}",
            "retention.classes[0]",
        ),
        (
            "retention: {rows_max_age: 30d}",
            "retention.rows_max_age",
        ),
        (
            "retention: {classes: [{sources: [a], on_reset: remove, max_age: 1d}]}",
            ("retention.classes[0].max_age"),
        ),
        ("disk: {warn_at: 0.5}", "disk.warn_at"),
    ],
)
def test_what_does_nothing_is_found(tmp_path: Path, text: str, found: str) -> None:
    (finding,) = inert(load(written(tmp_path, text), {}))
    assert finding.where == found
    golden("settings", f"does nothing: {text}", finding.message)


@pytest.mark.parametrize(
    "text",
    [
        "retention: {rows_max_age: 30d, classes: [{sources: [a], rows: archive}]}",
        "retention: {max_age: 3d, classes: [{sources: [a], on_reset: remove}]}",
        "retention: {classes: [{sources: [a, b], max_age: 1d}, {sources: [b], max_age: 7d}]}",
    ],
)
def test_what_somebody_makes_use_of_is_not_called_useless(tmp_path: Path, text: str) -> None:
    assert inert(load(written(tmp_path, text), {})) == []


def test_every_class_tells_what_it_selects_and_protects() -> None:
    retention = Retention(
        classes=(
            RetentionClass(
                sources=("cron",), rows=Fate.ARCHIVE, rows_max_age=timedelta(days=30), keep_last=1
            ),
        )
    )
    crons = (over("cron", 40, rank=2), over("cron", 40, rank=1), over("cron", 8, rank=3))
    chats = (over("telegram", 8), over("telegram", 1))
    effects = retention_effect(retention, (*crons, *chats), NOW)
    assert [(e.where, e.governs, e.over, e.protects) for e in effects] == [
        ("retention", 2, {"remove files": 1}, 1),
        ("retention.classes[0]", 3, {"archive": 1, "remove files": 1}, 1),
    ]
    golden("config", "what retention selects", "\n".join(e.matches for e in effects))


def over(source: str, days: int, rank: int | None = None) -> Remains:
    then = NOW - timedelta(days=days)
    session = Session(
        ref=1, home="native", id="s", key="k", source=source, state=State.ENDED,
        started_at=then, active_at=then, ended_at=then, end_reason="done",
    )  # fmt: skip
    return Remains(session=session, rank=rank)
