"""Which sessions are there, and what is known of one?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from typing_extensions import TypedDict

from sexton.core.session import NATIVE, Relation, Session
from sexton.finalizers.job import Wanted
from sexton.keeper.keeper_context import Estate
from sexton.liveness.evidence import Verdict
from sexton.liveness.policy import HOME
from sexton.operations import said, values
from sexton.operations import thing_records as things
from sexton.operations.cursors import read_place, write_place, write_spot
from sexton.processes.listed import of_session
from sexton.retention.model import AWAY
from sexton.sessions.board_ports import Order, Search, Spot
from sexton.spending.budget_standing import explained, standings, who
from sexton.web.answers.things_answers import RunningProcess, Work
from sexton.web.desk import Desk
from sexton.web.lookout import verdict_of

SHOWN = 100
"""So many children, finalizations and entries are shown beside a session."""
DEEPEST = 50


class ListedSession(said.Session):
    """A session with what is known of who holds it."""

    name: str
    verdict: said.Known | None
    busy: bool


class Sessions(TypedDict):
    """A page of sessions."""

    items: list[ListedSession]
    next: str | None


class Proof(TypedDict):
    """What is known of one who holds a session, or what its home proves."""

    of: str
    verdict: Verdict
    code: str | None
    kernel: bool
    signals: list[str]


class Conversation(TypedDict):
    """A conversation that was compressed, up to this session, oldest first."""

    sessions: list[str]
    tokens: int
    cost_micros: int


class BudgetInWords(said.Budget):
    """How a budget stands, and that in words."""

    words: str


class FullSession(ListedSession):
    """Everything the ledger knows about one session."""

    workers: list[said.Holder]
    evidence: list[Proof]
    conversation: Conversation
    vault: said.VaultFile | None
    processes: list[RunningProcess]
    budgets: list[BudgetInWords]
    finalizers: list[Work]
    journal: list[said.JournalEntry]


class Lineage(TypedDict):
    """From whom a session came, the eldest first, and a page of those that came of it."""

    session: ListedSession
    elders: list[ListedSession]
    children: list[ListedSession]
    next: str | None


def page(desk: Desk, wanted: Search, order: Order, after: Spot | None, limit: int) -> Sessions:
    """A page of sessions; where it ends although there may be more, `next` says how to go on."""
    found = desk.house.ledger.board.search(wanted, order, after, limit)
    items = list(with_verdicts(desk.lookout.estate(), found.sessions))
    return {"items": items, "next": write_spot(found.rest)}


def with_verdicts(estate: Estate, sessions: Iterable[Session]) -> Iterator[ListedSession]:
    """Sessions with what is known of who holds them."""
    for each in sessions:
        evidence = estate.of_holders(each) if each.is_open else {}
        yield {
            **values.session(estate.content.session(each)),
            "name": each.name,
            "verdict": verdict_of(each, evidence),
            "busy": each.is_open and estate.is_busy(each),
        }


def session(desk: Desk, name: str) -> FullSession:
    """Everything the ledger knows about one session."""
    found, estate, ledger = desk.house.find(name), desk.lookout.estate(), desk.house.ledger
    (shown,) = with_verdicts(estate, [found])
    file = ledger.vault.of_session(found.ref) if found.state in AWAY else None
    chain = conversation(desk, found)
    return {
        **shown,
        "workers": [values.holder(holder) for holder in found.holders],
        "evidence": _evidence(estate, found),
        "conversation": {
            "sessions": [each.id for each in chain],
            "tokens": sum(each.usage.tokens for each in chain),
            "cost_micros": sum(each.usage.cost_micros for each in chain),
        },
        "vault": None if file is None else things.vault_file(file),
        "processes": [
            {**things.process(each), "ref": each.process.ref} for each in of_session(estate, found)
        ],
        "budgets": budgets(estate, found),
        "finalizers": [
            {**values.finalization(estate.content.job(each)), "ref": each.ref}
            for each in ledger.finalizing.page(
                Wanted(home=found.home, session=found.id), None, SHOWN
            )
        ],
        "journal": [
            values.journal_entry(each) for each in ledger.journal.page(found, None, None, SHOWN)
        ],
    }


def why(desk: Desk, name: str) -> said.Explanation:
    """Why a session is as it is, and what would change it."""
    return values.explanation(desk.house.why(name))


def budgets(estate: Estate, found: Session) -> list[BudgetInWords]:
    """How the budgets stand that bound a session of our own."""
    if found.home != NATIVE:
        return []
    return [
        {**things.budget(each, budget, word), "words": words}
        for each in standings(estate, who(estate, found))
        for budget, word, words in explained(each, found.source)
    ]


def conversation(desk: Desk, newest: Session) -> list[Session]:
    """The sessions of a conversation that was compressed, up to this one, oldest first."""
    found = [newest]
    while len(found) < DEEPEST and found[-1].relation is Relation.COMPRESSION:
        elder = desk.house.ledger.index.find(found[-1].home, found[-1].parent or "")
        if not elder or elder[0] in found:
            break
        found += elder
    return found[::-1]


def lineage(desk: Desk, name: str, after: str | None, limit: int) -> Lineage:
    """From whom a session came, the eldest first, and a page of those that came of it."""
    found, index = desk.house.find(name), desk.house.ledger.index
    elders: list[Session] = []
    while len(elders) < DEEPEST and (elders or [found])[-1].parent is not None:
        last = (elders or [found])[-1]
        parents = index.find(last.home, last.parent or "")
        if not parents or parents[0] in (found, *elders):
            break
        elders.append(parents[0])
    place = None if after is None else read_place(after)
    children = desk.house.ledger.board.children(found.home, found.id, place, limit)
    estate = desk.lookout.estate()
    rest = children[-1] if len(children) == limit else None
    return {
        "session": next(with_verdicts(estate, [found])),
        "elders": list(with_verdicts(estate, elders[::-1])),
        "children": list(with_verdicts(estate, children)),
        "next": None if rest is None else write_place(rest.started_at, rest.ref),
    }


def _evidence(estate: Estate, found: Session) -> list[Proof]:
    """What is known of each holder, and what the home itself proves."""
    if not found.is_open:
        return []
    return [
        {
            "of": "home" if id == HOME else id,
            "verdict": proof.verdict,
            "code": proof.code,
            "kernel": proof.kernel,
            "signals": list(proof.signals),
        }
        for id, proof in estate.of_holders(found).items()
    ]
