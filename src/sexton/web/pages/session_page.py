"""What is there to know about one session?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from sexton.core.session import NATIVE, Session, State
from sexton.errors import SessionNotFound
from sexton.finalizers.model import Wanted
from sexton.keeper.explain import explain
from sexton.keeper.keeper_context import Estate
from sexton.liveness.standing import Standing, standing_of
from sexton.operations import thing_records as things
from sexton.operations import values
from sexton.operations.session_facts import facts
from sexton.processes.watched_processes import of_session
from sexton.retention.model import AWAY
from sexton.spending.budget_standing import explained, standings, who
from sexton.spending.budgets import WARN_AT
from sexton.web.desk import Desk
from sexton.web.drawing.shares import gauge
from sexton.web.pages import life
from sexton.web.pages import processes_page as processes
from sexton.web.pages.lineage import MOST, lineage
from sexton.web.pages.processes_page import Act
from sexton.web.pages.showing import show
from sexton.web.pages.talk import talk
from sexton.web.pages.verb_pages import act_href
from sexton.web.tones import tone_of

ENTRIES = 30
WORK = 20
_MEANS = {
    Standing.LIVE: "A living process holds it.",
    Standing.WAITING: "Nobody holds it: a conversation that waits for its next message.",
    Standing.SUSPECT: "It looks dead, but nothing proves it. Only a person may end it.",
    Standing.LEAKED: "Everybody who held it is dead, and nobody has ended it.",
    Standing.UNPROVEN: "Nothing shows whether anybody still has it, so it is left alone.",
}
_OVER = {
    State.ENDED: "It is over, and its messages are here.",
    State.FINALIZED: "It is over, and all its end-of-session work is done.",
    State.ARCHIVED: "It is in the archive and can be brought back at any time.",
    State.TRASHED: "It is in the trash and can be brought back until that is emptied.",
    State.PURGED: "Only its record is left.",
}


def named(desk: Desk, home: str, id: str) -> Session:
    """The session of that home and id."""
    found = desk.house.ledger.index.find(home, id)
    if not found:
        raise SessionNotFound(f"there is no session '{id}' in the home '{home}'")
    return found[0]


def session(desk: Desk, home: str, id: str, messages: int | None = None) -> Response:
    """Everything about one session."""
    found = named(desk, home, id)
    house, now = desk.house, desk.house.clock.now()
    estate, ledger = desk.lookout.estate(), house.ledger
    why = explain(estate, found)
    entries = ledger.journal.page(found, None, None, ENTRIES)
    jobs = ledger.finalizing.page(Wanted(home=home, session=id), None, WORK)
    work = [estate.content.job(each) for each in jobs]
    verdict = _verdict(estate, found)
    tree, cut = lineage(ledger.removable, found)
    return show(
        desk,
        "session.html",
        page="sessions",
        session=estate.content.session(found),
        verdict=verdict,
        life={
            "strip": life.drawn(found, tone_of(verdict["word"]), now),
            "said": life.said(found, now),
        },
        moments=life.moments(found, entries, work, now),
        answers=why.answers,
        journal=entries,
        processes=processes.rows_of(
            desk, [things.process(each) for each in of_session(estate, found)]
        ),
        budgets=list(_budgets(estate, found)),
        no_budget=_no_budget(found),
        budget_acts=list(_budget_acts(estate, found)),
        finalizers=work,
        tree=tree,
        tree_cut=MOST if cut else 0,
        facts=[(name, value) for name, value in _facts(found, now) if value],
        acts=list(
            _acts(estate, found, verdict["word"], is_busy=found.is_open and estate.is_busy(found))
        ),
        talk=talk(desk, found, messages),
        with_session=False,
        is_live=messages is None,
    )


def _verdict(estate: Estate, found: Session) -> dict[str, Any]:
    if not found.is_open:
        signals = [f"ended: {found.end_reason}"] if found.end_reason else []
        return {"word": found.state.value, "means": _OVER[found.state], "signals": signals}
    standing = standing_of(estate, found)
    proofs = estate.of_holders(found).values()
    signals = [signal for proof in proofs for signal in proof.signals]
    return {"word": standing.value, "means": _MEANS[standing], "signals": signals}


def _budgets(estate: Estate, found: Session) -> Iterator[dict[str, Any]]:
    for standing in standings(estate, who(estate, found)):
        for budget, word, words in explained(standing, found.source):
            yield {
                "name": budget.name,
                "word": word,
                "says": words,
                "gauge": gauge(words, standing.used, budget.limit, WARN_AT),
            }


def _no_budget(found: Session) -> str:
    inside = "Budgets bound it where Hermes runs with the plugin: none of them does now."
    return "No budget bounds it." if found.home == NATIVE else inside


def _acts(estate: Estate, found: Session, word: str, *, is_busy: bool) -> Iterator[Act]:
    asked = urlencode({"home": found.home, "id": found.id}, errors="replace")
    if found.is_open and word in (Standing.LEAKED, Standing.SUSPECT):
        yield Act(href=f"/plan?what=session&{asked}", words="What is due…", main=True)
    name = f"{found.home}/{found.id}"
    if _is_changeable(estate, found):
        if found.is_open:
            force, words = ("true", " in mid-turn…") if is_busy else (None, "…")
            for verb in ("end", "reset"):
                href = act_href(verb, session=name, force=force)
                yield Act(href=href, words=f"{verb.capitalize()}{words}")
        pin = "unpin" if found.pinned else "pin"
        yield Act(href=act_href(pin, session=name), words=f"{pin.capitalize()}…")
    if found.state in AWAY and found.state is not State.PURGED:
        yield Act(href=act_href("restore", session=name), words="Bring back…", main=True)


def _budget_acts(estate: Estate, found: Session) -> Iterator[Act]:
    verbs = {
        "raise_budget": "Raise…",
        "set_budget": "Set a limit…",
        "clear_budget": "Clear limits…",
    }
    if _is_changeable(estate, found):
        for verb, words in verbs.items():
            href = act_href(verb, session=f"{found.home}/{found.id}")
            yield Act(href=href, words=words)


def _is_changeable(estate: Estate, found: Session) -> bool:
    record = estate.records.get(found.home)
    return found.home == NATIVE or (record is not None and record.act)


def _facts(found: Session, now: datetime) -> Iterator[tuple[str, str | None]]:
    yield "id", found.id
    yield from facts(values.session(found), now)
    yield "touched", "by a person" if found.human_touched else None
