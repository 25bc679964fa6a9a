"""Which processes run in the background, and what does each hold back?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from starlette.responses import Response

from sexton.core.record import record
from sexton.core.wording import moment_of, size, span
from sexton.operations.questions.process_questions import processes
from sexton.operations.said import Process
from sexton.web.desk import Desk
from sexton.web.pages.showing import show
from sexton.web.pages.verb_pages import act_href


@record
class Act:
    """Something that can be asked for; what it would do is shown first."""

    href: str
    words: str
    main: bool = False


def processes_page(desk: Desk) -> Response:
    """Every registered process, and what other homes say of theirs."""
    found = processes(desk.asker)["items"]
    return show(desk, "processes.html", page="processes", processes=rows_of(desk, found))


def rows_of(desk: Desk, found: Sequence[Process]) -> list[Mapping[str, Any]]:
    """Processes as rows of a page."""
    now = desk.house.clock.now()
    return [_row(each, now) for each in found]


def _row(each: Process, now: datetime) -> Mapping[str, Any]:
    ended = moment_of(each["ended_at"]) if each["ended_at"] else now
    return {
        **each,
        "name": f"pid {each['pid']}" if each["pid"] else "one about to be started",
        "because": each["ended_how"] or each["because"],
        "age": span(ended - moment_of(each["started_at"])),
        "memory": size(each["memory_bytes"]) if each["memory_bytes"] else "",
        "holds_until": each["holds_until"] if each["holds_reset"] else None,
        "acts": list(_acts(each)),
    }


def _acts(each: Process) -> Sequence[Act]:
    if each["hint"] or each["ended_at"] is not None:
        return ()  # what another home says of its processes is told, never acted on
    keep = "release" if each["kept"] else "keep"
    return (
        Act(href=act_href(f"{keep}_process", process=each["ref"]), words=f"{keep.capitalize()}…"),
        Act(href=act_href("stop_process", process=each["ref"]), words="Stop…"),
    )
