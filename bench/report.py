"""How are the figures shown to people, to programs and on the page?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.figures import OURS, Row, Verdict

HEADINGS = ("workload", "measured", "unit", OURS, "held against", "", "ratio", "rounds", "target")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything one run found."""

    mode: str
    fsync_ms: Sequence[float]
    load: float
    rows: Sequence[Row]

    @property
    def missed(self) -> list[Row]:
        return [row for row in self.rows if row.verdict is Verdict.MISSED]


def as_json(report: Report) -> str:
    """The report for a program."""
    whole: dict[str, Any] = {"missed": len(report.missed), **asdict(report)}
    return json.dumps(whole, indent=2) + "\n"


def as_table(report: Report) -> str:
    """The report for a terminal."""
    lines = [(*HEADINGS, ""), *((*_cells(row), str(row.verdict)) for row in report.rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    numeric = {3, 5, 6}
    shown = [
        "  ".join(
            cell.rjust(width) if column in numeric else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([*shown, "", conditions(report)])


def as_page(report: Report) -> str:
    """The report as a page of the documentation."""
    head = "| workload | measured | Sexton | held against | ratio | rounds | target | |"
    lines = [
        "# Numbers",
        "",
        "Written by `python -m bench --page docs/numbers.md`; `bench/README.md` says what each",
        "line means. Only ratios within one run are comparable: the absolute figures are those",
        "of one machine on one day. A ratio is the median over interleaved rounds; beside it stand",
        "the lowest and the highest.",
        "",
        conditions(report),
        "",
        head,
        "|---|---|--:|--:|--:|---|---|---|",
    ]
    for row in report.rows:
        workload, what, unit, ours, other, theirs, *rest = _cells(row)
        against = " ".join(part for part in (other, theirs) if part)
        cells = (workload, what, f"{ours} {unit}", against, *rest, str(row.verdict))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def conditions(report: Report) -> str:
    """Under what conditions the figures were taken."""
    slowest, fastest = max(report.fsync_ms), min(report.fsync_ms)
    return (
        f"A {report.mode} run. An fsync of 4 KB took {fastest:.2f} to {slowest:.2f} ms; "
        f"the load was {report.load:.1f} per processor, the run's own included."
    )


def _cells(row: Row) -> tuple[str, ...]:
    spread = f"{_short(row.spread[0])}-{_short(row.spread[1])}" if row.spread else ""
    return (
        row.workload,
        row.what,
        str(row.unit),
        _short(row.ours),
        row.other,
        _short(row.theirs) if row.theirs is not None else "",
        f"{_short(row.ratio)}x" if row.ratio is not None else "",
        spread,
        row.target,
    )


def _short(value: float) -> str:
    """A figure with about three digits that mean something."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
