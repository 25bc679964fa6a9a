"""Which background processes run, and what does each do?"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import TypedDict

from sexton.keeper.keeper_context import Estate
from sexton.operations import said
from sexton.operations import thing_records as things
from sexton.operations.asker import Asker
from sexton.operations.cursors import cut
from sexton.processes.foreign_processes import proved
from sexton.processes.model import Process
from sexton.processes.watched_processes import view


class Processes(TypedDict):
    """A page of processes."""

    items: list[said.Process]
    next: str | None


def processes(
    asker: Asker,
    *,
    session: str | None = None,
    task: str | None = None,
    ended: bool = False,
    after: int | None = None,
    limit: int = 100,
) -> Processes:
    """The background processes of sessions that run, and those that other homes name.

    With `ended` a page of all of the last week instead.
    """
    estate = asker.look()
    registry = estate.ledger.registry
    page = registry.page(after, limit + 1) if ended else registry.running()
    found, rest = cut(page, limit if ended else len(page))
    known = [*found, *([] if ended and after else named_by_homes(estate, registry.running()))]
    if session is not None:
        of = asker.find(session)
        known = [each for each in known if (each.home, each.session) == (of.home, of.id)]
    shown = view(estate, [each for each in known if task in (None, each.task)])
    return {"items": [things.process(each) for each in shown], "next": rest}


def named_by_homes(estate: Estate, registered: Sequence[Process]) -> list[Process]:
    """What homes name beside the registered, each proved to be the one they started if possible."""
    return [proved(estate.overseer, estate.clock, each) for each in estate.named(registered)]
