"""What every ledger promises about asking which jobs an end queues."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from sexton.core.session import Session
from sexton.finalizers.model import Due, DueVerdict, FinalizationState
from sexton.finalizers.policy import Owing
from sexton.rules.rulebook import Rulebook, encode
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_compression import shorter, talked
from tests.contract.ledger_contract_finalizing_foreign import attached, foreign
from tests.contract.ledger_contract_finalizing_samples import DONE, LOG, owed, rule, told
from tests.contract.ledger_contract_reviving import reap, reap_of, revive
from tests.contract.ledger_contract_samples import NOON, at, born, enrol, observe, say

RULES = tuple(
    Owing(name=f"{number:02}", sources=sources, spared=spared, min_messages=least)
    for number, (sources, spared, least) in enumerate(
        product(
            ((), ("cron",), ("cron", "chat"), ("*",)),
            ((), ("cron",), ("cli", "chat")),
            (0, 1, 4, 7),
        )
    )
)
OWES, NOTHING_NEW = DueVerdict.OWES, DueVerdict.NOTHING_NEW

Span = tuple[str, int, int]


def empty(ledger: Ledger, source: str) -> Session:
    """Nobody has said anything."""
    return born(ledger, None, source=source)


def short(ledger: Ledger, source: str) -> Session:
    """Too short for some."""
    return told(ledger, 3, source=source)


def long(ledger: Ledger, source: str) -> Session:
    """Long enough for all."""
    return told(ledger, 7, source=source)


def _again(ledger: Ledger, source: str, fate: FinalizationState | None, more: int) -> Session:
    """Reaped with 4 messages, its jobs done or not begun, and open again."""
    key = f"{source} {fate} {more}"
    begun = told(ledger, 4, key, source=source, worker=enrol(ledger, f"owner of {key}"))
    assert reap(ledger, reap_of(begun)) == [True]
    for job in owed(ledger, begun) if fate is DONE else ():
        assert ledger.finalizing.decide(job.ref, DONE, at(2))
    again = revive(ledger, begun, enrol(ledger, f"heir of {key}"))
    assert again is not None
    if more:
        say(ledger, again, *["more"] * more)
    return again


def again_silent(ledger: Ledger, source: str) -> Session:
    """Jobs cover all of it."""
    return _again(ledger, source, DONE, 0)


def again_spoken(ledger: Ledger, source: str) -> Session:
    """Jobs cover a part of it."""
    return _again(ledger, source, DONE, 2)


def again_unbegun(ledger: Ledger, source: str) -> Session:
    """Nobody had begun its jobs, which are gone."""
    return _again(ledger, source, None, 0)


def tip(ledger: Ledger, source: str) -> Session:
    """The newest of a compressed conversation, shorter than the whole."""
    return shorter(ledger, talked(ledger, f"tip of {source}", source=source), head=1, through=6)


def untold_tip(ledger: Ledger, source: str) -> Session:
    """The newest of a conversation that was compressed without a summary."""
    old = talked(ledger, f"untold tip of {source}", source=source)
    return shorter(ledger, old, head=1, through=4, fallback=True)


KINDS: tuple[Callable[[Ledger, str], Session], ...] = (
    empty,
    short,
    long,
    again_silent,
    again_spoken,
    again_unbegun,
    tip,
    untold_tip,
)


class DuesContract:
    """The ledger says before an end what the end queues, and afterwards the same."""

    def test_an_end_queues_what_the_ledger_said_before_and_says_afterwards(
        self, ledger: Ledger
    ) -> None:
        rule(ledger, *RULES)
        for kind, source in product(KINDS, ("cron", "cli", "chat")):
            session = kind(ledger, source)
            ended_as_said(ledger, session, lambda s: ledger.book.end_now(s, "closed", at(70)))

    def test_the_same_holds_for_sessions_of_foreign_homes(self, ledger: Ledger) -> None:
        rule(ledger, *RULES)
        home = attached(ledger)
        for source, count in product(("cron", "chat"), (0, 3, 7)):
            id = f"{source} {count}"
            for round in range(2):  # ended, opened again by its home, and ended again
                observe(ledger, home, foreign(id, count + round, source=source))
                [session] = ledger.index.find("there", id)
                over = foreign(id, count + round, 5, source=source)

                def end(_: Session, over: Session = over) -> bool:
                    observe(ledger, home, over)
                    return True

                ended_as_said(ledger, session, end)

    def test_rules_that_are_not_in_force_are_answered_for_alike_and_change_nothing(
        self, ledger: Ledger
    ) -> None:
        draft = encode(Rulebook(finalizers=RULES))
        rule(ledger, Owing(name="other"))
        sessions = [kind(ledger, "chat").ref for kind in (empty, short, long, tip, untold_tip)]
        in_force = ledger.dues.of(sessions)
        drafted = ledger.dues.of(sessions, draft)
        assert ledger.dues.of(sessions) == in_force
        assert {due.finalizer for due in in_force} == {"other"}
        rule(ledger, *RULES)
        assert ledger.dues.of(sessions) == drafted
        assert len(drafted) == len(sessions) * len(RULES)

    def test_a_compressed_session_owes_only_what_no_summary_tells(self, ledger: Ledger) -> None:
        told_on, untold = talked(ledger, "told on"), talked(ledger, "untold")
        shorter(ledger, told_on, head=0, through=4)
        shorter(ledger, untold, head=0, through=4, fallback=True)
        rule(ledger, *RULES)
        named = {rule.name for rule in RULES if rule.includes(untold.source)}
        assert {due.verdict for due in ledger.dues.of([told_on.ref])} == {DueVerdict.COMPRESSION}
        said = spans_said(ledger, untold)
        assert said == {(name, 0, 4) for name in named}, "however short it is"
        for each in RULES:
            ledger.backfill.owe(each.name, NOON, 9, at(80))
        assert spans_queued(ledger, told_on) == set()
        assert spans_queued(ledger, untold) == said
        assert spans_said(ledger, untold) == set()

    def test_a_backfill_leaves_a_session_alone_that_had_a_job_before(self, ledger: Ledger) -> None:
        rule(ledger, LOG)
        session = again_spoken(ledger, "chat")
        queued = spans_queued(ledger, session)
        rule(ledger)
        assert ledger.book.end_now(session, "closed", at(70))
        rule(ledger, LOG)
        assert spans_said(ledger, session) == {("log", 4, 6)}
        assert ledger.backfill.estimate("log", NOON).sessions == 0
        assert ledger.backfill.owe("log", NOON, 9, at(80)) == 0
        assert spans_queued(ledger, session) == queued == {("log", 0, 4)}

    def test_a_session_without_rules_owes_nobody(self, ledger: Ledger) -> None:
        assert ledger.dues.of([told(ledger).ref]) == []
        assert ledger.dues.of([]) == []


def ended_as_said(ledger: Ledger, session: Session, end: Callable[[Session], bool]) -> None:
    """End it, and hold the ledger to its word before and after."""
    before, said = verdicts(ledger, session), spans_said(ledger, session)
    queued = spans_queued(ledger, session)
    assert len(before) == len(RULES)
    assert end(session)
    assert spans_queued(ledger, session) - queued == said, session
    now = {name: NOTHING_NEW if code is OWES else code for name, code in before.items()}
    assert verdicts(ledger, session) == now, session


def verdicts(ledger: Ledger, session: Session) -> dict[str, DueVerdict]:
    return {due.finalizer: due.verdict for due in _dues(ledger, session)}


def spans_said(ledger: Ledger, session: Session) -> set[Span]:
    return {(due.finalizer, due.since, due.through) for due in _dues(ledger, session) if due.owes}


def spans_queued(ledger: Ledger, session: Session) -> set[Span]:
    return {(job.finalizer, job.since, job.through) for job in owed(ledger, session)}


def _dues(ledger: Ledger, session: Session) -> list[Due]:
    return ledger.dues.of([session.ref])
