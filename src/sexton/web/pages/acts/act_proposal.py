"""What would be done, why, and can it be undone? Shown before anything is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.responses import RedirectResponse, Response

from sexton.core.record import record
from sexton.web.desk import Desk
from sexton.web.pages.deeds import Deed, Deeds
from sexton.web.pages.showing import show
from sexton.web.proposals import Proposal as Shown
from sexton.web.proposals import Step

SHOWN = 50


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


def asked(desk: Desk, page: str, shown: Shown, **words: Any) -> Response:
    """The page of an errand, which is confirmed as what was shown."""
    verb = shown.work.kind.partition("_")[0].capitalize()
    undoing = "Can be undone at any time." if shown.work.reversible else "This can not be undone."
    return proposed(
        desk,
        page,
        Proposal(
            steps=shown.work.steps,
            action="/apply",
            fields=(("digest", shown.digest),),
            **({"verb": verb, "undoing": undoing} | words),
        ),
    )


def done(deeds: Deeds, receipt: str, deed: Deed) -> Response:
    """On to the page of what came of it."""
    deeds.put(receipt, deed)
    return RedirectResponse(f"/receipt?id={receipt}", status_code=303)
