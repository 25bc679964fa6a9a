"""Which end-of-session work is there, and what was given up?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from sexton.finalizers.model import FinalizationState
from sexton.operations.questions.job_questions import Tally, finalizers
from sexton.web.desk import Desk
from sexton.web.pages.forms import choice
from sexton.web.pages.showing import show

LIMIT = 50
_LEFT = (FinalizationState.PENDING, FinalizationState.RUNNING, FinalizationState.DEAD)


def finalizers_page(
    desk: Desk, state: str | None = None, finalizer: str | None = None, after: int | None = None
) -> Response:
    """Work by its state and finalizer, newest first."""
    wanted = choice(FinalizationState, state)
    found = finalizers(
        desk.asker, state=wanted, finalizer=finalizer or None, after=after, limit=LIMIT
    )
    chosen = {"state": wanted or "", "finalizer": finalizer or ""}
    tallies = _tallies(desk, found["tally"])
    older = None
    if found["next"] is not None:
        kept = {name: value for name, value in chosen.items() if value}
        older = "/finalizers?" + urlencode({**kept, "after": found["next"]})
    return show(
        desk,
        "finalizers.html",
        page="finalizers",
        tallies=tallies,
        dead=sum(each["dead"] for each in tallies),
        rows=found["items"],
        chosen=chosen,
        choices=_choices([each["name"] for each in tallies]),
        older=older,
    )


def _choices(names: list[str]) -> Mapping[str, Any]:
    states = [("", "any"), *((each.value, each.value) for each in FinalizationState)]
    return {"states": states, "finalizers": [("", "any"), *((name, name) for name in names)]}


def _tallies(desk: Desk, tally: Sequence[Tally]) -> list[dict[str, Any]]:
    """Every finalizer with what it has left, those without any included."""
    found = {(each["finalizer"], each["state"]): each["count"] for each in tally}
    known = {each.name: each.kind.value for each in desk.house.settings.finalizers}
    names = sorted({name for name, _ in found} | known.keys())
    return [_tally(name, known.get(name), found) for name in names]


def _tally(
    name: str, kind: str | None, found: Mapping[tuple[str, FinalizationState], int]
) -> dict[str, Any]:
    counts = {state: found.get((name, state), 0) for state in _LEFT}
    told = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    nobody = "" if kind else "; no finalizer of these settings is called that"
    return {
        "name": name,
        "left": sum(counts.values()),
        "says": (told or f"{kind}: nothing is left to do") + nobody,
        **{state.value: count for state, count in counts.items()},
    }
