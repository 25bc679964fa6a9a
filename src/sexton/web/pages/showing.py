"""What is around every page: where one can go, and of which ledger it is."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from sexton.core.record import record
from sexton.finalizers.model import FinalizationState
from sexton.web.desk import Desk


@record
class Chapter:
    """A page that is linked from every page, and how much there waits for a person."""

    name: str
    title: str
    href: str
    count: int = 0


def show(desk: Desk, template: str, /, page: str, status: int = 200, **given: Any) -> Response:
    """A page in its frame."""
    ledger = desk.house.ledger
    return desk.templates.page(
        template,
        status=status,
        page=page,
        now=desk.house.clock.now(),
        chapters=_chapters(desk),
        ledger={"id": ledger.id, "url": _place(ledger.url), "shared": ledger.is_shared},
        **({"is_live": True, "with_session": True} | given),
    )


def _chapters(desk: Desk) -> tuple[Chapter, ...]:
    work = desk.house.ledger.finalizing.tally()
    dead = sum(count for (_, state), count in work.items() if state is FinalizationState.DEAD)
    return (
        Chapter(name="overview", title="Overview", href="/"),
        Chapter(name="sessions", title="Sessions", href="/sessions"),
        Chapter(name="plan", title="Plan", href="/plan"),
        Chapter(name="processes", title="Processes", href="/processes"),
        Chapter(name="workers", title="Workers and hosts", href="/workers"),
        Chapter(name="finalizers", title="Finalizers", href="/finalizers", count=dead),
        Chapter(name="journal", title="Journal", href="/journal"),
        Chapter(name="vault", title="Trash and archive", href="/vault"),
        Chapter(name="settings", title="Settings", href="/settings"),
    )


def _place(url: str) -> str:
    """Where a ledger is, without who may open it."""
    return url.rpartition("@")[2] if "@" in url else url
