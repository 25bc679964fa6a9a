"""Which end-of-session jobs are there?"""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from sexton.finalizers.model import Finalization, FinalizationState, Wanted
from sexton.operations import said, values
from sexton.operations.asker import Asker
from sexton.operations.cursors import cut

CHUNK = 500


class Tally(TypedDict):
    """How many jobs of a finalizer are in a state; `kind` is null where no settings have it."""

    finalizer: str
    kind: str | None
    state: FinalizationState
    count: int


class Finalizers(TypedDict):
    """A page of jobs, newest first, and how many of each finalizer are not done."""

    items: list[said.Finalization]
    next: str | None
    tally: list[Tally]


def finalizers(
    asker: Asker,
    *,
    state: FinalizationState | None = None,
    finalizer: str | None = None,
    session: str | None = None,
    after: int | None = None,
    limit: int = 50,
) -> Finalizers:
    """End-of-session jobs, newest first, and how many of each finalizer are not done."""
    finalizing, content = asker.house.ledger.finalizing, asker.house.content
    page = finalizing.page(wanted_jobs(asker, session, finalizer, state), after, limit + 1)
    found, rest = cut(page, limit)
    kinds = {each.name: each.kind.value for each in asker.house.settings.finalizers}
    return {
        "items": [values.finalization(content.job(each)) for each in found],
        "next": rest,
        "tally": [
            {"finalizer": name, "kind": kinds.get(name), "state": state, "count": count}
            for (name, state), count in sorted(finalizing.tally().items())
        ],
    }


def wanted_jobs(
    asker: Asker,
    session: str | None = None,
    finalizer: str | None = None,
    state: FinalizationState | None = None,
) -> Wanted:
    """What is asked for; a session may be named by the beginning of its id."""
    found = None if session is None else asker.find(session)
    return Wanted(
        state=state,
        finalizer=finalizer,
        home=None if found is None else found.home,
        session=None if found is None else found.id,
    )


def each_job(asker: Asker, wanted: Wanted, chunk: int = CHUNK) -> Iterator[Finalization]:
    """All jobs that are asked for, newest first, read in chunks."""
    after: int | None = None
    while page := asker.house.ledger.finalizing.page(wanted, after, chunk):
        yield from page
        after = page[-1].ref
