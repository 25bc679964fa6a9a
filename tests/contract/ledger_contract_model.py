"""Does a ledger do what a model of a few lines says, for any history?

Looking and acting are separate rules: between them anything may happen, so what acts on an old
sight meets every guard of the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from sexton.core.message import draft
from sexton.core.plan import Reason
from sexton.core.schedule import Schedule
from sexton.core.session import Limit, Session, State
from sexton.sessions.model import Appended, Batch, Birth
from sexton.store.ledger import Ledger
from tests.contract.examples import examples
from tests.contract.ledger_contract_samples import (
    NO_RULES,
    at,
    birth,
    enrol,
    entry,
    heard,
    reread,
    seen,
)

KEYS = ("a", "b")
WORKERS = ("anna", "berta", "clara")
MORTAL = ("cli",)

_examples = count(1)


@dataclass
class Truth:
    """What the model knows of one session."""

    first: Session
    key: str
    source: str
    active: int
    epoch: int = 1
    holders: set[str] = field(default_factory=set)
    said: list[str] = field(default_factory=list)
    turns: int = 0
    warned: int = 0
    due: int | None = None
    reason: str | None = None

    def is_unmoved(self, sight: Session) -> bool:
        """Whether nothing was said and no turn was started since."""
        facts = (len(self.said), self.turns, at(self.active))
        return facts == (sight.message_count, sight.turn_count, sight.active_at)

    def is_as(self, sight: Session) -> bool:
        """Whether a write under that sight's epoch is let through."""
        return self.reason is None and self.epoch == sight.epoch


