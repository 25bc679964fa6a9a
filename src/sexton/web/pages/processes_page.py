"""Which processes run in the background, and what does each hold back?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from starlette.responses import Response

from sexton.core.record import record
from sexton.core.wording import size, span
from sexton.processes.listed import hints, view
from sexton.processes.model import Watched
from sexton.web.desk import Desk
from sexton.web.pages.showing import show


@record
class Act:
    """Something that can be asked for; what it would do is shown first."""

    href: str
    words: str
    main: bool = False


def processes(desk: Desk) -> Response:
    """Every registered process, and what other homes say of theirs."""
    estate = desk.lookout.estate()
    running = desk.house.ledger.registry.running()
    found = [*view(estate, running), *hints(estate, running)]
    told = shown(found, desk.house.clock.now())
    return show(desk, "processes.html", page="processes", processes=told)


def shown(found: Sequence[Watched], now: datetime) -> list[Mapping[str, Any]]:
    """Processes as rows of a page."""
    return [_row(each, now) for each in found]


def _row(each: Watched, now: datetime) -> Mapping[str, Any]:
    process, figures = each.process, each.figures
    return {
        "name": process.name,
        "host": process.identity.host,
        "command": process.command,
        "task": process.task,
        "home": process.home,
        "session": process.session,
        "orphan": process.is_orphan and process.ref > 0,
        "doing": each.doing.value,
        "because": process.ended_how or each.because,
        "kept": process.kept,
        "age": span((process.ended_at or now) - process.started_at),
        "memory": size(figures.memory) if figures.memory else "",
        "holds_until": each.holds_until if each.holds else None,
        "acts": list(_acts(each)),
    }


def _acts(each: Watched) -> Sequence[Act]:
    process = each.process
    if process.ref <= 0 or process.ended_at is not None:
        return ()  # what another home says of its processes is told, never acted on
    keep = "release" if process.kept else "keep"
    return (
        Act(href=f"/act/{keep}?ref={process.ref}", words=f"{keep.capitalize()}…"),
        Act(href=f"/act/stop?ref={process.ref}", words="Stop…"),
    )
