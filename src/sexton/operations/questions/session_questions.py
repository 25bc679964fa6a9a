"""Which sessions are there, and what is known of one?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Final

from typing_extensions import TypedDict

from sexton.core.session import NATIVE, Relation, Session, State
from sexton.finalizers.model import Wanted
from sexton.keeper.explain import explain
from sexton.keeper.keeper_context import Estate
from sexton.liveness.evidence import Evidence, Verdict
from sexton.liveness.policy import HOME
from sexton.operations import said, values
from sexton.operations import thing_records as things
from sexton.operations.asker import Asker
from sexton.operations.cursors import read_place, read_spot, write_place, write_spot
from sexton.operations.questions.budget_questions import BudgetInWords, budgets_of
from sexton.processes.watched_processes import of_session
from sexton.retention.model import AWAY
from sexton.sessions.board import Order, Search
from sexton.sessions.model import Filter

WAITING: Final = "waiting"
"""Nobody holds it: a conversation that waits for its next message."""
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


class FullSession(ListedSession):
    """Everything the ledger knows about one session."""

    workers: list[said.Holder]
    evidence: list[Proof]
    conversation: Conversation
    vault: said.VaultFile | None
    processes: list[said.Process]
    budgets: list[BudgetInWords]
    finalizers: list[said.Finalization]
    journal: list[said.JournalEntry]


class Lineage(TypedDict):
    """From whom a session came, the eldest first, and a page of those that came of it."""

    session: ListedSession
    elders: list[ListedSession]
    children: list[ListedSession]
    next: str | None


def sessions(
    asker: Asker,
    *,
    home: str | None = None,
    source: str | None = None,
    state: State | None = None,
    key: str | None = None,
    text: str | None = None,
    active_within: timedelta | None = None,
    idle_for: timedelta | None = None,
    all: bool = False,
    sort: Order = Order.ACTIVE,
    after: str | None = None,
    limit: int = 50,
) -> Sessions:
    """Sessions of all homes, in an order.

    A page may hold fewer than asked for, or none, although `next` says that there is more: a search
    looks at so many sessions at a time. A conversation that was compressed is listed once, by its
    newest session, unless `all` is true. With a `key` the newest activity comes first.
    """
    ledger, now = asker.house.ledger, asker.house.clock.now()
    if key is not None:
        place = None if after is None else read_place(after)
        wanted = Filter(home=home, source=source, state=state, key=key, folded=not all)
        found: Sequence[Session] = ledger.index.page(wanted, place, limit + 1)
        last = found[limit - 1] if len(found) > limit else None
        found = found[:limit]
        rest = None if last is None else write_place(last.active_at, last.ref)
    else:
        search = Search(
            home=home,
            source=source,
            state=state,
            text=text,
            active_since=None if active_within is None else now - active_within,
            active_before=None if idle_for is None else now - idle_for,
            folded=not all,
        )
        page = ledger.board.search(search, sort, None if after is None else read_spot(after), limit)
        found, rest = page.sessions, write_spot(page.rest)
    return {"items": list(with_verdicts(asker.look(), found)), "next": rest}


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


def session(asker: Asker, name: str) -> FullSession:
    """Everything the ledger knows about one session."""
    found, estate, ledger = asker.find(name), asker.look(), asker.house.ledger
    (shown,) = with_verdicts(estate, [found])
    file = ledger.vault.of_session(found.ref) if found.state in AWAY else None
    chain = conversation(asker, found)
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
        "processes": [things.process(each) for each in of_session(estate, found)],
        "budgets": budgets_of(asker, found) if found.home == NATIVE else [],
        "finalizers": [
            values.finalization(estate.content.job(each))
            for each in ledger.finalizing.page(
                Wanted(home=found.home, session=found.id), None, SHOWN
            )
        ],
        "journal": [
            values.journal_entry(each) for each in ledger.journal.page(found, None, None, SHOWN)
        ],
    }


def why(asker: Asker, name: str) -> said.Explanation:
    """Why a session is as it is, and what would change it."""
    found = asker.find(name)
    return values.explanation(explain(asker.estate({found.home}), found))


def conversation(asker: Asker, newest: Session) -> list[Session]:
    """The sessions of a conversation that was compressed, up to this one, oldest first."""
    found = [newest]
    while len(found) < DEEPEST and found[-1].relation is Relation.COMPRESSION:
        elder = asker.house.ledger.index.find(found[-1].home, found[-1].parent or "")
        if not elder or elder[0] in found:
            break
        found += elder
    return found[::-1]


def lineage(asker: Asker, name: str, after: str | None, limit: int) -> Lineage:
    """From whom a session came, the eldest first, and a page of those that came of it."""
    found, index = asker.find(name), asker.house.ledger.index
    elders: list[Session] = []
    while len(elders) < DEEPEST and (elders or [found])[-1].parent is not None:
        last = (elders or [found])[-1]
        parents = index.find(last.home, last.parent or "")
        if not parents or parents[0] in (found, *elders):
            break
        elders.append(parents[0])
    place = None if after is None else read_place(after)
    children = asker.house.ledger.board.children(found.home, found.id, place, limit)
    estate = asker.look()
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


def verdict_of(session: Session, evidence: dict[str, Evidence]) -> said.Known | None:
    """What is known of who holds an open session, in one word; None of one that has ended."""
    if not session.is_open:
        return None
    held = [holder.worker.id for holder in session.holders]
    return standing_of(session.home, held, evidence, evidence.get(HOME))


def standing_of(
    home: str, holders: list[str], evidence: dict[str, Evidence], proof: Evidence | None
) -> said.Known:
    """The same for one that is known by its holders only."""
    verdicts = {evidence[id].verdict if id in evidence else Verdict.UNKNOWN for id in holders}
    if proof is not None:
        verdicts.add(proof.verdict)
    if not verdicts:
        return WAITING if home == NATIVE else Verdict.UNKNOWN
    for verdict in (Verdict.LIVE, Verdict.SUSPECT, Verdict.UNKNOWN):
        if verdict in verdicts:
            return verdict
    return Verdict.DEAD
