"""How is it told what is wrong with a home, what it costs and what mends it?"""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

from sexton.cli.terminal import heading, is_plain, say, write
from sexton.core.message import one_line
from sexton.core.wording import counted, size

if TYPE_CHECKING:
    from sexton.cli.examination import HomeReport
    from sexton.homes.hermes.findings.finding import Finding

_COLORS = {"grave": "31", "costly": "33", "hint": "36"}
_INDENT = "        "


def show(report: HomeReport) -> None:
    """Every finding for a person: what, what it costs, what mends it."""
    if report.figures is None:
        return
    say()
    heading(_summary(report.findings))
    for finding in report.findings:
        _show(finding)


def shape(report: HomeReport) -> dict[str, Any]:
    """The findings for a program; null where nothing was looked at."""
    if report.figures is None:
        return {"findings": None, "reclaimable_bytes": None}
    from sexton.operations.questions.finding_questions import finding_record

    return {
        "findings": [finding_record(each) for each in report.findings],
        "reclaimable_bytes": _reclaimable(report.findings),
    }


def _summary(findings: tuple[Finding, ...]) -> str:
    if not findings:
        return "nothing is wrong with it"
    levels = Counter(each.level.value for each in findings)
    parts = ", ".join(f"{count} {level}" for level, count in levels.items())
    gain = _reclaimable(findings)
    give = f"; a repair gives back {size(gain)}" if gain else ""
    return f"{counted(len(findings), 'finding')} ({parts}){give}"


def _show(finding: Finding) -> None:
    say()
    level = finding.level.value
    mark = level if is_plain() else f"\x1b[{_COLORS[level]}m{level}\x1b[0m"
    first, *rest = _wrapped(finding.words)
    write(f"{mark}{' ' * (len(_INDENT) - len(level))}{first}\n")
    for line in rest:
        write(f"{_INDENT}{line}\n")
    if finding.where is not None:
        write(f"{_INDENT}{one_line(finding.where)}\n")
    for words in (f"cost: {finding.cost}", *finding.details):
        for line in _wrapped(words):
            write(f"{_INDENT}{line}\n")
    # A command is never broken: it is there to be copied.
    write(f"{_INDENT}mend: {one_line(finding.repair)}\n")


def _wrapped(text: str) -> list[str]:
    """Lines that fit on a terminal; one whole line in a pipe."""
    if not sys.stdout.isatty():
        return [one_line(text)]
    room = max(shutil.get_terminal_size().columns - len(_INDENT), 30)
    return textwrap.wrap(one_line(text), room, break_on_hyphens=False) or [""]


def _reclaimable(findings: tuple[Finding, ...]) -> int:
    return sum(each.bytes for each in findings)
