"""What would be done, and how is it confirmed and undone?"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field

from sexton.errors import InputInvalid
from sexton.operations.planned import Plan
from sexton.web.answers import errands
from sexton.web.answers import plans_answers as plans
from sexton.web.api.documented import answers
from sexton.web.api.inputs import Ref, Storable, Text
from sexton.web.desk import Desk
from sexton.web.proposals import Proposal


class Deed(StrEnum):
    """What a person can ask for about one thing."""

    END = "end"
    RESET = "reset"
    PIN = "pin"
    UNPIN = "unpin"
    STOP_PROCESS = "stop_process"
    KEEP_PROCESS = "keep_process"
    RELEASE_PROCESS = "release_process"
    RETRY_FINALIZER = "retry_finalizer"
    DISCARD_FINALIZER = "discard_finalizer"


class Confirmed(BaseModel):
    """A plan as it was shown: by its digest, or as a whole.

    `allow_observed` also carries out actions in homes that are only observed.
    """

    model_config = ConfigDict(extra="allow")
    digest: Annotated[str, Field(min_length=1, max_length=128), Storable]
    allow_observed: bool = False


class Undoing(BaseModel):
    """Which apply is to be undone."""

    receipt: Annotated[str, Field(min_length=1, max_length=128), Storable]


def router(desk: Desk) -> APIRouter:
    """Plans, and what becomes of them."""
    routes = APIRouter(prefix="/v1", tags=["plans"])

    @routes.get("/plan", responses=answers(404, 409))
    def plan(  # noqa: PLR0913, PLR0917  # each narrows it in its own way
        home: Text = None,
        source: Text = None,
        action: Deed | None = None,
        session: Text = None,
        process: Ref = None,
        finalization: Ref = None,
        force: bool = False,
    ) -> Plan:
        """What should be done now, and why; or what one action would do. Changes nothing.

        `end`, `reset`, `pin` and `unpin` need a `session`, what is about a process its `process`,
        what is about end-of-session work its `finalization`. While a turn runs, `end` and `reset`
        are refused unless `force` is given; `reset` also while processes of the session run.
        """
        if action is None:
            return plans.propose(desk, home, source)
        if action in (Deed.END, Deed.RESET):
            code = "closed" if action is Deed.END else "reset"
            name = _given(session, action, "session")
            return plans.propose_end(desk, name, code, force=force)
        return _errand(desk, action, session, process, finalization).shown

    @routes.post("/apply", responses=answers(404, 409, 413))
    def apply(plan: Annotated[Confirmed, Body()]) -> plans.Report:
        """Carry out a plan that was shown: its digest alone, or the whole of it.

        Every action checks once more that things are as they were seen: what has moved on is
        skipped, which is told in its outcome. Actions in homes that are only observed are left
        out, with the result `observed`, unless `allow_observed` is true.
        """
        # What is told beside a plan is none of it.
        whole = plan.model_dump(exclude={"troubles", "outlook", "allow_observed"})
        if len(whole) > 1:
            return plans.apply_document(desk, whole, observed=plan.allow_observed)
        return plans.apply_shown(desk, plan.digest, observed=plan.allow_observed)

    @routes.post("/undo", responses=answers(404, 409, 413))
    def undo(wanted: Annotated[Undoing, Body()]) -> plans.Undone:
        """Bring back what an apply removed or ended, by its receipt."""
        return plans.undo(desk, wanted.receipt)

    return routes


def _errand(
    desk: Desk, action: Deed, session: str | None, process: int | None, work: int | None
) -> Proposal:
    match action:
        case Deed.PIN | Deed.UNPIN:
            name = _given(session, action, "session")
            return errands.propose_pin(desk, name, pinned=action is Deed.PIN)
        case Deed.STOP_PROCESS:
            return errands.propose_stop(desk, int(_given(process, action, "process")))
        case Deed.KEEP_PROCESS | Deed.RELEASE_PROCESS:
            ref = int(_given(process, action, "process"))
            return errands.propose_keep(desk, ref, kept=action is Deed.KEEP_PROCESS)
        case _:
            ref = int(_given(work, action, "finalization"))
            return errands.propose_decision(desk, ref, retry=action is Deed.RETRY_FINALIZER)


def _given(value: str | int | None, action: Deed, name: str) -> str:
    if value is None:
        raise InputInvalid(f"{action} needs a {name}", hint=f"Add {name}=... to the query.")
    return str(value)
