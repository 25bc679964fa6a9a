"""What is shown, one act after another? Each does one thing and returns its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sexton.cli import doctor_view
from sexton.cli.demo.stage import HOME, Stage
from sexton.cli.examination import HomeReport, examine
from sexton.cli.plan_view import summary, tallied
from sexton.cli.terminal import Column, say, table
from sexton.core.plan import Outcome, Plan, Result
from sexton.core.wording import counted, number, size
from sexton.errors import NothingToUndo
from sexton.keeper.apply import new_receipt
from sexton.retention.restore import Restored
from sexton.wiring import Sexton

_COMPARED = (Column(""), Column("BEFORE", right=True), Column("NOW", right=True))
_REASONS = (Column("ACTION"), Column("WHY"), Column("SESSIONS", right=True))


@dataclass(slots=True)
class Course:
    """What has been seen and done so far."""

    stage: Stage
    quiet: bool
    before: HomeReport | None = None
    plans: list[Plan] = field(default_factory=list)
    receipts: list[str] = field(default_factory=list)

    @property
    def opened(self) -> Sexton:
        return self.stage.opened

    def say(self, words: str) -> None:
        if not self.quiet:
            say(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A command as a person would type it, what it is for, and what happens."""

    name: str
    command: str
    words: str
    perform: Callable[[Course], dict[str, Any]]


def diagnose(course: Course) -> dict[str, Any]:
    """Look at the home and tell everything."""
    report = _examined(course)
    course.before = course.before or report
    if not course.quiet:
        doctor_view.show_home(report, course.opened.clock.now())
    return _figures(report)


def plan(course: Course) -> dict[str, Any]:
    """Ask what should be done: what policies want, then what is garbage."""
    course.plans = [course.opened.plan(HOME), course.opened.plan(HOME, gc=True)]
    if not course.quiet:
        table(_REASONS, _reasons(course.plans))
    for each in course.plans:
        course.say(summary(each))
    return {"actions": sum(len(each.actions) for each in course.plans)}


def apply(course: Course) -> dict[str, Any]:
    """Carry it out."""
    outcomes: list[Outcome] = []
    for each in course.plans:
        receipt = new_receipt()
        course.receipts.append(receipt)
        done = course.opened.apply(each, receipt, observed=True)
        course.say(f"receipt {receipt}: {tallied(done)}")
        outcomes += done
    results = Counter(each.result for each in outcomes)
    return {result.value: results[result] for result in Result}


def compare(course: Course) -> dict[str, Any]:
    """Look again, and tell what has changed."""
    assert course.before is not None
    report = _examined(course)
    before, now = _figures(course.before), _figures(report)
    if not course.quiet:
        told = ((name.replace("_", " "), _told(name, before), _told(name, now)) for name in before)
        table(_COMPARED, told)
    return now


def undo(course: Course) -> dict[str, Any]:
    """Bring back what was removed, all of it."""
    restored: list[Restored] = []
    for receipt in reversed(course.receipts):
        with suppress(NothingToUndo):
            restored += course.opened.undo(receipt)
    sessions = sum(each.sessions for each in restored)
    files = sum(each.files for each in restored)
    course.say(f"{counted(sessions, 'session')} and {counted(files, 'file')} brought back")
    return {"sessions": sessions, "files": files}


ACTS = (
    Act(
        name="doctor",
        command="sexton doctor ~/.hermes",
        words="How is this home doing?",
        perform=diagnose,
    ),
    Act(
        name="plan",
        command="sexton plan; sexton gc --dry-run",
        words="What should be done, and why? Nothing is changed by asking.",
        perform=plan,
    ),
    Act(
        name="apply",
        command="sexton apply; sexton gc",
        words="Do it. Whatever is removed goes to the trash first.",
        perform=apply,
    ),
    Act(
        name="after",
        command="sexton doctor ~/.hermes",
        words="What is it like now?",
        perform=compare,
    ),
    Act(
        name="undo",
        command="sexton undo RECEIPT",
        words="And have it all back.",
        perform=undo,
    ),
    Act(
        name="undone",
        command="sexton doctor ~/.hermes",
        words="Is everything as it was?",
        perform=compare,
    ),
)


def _examined(course: Course) -> HomeReport:
    return examine(course.opened, HOME, course.stage.setting, strict=True)


def _reasons(plans: Iterable[Plan]) -> list[tuple[str, str, str]]:
    found = Counter((action.kind, action.reason.code) for each in plans for action in each.actions)
    return [(kind, code, number(count)) for (kind, code), count in found.most_common()]


def _figures(report: HomeReport) -> dict[str, Any]:
    """What a repair changes, in numbers."""
    figures = report.figures
    assert figures is not None
    groups = (figures.snapshots, figures.request_dumps, figures.transcripts)
    return {
        "sessions": report.sessions,
        "open": report.open,
        "leaked": report.open_by["leaked"],
        "unproven": report.open_by["unproven"],
        "files": sum(each.files for each in groups),
        "file_bytes": sum(each.bytes for each in groups),
        "findings": len(report.findings),
    }


def _told(name: str, figures: dict[str, Any]) -> str:
    return size(figures[name]) if name.endswith("bytes") else number(figures[name])
