"""What would be done, and how is it confirmed and undone?"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field

from sexton.operations.planned import Plan
from sexton.operations.registry import VERBS, Verb
from sexton.operations.said import Receipt
from sexton.operations.verb_proposal import Going
from sexton.web.api.documented import answers
from sexton.web.api.inputs import Storable
from sexton.web.desk import Desk
from sexton.web.proposals import BESIDE
from sexton.web.verb_routes import confirmed, confirmed_document, propose, with_query


class Confirmed(BaseModel):
    """A proposal as it was shown: by its digest, or a plan as a whole.

    `allow_observed` also carries out actions in homes that are only observed.
    """

    model_config = ConfigDict(extra="allow")
    digest: Annotated[str, Field(min_length=1, max_length=128), Storable]
    allow_observed: bool = False


class Undoing(BaseModel):
    """Which apply is to be undone."""

    receipt: Annotated[str, Field(min_length=1, max_length=128), Storable]


def router(desk: Desk) -> APIRouter:
    """Proposals of every verb, and what becomes of them."""
    routes = APIRouter(prefix="/v1", tags=["plans"])
    for verb in VERBS.values():
        path = "/plan" if verb.name == "apply" else f"/plan/{verb.name}"
        routes.add_api_route(
            path,
            with_query(verb.propose, _shown(desk, verb), Plan),
            responses=answers(404, 409),
            summary=f"What '{verb.name}' would do, and why. Changes nothing.",
        )

    @routes.post("/apply", responses=answers(404, 409, 413))
    def apply(plan: Annotated[Confirmed, Body()]) -> Receipt:
        """Carry out a proposal that was shown: its digest alone, or the whole of a plan.

        Every action checks once more that things are as they were seen: what has moved on is
        skipped, which is told in its outcome. Actions in homes that are only observed are left
        out, with the result `observed`, unless `allow_observed` is true.
        """
        whole = plan.model_dump(exclude={*BESIDE, "allow_observed"})
        is_whole = len(whole) > 1
        shown = confirmed_document(desk, whole) if is_whole else confirmed(desk, plan.digest)
        return shown.carry_out(Going(observed=plan.allow_observed)).shown

    @routes.post("/undo", responses=answers(404, 409, 413))
    def undo(wanted: Annotated[Undoing, Body()]) -> Receipt:
        """Bring back what an apply removed or ended, by its receipt."""
        return propose(desk, VERBS["undo"], {"receipt": wanted.receipt}).carry_out().shown

    return routes


def _shown(desk: Desk, verb: Verb) -> Any:
    return lambda given: propose(desk, verb, given).shown