class Histories(RuleBasedStateMachine):
    """All that can happen to a few keys, in any order, with sights of any age."""

    sights: Bundle[Session] = Bundle("sights")

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self.ledger = ledger
        self.book = ledger.book
        self.prefix = f"example {next(_examples)} "
        self.now = 0
        self.truths: dict[int, Truth] = {}
        self.touched: Session | None = None

    @initialize()
    def enrol_everybody(self) -> None:
        for name in WORKERS:
            enrol(self.ledger, self.prefix + name)

    @rule(
        target=sights,
        key=st.sampled_from(KEYS),
        who=st.sampled_from(WORKERS),
        source=st.sampled_from(["cli", "chat"]),
    )
    def begin(self, key: str, who: str, source: str) -> Any:
        begun = self.book.begin(self.birth(key, who, source), at(self.now))
        assert (begun is None) == (self.open_of(key) is not None)
        return self.learn(begun, key, who, source)

    @rule(target=sights, key=st.sampled_from(KEYS))
    def look(self, key: str) -> Any:
        self.now += 1
        sight = self.book.current(self.prefix + key)
        assert (sight.ref if sight else None) == self.open_of(key)
        return multiple() if sight is None else sight

    @rule(sight=sights, who=st.sampled_from(WORKERS), dead=st.sets(st.sampled_from(WORKERS)))
    def join(self, sight: Session, who: str, dead: set[str]) -> None:
        truth = self.touch(sight)
        gone = [self.prefix + each for each in sorted(dead)]
        joined = self.book.join(sight, self.prefix + who, gone, at(self.now))
        assert (joined is not None) == truth.is_as(sight)
        if joined is not None:
            truth.holders -= set(gone)
            truth.epoch += not truth.holders
            truth.holders.add(self.prefix + who)

    @rule(who=st.sampled_from(WORKERS))
    def leave(self, who: str) -> None:
        worker = self.prefix + who
        ended = {each.ref for each in self.book.leave(worker, MORTAL, at(self.now))}
        mine = {ref: truth for ref, truth in self.truths.items() if worker in truth.holders}
        for truth in mine.values():
            truth.holders.discard(worker)
            if not truth.holders and truth.source in MORTAL:
                truth.reason = "closed"
        assert ended == {ref for ref, truth in mine.items() if truth.reason}

    @rule(
        sight=sights,
        texts=st.lists(st.sampled_from("xyz"), min_size=1, max_size=3),
        later=st.integers(-1, 1),
    )
    def append(self, sight: Session, texts: list[str], later: int) -> None:
        truth = self.touch(sight)
        self.now = max(self.now + later, 0)
        drafts = [draft("user", text) for text in texts]
        schedule = Schedule(0, at=at(self.now + 5))
        batch = Batch(session=sight, drafts=drafts, schedule=schedule)
        appended = self.ledger.messages.append(batch, at(self.now))
        assert (appended is not None) == truth.is_as(sight)
        if appended is not None:
            truth.said += texts
            truth.active, truth.due = self.now, self.now + 5
            assert appended == Appended(len(truth.said), Limit(truth.warned))

    @rule(sight=sights)
    def end_as_seen(self, sight: Session) -> None:
        truth = self.touch(sight)
        reason = Reason("idle", "too long")
        ended = self.book.end(seen(sight), reason, entry(sight), at(self.now))
        assert ended == (truth.is_as(sight) and truth.is_unmoved(sight))
        if ended:
            truth.reason, truth.holders = "idle", set()

    @rule(sight=sights)
    def end_now(self, sight: Session) -> None:
        truth = self.touch(sight)
        ended = self.book.end_now(sight, "asked", at(self.now))
        assert ended == truth.is_as(sight)
        if ended:
            truth.reason, truth.holders = "asked", set()

    @rule(target=sights, sight=sights, who=st.sampled_from(WORKERS))
    def replace(self, sight: Session, who: str) -> Any:
        truth = self.touch(sight)
        new = self.birth(truth.key, who, truth.source)
        fresh = self.book.replace(sight, Reason("reset", ""), new, entry(sight), at(self.now))
        assert (fresh is not None) == (truth.is_as(sight) and truth.is_unmoved(sight))
        if fresh is not None:
            truth.reason, truth.holders = "reset", set()
        return self.learn(fresh, truth.key, who, truth.source)

    @rule(sight=sights, who=st.sampled_from(WORKERS))
    def turn(self, sight: Session, who: str) -> None:
        truth = self.touch(sight)
        started = self.book.start_turn(sight, self.prefix + who, NO_RULES, at(self.now))
        assert (started is not None) == truth.is_as(sight)
        if started is not None:
            truth.turns += 1
            truth.holders.add(self.prefix + who)

    @rule(sight=sights, limit=st.sampled_from([Limit.MESSAGES, Limit.AGE]))
    def warn(self, sight: Session, limit: Limit) -> None:
        truth = self.touch(sight)
        warned = self.ledger.index.warn(seen(sight), limit, entry(sight), at(self.now))
        assert warned == (truth.is_as(sight) and not truth.warned & limit)
        truth.warned |= limit if warned else 0

    @rule(sight=sights)
    def reschedule(self, sight: Session) -> None:
        truth = self.touch(sight)
        stored = self.ledger.index.reschedule([(sight, Schedule(0, at=at(self.now)))])
        facts = (len(truth.said), truth.turns, at(truth.active), truth.reason)
        assert stored == (facts == (sight.message_count, sight.turn_count, sight.active_at, None))
        truth.due = self.now if stored else truth.due

    @invariant()
    def what_was_touched_is_as_the_model_says(self) -> None:
        if self.touched is not None:
            self.compare(reread(self.ledger, self.touched))

    def teardown(self) -> None:
        for truth in self.truths.values():
            self.compare(reread(self.ledger, truth.first))
            said = [message.content for message in heard(self.ledger, truth.first)]
            assert said == truth.said

    def birth(self, key: str, who: str, source: str) -> Birth:
        return birth(self.prefix + key, worker=self.prefix + who, source=source)

    def learn(self, begun: Session | None, key: str, who: str, source: str) -> Any:
        """Take a new session into the model; the sight of it."""
        if begun is None:
            return multiple()
        holders = {self.prefix + who}
        self.truths[begun.ref] = Truth(begun, key, source, self.now, holders=holders)
        return begun

    def open_of(self, key: str) -> int | None:
        """The row of the key's open session, by the model."""
        mine = ((ref, truth) for ref, truth in self.truths.items() if truth.key == key)
        return next((ref for ref, truth in mine if truth.reason is None), None)

    def touch(self, sight: Session) -> Truth:
        """The truth about the session of a sight, which is to be compared afterwards."""
        self.touched = sight
        return self.truths[sight.ref]

    def compare(self, found: Session) -> None:
        truth = self.truths[found.ref]
        assert found.epoch == truth.epoch
        assert (found.state is State.OPEN, found.end_reason) == (truth.reason is None, truth.reason)
        assert {holder.worker.id for holder in found.holders} == truth.holders
        assert found.message_count == found.byte_count == len(truth.said)
        assert (found.turn_count, found.warned) == (truth.turns, truth.warned)
        assert found.active_at == at(truth.active)
        assert found.due_at == (None if truth.due is None else at(truth.due))


def check_any_history(ledger: Ledger, count: int = 40) -> None:
    """Play that many histories in the ledger."""
    run_state_machine_as_test(
        partial(Histories, ledger),  # type: ignore[arg-type]  # any factory will do
        settings=settings(
            examples(count),
            stateful_step_count=30,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
