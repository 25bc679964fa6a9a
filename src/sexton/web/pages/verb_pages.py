"""How is a verb asked for on a page? What it would do is shown first, and a person confirms it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends
from starlette.responses import RedirectResponse, Response

from sexton.operations.registry import VERBS, Verb
from sexton.operations.verb_proposal import Going, Proposal, Receipt
from sexton.web.desk import Desk
from sexton.web.pages.deeds import Deed, Deeds
from sexton.web.pages.forms import form
from sexton.web.pages.planning import plan_page
from sexton.web.pages.plans_page import told
from sexton.web.pages.showing import show
from sexton.web.rendering import session_href
from sexton.web.verb_routes import choices_of, confirmed, propose, with_query

SHOWN = 50
Given = Annotated[dict[str, str], Depends(form)]


def router(desk: Desk, deeds: Deeds) -> APIRouter:
    """A page for each verb, and the one way to confirm what it shows."""
    routes = APIRouter(include_in_schema=False)
    for verb in VERBS.values():
        page = with_query(verb.propose, _page(desk, verb), Response, is_page=True)
        routes.add_api_route(f"/act/{verb.name}", page, response_class=Response)

    @routes.post("/apply")
    def apply(given: Given) -> Response:
        shown = confirmed(desk, given.get("digest", ""))
        going = Going(observed=given.get("allow_observed") == "yes")
        receipt = shown.carry_out(going)
        deeds.put(receipt.id, deed_of(receipt))
        return RedirectResponse(f"/receipt?id={receipt.id}", status_code=303)

    return routes


def act_href(verb: str, **given: str | int | None) -> str:
    """Where a page asks for a verb."""
    assert verb in VERBS, verb
    said = {name: value for name, value in given.items() if value is not None}
    return f"/act/{verb}?" + urlencode(said, errors="replace")


def _page(desk: Desk, verb: Verb) -> Any:
    def page(given: dict[str, Any]) -> Response:
        missing = [
            name
            for name, (_, default) in verb.parameters().items()
            if default is ... and given.get(name) is None
        ]
        if missing:
            return _asking(desk, verb, given)
        return _confirming(desk, verb, propose(desk, verb, given))

    return page


def _confirming(desk: Desk, verb: Verb, what: Proposal) -> Response:
    """The page on which a proposal is confirmed."""
    if "outlook" in what.shown:
        return plan_page(desk, what, says=what.says, troubles=what.shown.get("troubles", ()))
    return show(
        desk,
        "confirm.html",
        page=verb.noun,
        title=what.title,
        says=what.says,
        steps=what.steps[:SHOWN],
        more=max(0, len(what.steps) - SHOWN),
        verb=what.verb.partition("_")[0].capitalize(),
        undoing=what.undoing,
        digest=what.digest,
        back=_back(verb, what),
        grave=verb.is_grave,
        is_live=False,
    )


def _asking(desk: Desk, verb: Verb, given: dict[str, Any]) -> Response:
    """The page on which what a verb needs to know is asked for."""
    return show(
        desk,
        "asking.html",
        page=verb.noun,
        title=verb.summary.partition("\n")[0].rstrip("."),
        says=" ".join(verb.summary.split("\n\n")[-1].split()),
        action=f"/act/{verb.name}",
        fields=list(_fields(verb, given)),
        back=f"/{verb.noun}",
        is_live=False,
    )


def _fields(verb: Verb, given: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What is said already goes along; the numbers of rows are never asked for."""
    for name, (hint, default) in verb.parameters().items():
        value, choices = given.get(name), choices_of(hint)
        is_given = value not in (None, False) and not (choices and value == default)
        if not is_given and not (choices or hint is bool or hint in (str, str | None)):
            continue
        yield {
            "name": name,
            "title": name.replace("_", " ").capitalize(),
            "is_given": is_given,
            "is_flag": hint is bool,
            "choices": [(each, each) for each in choices],
            "value": "" if value is None else str(value),
        }


def _back(verb: Verb, what: Proposal) -> str:
    about = what.shown["actions"][0]["session"] if what.shown["actions"] else None
    if about is None or about["id"] is None or verb.noun == "processes":
        return f"/{verb.noun}"
    return session_href(about["home"], about["id"])


def deed_of(receipt: Receipt) -> Deed:
    """What a page says of a receipt."""
    said = receipt.shown
    results = ("done", "skipped", "recorded", "observed")
    counts = [f"{said[each]} {each}" for each in results if said[each]]  # type: ignore[literal-required]
    words = ", ".join(counts) or "there was nothing to do"
    if len(receipt.outcomes) == 1:
        words += f": {receipt.outcomes[0]['detail']}"
    elif said["skipped"]:
        words += ": what had changed was left alone"
    if receipt.trouble is not None:
        words += f"; {receipt.trouble}"
    undo = dict(said["undo"]) if said["undo"] else None
    return Deed(
        words=words,
        tone="bad" if receipt.trouble or not said["done"] else "good",
        outcomes=tuple(told(receipt.outcomes)),
        # Whether a receipt can be undone is looked at when its page is shown.
        undo=act_href(undo.pop("verb"), **undo) if undo and "receipt" not in undo else None,
    )
