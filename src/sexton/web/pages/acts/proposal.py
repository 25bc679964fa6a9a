"""What would be done, why, and can it be undone? Shown before anything is."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import RedirectResponse, Response

from sexton.model.record import record
from sexton.web.desk import Desk
from sexton.web.pages.deeds import Deed, Deeds
from sexton.web.pages.showing import show

SHOWN = 50


@record
class Step:
    """One thing that would be done, to what, and why."""

    kind: str
    verb: str
    what: str
    why: str


@record
class Proposal:
    """Steps for a person to confirm; `fields` go with the confirmation, so that it is of these."""

    title: str
    says: str
    steps: Sequence[Step]
    verb: str
    undoing: str
    action: str
    back: str
    fields: Sequence[tuple[str, str]] = ()
    grave: bool = False


def proposed(desk: Desk, page: str, what: Proposal) -> Response:
    """The page on which it is confirmed."""
    return show(
        desk,
        "confirm.html",
        page=page,
        title=what.title,
        says=what.says,
        steps=what.steps[:SHOWN],
        more=max(0, len(what.steps) - SHOWN),
        verb=what.verb,
        undoing=what.undoing,
        action=what.action,
        fields=what.fields,
        back=what.back,
        grave=what.grave,
        is_live=False,
    )


def done(deeds: Deeds, receipt: str, deed: Deed) -> Response:
    """On to the page of what came of it."""
    deeds.put(receipt, deed)
    return RedirectResponse(f"/receipt?id={receipt}", status_code=303)
