"""Do the benchmarks still run, and do they judge rightly?"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from bench.__main__ import WORKLOADS, measure
from bench.data import MESSAGE_BYTES, texts
from bench.figures import OURS, Row, Series, Unit, Verdict, against, at_most, growth
from bench.install import install_hermes
from bench.report import Report, as_json, as_page, as_table
from bench.sizes import TINY


def rates(**rounds: list[float]) -> Series:
    return Series("append", "messages", Unit.RATE, rounds)


def times(what: str, *rounds: float) -> Series:
    return Series("list", what, Unit.MILLISECONDS, {OURS: rounds})


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    install_hermes()
    return measure(list(WORKLOADS), TINY, ["hermes"], tmp_path_factory.mktemp("bench"))


def test_every_workload_still_runs_against_the_real_hermes(report: Report) -> None:
    assert {row.workload for row in report.rows} == set(WORKLOADS)
    assert all(math.isfinite(row.ours) for row in report.rows)
    assert all(row.ours > 0 for row in report.rows if row.unit is not Unit.COUNT)
    assert {row.workload for row in report.rows if row.other == "hermes"} == {
        *("append_one", "append_many_sessions", "list", "find_due", "cold_start", "flush"),
        *("collect", "hermes_remove"),
    }


def test_a_report_is_a_table_a_page_and_json(report: Report) -> None:
    assert as_table(report).count("\n") == len(report.rows) + 2
    assert as_page(report).count("\n| append_one |") == sum(
        row.workload == "append_one" for row in report.rows
    )
    whole = json.loads(as_json(report))
    assert len(whole["rows"]) == len(report.rows)
    assert whole["fsync_ms"][0] > 0


def test_a_run_leaves_nothing_behind(
    report: Report, tmp_path_factory: pytest.TempPathFactory
) -> None:
    del report
    assert not list(Path(tmp_path_factory.getbasetemp()).glob("bench*/*"))


def test_messages_have_exactly_one_kilobyte() -> None:
    assert {len(text.encode()) for text in texts(20)} == {MESSAGE_BYTES}


def test_a_ratio_is_the_median_over_the_rounds_not_the_ratio_of_medians() -> None:
    row = against(rates(sexton=[100, 40, 90], hermes=[10, 4, 30]), "hermes", 10)
    assert (row.ratio, row.spread, row.verdict) == (10, (3, 10), Verdict.REACHED)


def test_of_a_time_less_is_better() -> None:
    series = Series("list", "a page", Unit.MILLISECONDS, {OURS: [1.0], "hermes": [900.0]})
    assert against(series, "hermes", 1000).verdict is Verdict.MISSED
    assert against(series, "hermes", 900).verdict is Verdict.REACHED


def test_what_no_program_could_reach_on_this_disk_is_not_called_missed() -> None:
    series = rates(sexton=[300], hermes=[200], bare=[350])
    assert against(series, "hermes", 4).verdict is Verdict.MISSED
    assert against(series, "hermes", 4, "bare").verdict is Verdict.DISK
    assert against(series, "hermes", 1.6, "bare").verdict is Verdict.MISSED


def test_growth_and_bounds_are_judged_from_above() -> None:
    small, big = times("small", 1, 1, 1), times("big", 2, 9, 3)
    assert growth(small, big, 3).verdict is Verdict.REACHED
    assert growth(small, big, 2.9).verdict is Verdict.MISSED
    assert at_most(times("small", 5), 4).verdict is Verdict.MISSED


def test_only_a_missed_target_counts_against_a_run() -> None:
    rows = [
        Row(workload="x", what="y", unit=Unit.BYTES, ours=1, verdict=verdict) for verdict in Verdict
    ]
    report = Report(mode="full", fsync_ms=[1.0], load=0.5, rows=rows)
    assert [row.verdict for row in report.missed] == [Verdict.MISSED]
