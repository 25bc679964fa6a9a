"""What was done together, and can it be undone?"""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.responses import Response

from sexton.core.wording import ago
from sexton.keeper.reopening import may_revive
from sexton.web.desk import Desk
from sexton.web.pages.deeds import Deeds
from sexton.web.pages.showing import show
from sexton.web.pages.verb_pages import act_href

LIMIT = 50


def receipt(desk: Desk, deeds: Deeds, id: str, before: int | None = None) -> Response:
    """The page of a receipt: what came of it, the journal's entries, and the way back."""
    house = desk.house
    found = house.ledger.journal.page(None, id, before, LIMIT + 1)
    deed = deeds.get(id)
    older = None
    if len(found) > LIMIT:
        older = "/receipt?" + urlencode({"id": id, "before": found[LIMIT - 1].ref})
    undo = deed.undo if deed and deed.undo else None
    if undo is None and is_undoable(desk, id):
        undo = act_href("undo", receipt=id)
    says = "The journal knows nothing of it."
    if found:
        says = f"{ago(found[0].at, house.clock.now())}, by {found[0].actor}"
    return show(
        desk,
        "receipt.html",
        page="journal",
        receipt=id,
        says=says,
        undo=undo,
        results=[] if deed is None else [deed],
        outcomes=() if deed is None else deed.outcomes,
        journal=found[:LIMIT],
        older=older,
        is_live=False,
    )


def is_undoable(desk: Desk, id: str) -> bool:
    """Whether anything of it can be brought back, or opened again."""
    estate = desk.lookout.estate()
    return bool(estate.ledger.vault.of_receipt(id)) or may_revive(estate, id)
