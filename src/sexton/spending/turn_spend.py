"""What does a turn spend: foreseen before a call, settled after it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import NamedTuple, NoReturn

from sexton.core.locks import shared_lock
from sexton.core.plan import Reason
from sexton.core.session import NATIVE, Session
from sexton.core.usage import Usage
from sexton.errors import LedgerError, PriceUnknown, SextonError, UsageInvalid
from sexton.liveness.policy import UNATTENDED
from sexton.sessions.worker_context import Desk
from sexton.spending.budgets import fits, is_near, is_reached, near, tokens, turn_limits
from sexton.spending.grant import Grant, checked
from sexton.spending.guard import Guard
from sexton.spending.model import Act, Bound, Budget, Granted, Meter, Scope, Slot, Standing, Unit
from sexton.spending.policy import SpendRules
from sexton.spending.pricing import UNPRICED, Tariff, cost, own_tariff
from sexton.spending.tool_watch import ToolWatch

NOTHING = Usage()


class TurnSpend:
    """What one turn has spent, and what it holds."""

    def __init__(
        self,
        guard: Guard,
        session: Callable[[], Session],
        moved: Callable[[], bool],
        *,
        fenced: bool = True,
    ) -> None:
        self._guard = guard
        self._is_fenced = fenced
        self._session = session
        self._moved = moved
        self._desk: Desk = guard.desk
        self._lock = shared_lock()
        self._own = TurnCounts()
        self._near: set[tuple[str, bool]] = set()
        self._limited: tuple[SpendRules | None, tuple[Budget, ...]] = (None, ())
        self._clocked = self._began = self._desk.clock.monotonic()

    def enter(self) -> None:
        """Count an iteration, or BudgetExceeded if there is no room for a turn."""
        self._check(begins=True)
        self._count_own({Unit.ITERATIONS: 1})
        self._at_once(Unit.ITERATIONS)

    def reserve(self, amounts: Mapping[Unit, int], model: str | None) -> Grant:
        """Room for one call in every budget, or BudgetExceeded; nothing is spent then."""
        amounts = {unit: checked(amount) for unit, amount in amounts.items()}
        self._guard.check_pace(self._session())
        self._pass_time()
        tariff, held = self._tariff(model), tokens(amounts)
        if tariff is not None:
            held[Unit.USD] = tariff(amounts)
        grant = Grant(self, held, tariff)
        try:
            self._count_own(held, grant)
            self._hold(grant)
            if tariff is not None or Unit.USD not in self._guard.counted:
                return grant
            self._cancel(grant)  # as somebody has just said that money counts
            if grant.iteration and Unit.ITERATIONS in self._guard.counted:
                self._guard.take(self._session(), at_once={Unit.ITERATIONS: -1}, limited=False)
        except SextonError as trouble:
            self._drop(grant)
            if isinstance(trouble, LedgerError):  # it may have stored the reservation all the same
                # Another grant may have the slot by then; settling an earlier one changes nothing.
                self._desk.turns.later(partial(self._settle, grant, {}, NOTHING))
            raise
        except BaseException:  # out of a signal handler, perhaps after the ledger stored it
            with suppress(LedgerError):  # then the end of the turn gives it back
                self._cancel(grant)
            raise
        return self.reserve(amounts, model)

    def _hold(self, grant: Grant) -> None:
        """Have the ledger reserve what is foreseen."""
        ref, worker, now = self._session().ref, self._desk.worker, self._desk.clock.now()
        asked = Granted(self._desk.slots.take(), ref, worker, now, places=None)
        grant.granted = asked
        if not grant.is_settled:  # else a signal handler has just ended the turn
            grant.granted = self._take(grant, asked.name) or asked._replace(places=())

    def _cancel(self, grant: Grant) -> None:
        """Give back what the ledger holds, if anything, as if it had never been asked for."""
        self._settle(grant, {}, NOTHING)
        self._drop(grant)

    def _drop(self, grant: Grant) -> None:
        """Forget a reservation of which nothing is held; it may be repeated."""
        if grant in self._own.grants:
            self._change(lambda own: own.dropped(grant))
            self._free_slot(grant)

    def before_tool(self) -> None:
        """Count a call of a tool, or BudgetExceeded."""
        self._pass_time()
        self._check()
        self._count_own({Unit.TOOL_CALLS: 1})
        self._at_once(Unit.TOOL_CALLS)
        self._guard.pulse.beat(tool_calls=1)

    def tell(self, advice: str) -> None:
        """Keep what the model is to be told."""
        self._guard.tell(advice)

    def stopped(self, code: str, why: str) -> None:
        """Tools are stopped: unattended the session ends, attended somebody is told."""
        session, reason = self._session(), Reason(f"breaker:{code}", why)
        if session.source in UNATTENDED:
            self._guard.end(session, reason, forced=True)
        else:
            entry = self._desk.entry(session, "pause", reason)
            self._desk.ledger.journal.write([entry], self._desk.clock.now())

    def settle(self, grant: Grant, used: dict[Unit, int]) -> None:
        """Put what was used in place of what was held; it may be repeated until it succeeds."""
        counted = tokens(used)
        usage = Usage(
            input_tokens=used.get(Unit.INPUT, 0),
            output_tokens=used.get(Unit.OUTPUT, 0),
            cached_tokens=used.get(Unit.CACHED, 0),
            reasoning_tokens=used.get(Unit.REASONING, 0),
            cost_micros=used.get(Unit.USD, 0),
        )
        self._settle(grant, counted, usage)
        # Only now: where the ledger is busy, the same may be tried again.
        self._change(lambda own: own.settled(grant, counted))
        grant.is_settled = True
        self._free_slot(grant)  # last, as a slot that is free twice names two grants
        self._guard.pulse.beat(tokens=counted.get(Unit.TOKENS, 0))

    def _settle(self, grant: Grant, used: Mapping[Unit, int], usage: Usage) -> None:
        granted = grant.granted
        if granted is not None and (granted.places != () or used):
            self._desk.ledger.spending.settle(granted, self._session().ref, used, usage)

    def _free_slot(self, grant: Grant) -> None:
        if grant.granted is not None:
            self._desk.slots.give_back(grant.granted.name)

    def heard(self, messages: int) -> None:
        """Count messages that the home has stored; what comes next is refused if need be."""
        self._passed({Unit.MESSAGES: messages})
        self._guard.pulse.beat(messages=messages)

    def beside(self, used: Mapping[Unit, int], model: str | None) -> None:
        """Count what was used without asking."""
        tariff = self._tariff(model)
        cost = {} if tariff is None else {Unit.USD: tariff(used)}
        counted = {**tokens(used), **cost}
        self._passed(counted)
        self._guard.pulse.beat(tokens=counted.get(Unit.TOKENS, 0))

    def _passed(self, amounts: Mapping[Unit, int]) -> None:
        """Count what has happened already, whatever the limits are."""
        self._change(lambda own: own.spending(amounts))
        counted = {unit: each for unit, each in amounts.items() if unit in self._guard.counted}
        if counted:
            self._guard.take(self._session(), at_once=counted, limited=False)

    def leave(self) -> None:
        """Count the time that has passed; the turn is over."""
        self._pass_time(limited=False)

    def close(self) -> tuple[Grant, ...]:
        """Hold nothing more; what is held still."""
        return self._change(TurnCounts.closed).grants

    def watch(self) -> ToolWatch:
        """A watch over the tools of the session that goes on where the last one left off."""
        watch = ToolWatch(self._desk.clock, lambda: self._guard.rules.breaker)
        watch.restore(self._desk.ledger.spending.snapshot(self._session().ref))
        return watch

    def _take(self, grant: Grant, slot: Slot) -> Granted | None:
        while True:
            session = self._session()
            taken = self._guard.take(
                session, grant.amounts, grant.iteration, fenced=self._is_fenced, slot=slot
            )
            if taken is not None:
                return taken.grant
            if not self._moved():
                raise self._desk.refusal(session)

    def _at_once(self, unit: Unit) -> None:
        """Count one more of a unit, where anybody counts it."""
        if unit in self._guard.counted:
            self._guard.take(self._session(), at_once={unit: 1}, fenced=self._is_fenced)

    def _check(self, *, begins: bool = False) -> None:
        """The session is there still, and nothing bids it stop."""
        while not self._guard.check(self._session(), begins=begins, fenced=self._is_fenced):
            if not self._moved():
                raise self._desk.refusal(self._session())

    def _pass_time(self, *, limited: bool = True) -> None:
        """Count the time since this was last asked; it has passed, whatever the limit is."""
        now = self._desk.clock.monotonic()
        with self._lock:
            passed = int(1000 * (now - self._clocked))
            self._clocked += passed / 1000
        if Unit.WALL in self._guard.counted:
            self._guard.take(self._session(), at_once={Unit.WALL: passed}, limited=False)
        if limited:
            self._count_own({Unit.WALL: passed})

    def _count_own(self, amounts: Mapping[Unit, int], grant: Grant | None = None) -> None:
        """Count what this turn spends, or what a grant is to hold, or BudgetExceeded."""
        session = self._session()
        limits = self._limits(session)
        bounded: list[Budget] = []

        def counted(own: TurnCounts) -> TurnCounts:
            asked = amounts
            if grant is None:
                after = own.spending(amounts)
            else:  # the first call of a turn is the iteration that the turn began with
                grant.iteration = {} if own.first is None else {Unit.ITERATIONS: 1}
                after, asked = own.holding(grant), {**amounts, **grant.iteration}
            bounded[:] = [budget for budget in limits if budget.unit in asked]
            for budget in bounded:
                total = after.total(budget.unit)
                if not fits(budget.limit, total, 0) and budget.action is not Act.WARN:
                    self._refuse(session, own, budget, asked[budget.unit])
            return after

        after = self._change(counted)
        for budget in bounded:
            total = after.total(budget.unit)
            told = budget.name, is_reached(budget.limit, total)
            if is_near(budget.limit, total) and told not in self._near:
                self._near.add(told)
                self._guard.tell(near(budget, total, is_spent=told[1]))

    def _change(self, change: Callable[[TurnCounts], TurnCounts]) -> TurnCounts:
        """Replace the counts in one step; the lock keeps threads out, but no signal handler."""
        with self._lock:
            while True:
                before = self._own
                after = change(before)
                if self._own is before:  # else a handler of this thread has counted meanwhile
                    self._own = after
                    return after

    def _limits(self, session: Session) -> tuple[Budget, ...]:
        """The budgets of this turn, looked up once for the same rules."""
        rules = self._guard.rules
        known, found = self._limited
        if known is not rules:
            found = tuple(turn_limits(rules.budgets, session.source))
            self._limited = (rules, found)
        return found

    def _refuse(self, session: Session, own: TurnCounts, budget: Budget, asked: int) -> NoReturn:
        """Stop for a budget of turns, which is counted here only."""
        held, total = own.held(budget.unit), own.total(budget.unit)
        if budget.unit is Unit.WALL:  # it has passed, whatever the limit is
            total, asked = total + asked, 0
        bound = Bound(meter=Meter(Scope.TURN, "", budget.unit), budgets=(budget,))
        standing = Standing(0, bound, total - held, held, 0, None)
        self._guard.stop(session, standing, budget, asked)

    def _tariff(self, model: str | None) -> Tariff | None:
        """What the model costs; where money is counted, one that nobody knows is an error."""
        if model is not None and not isinstance(model, str):
            raise UsageInvalid(f"a model has a name, not a {type(model).__name__}")
        prices = self._guard.rules.prices
        found = own_tariff(prices, model) if model else None
        if found is not None:
            return found
        turn = {each.unit for each in self._limits(self._session())}
        if Unit.USD not in self._guard.counted | turn:
            return None
        found = self._desk.tariff(model) if model else None
        if found is None and prices.unknown is not None:
            return partial(cost, prices.unknown)
        if found is None and self._session().home != NATIVE:
            self._note_unpriced(model or "that was not named")
            return _nothing
        if found is None:
            raise PriceUnknown(f"the price of the model {model or 'that was not named'} is unknown")
        return found

    def _note_unpriced(self, model: str) -> None:
        """Tell people, once, that the money of another program's session is not bounded."""
        known, desk = self._guard.unpriced, self._desk
        with self._lock:
            is_new = model not in known
            known.add(model)
        if is_new:
            words = f"the price of the model {model} is unknown, so its money is not bounded"
            entry = desk.entry(self._session(), "warn", Reason(f"{UNPRICED}:{model}", words))
            desk.ledger.journal.write([entry], desk.clock.now())


def _nothing(_amounts: Mapping[Unit, int]) -> int:
    return 0


class TurnCounts(NamedTuple):
    """What is spent for certain, and the grants that are not settled.

    `first` is the grant whose call is the iteration that the turn began with.
    """

    spent: Mapping[Unit, int] = {}
    grants: tuple[Grant, ...] = ()
    first: Grant | None = None
    is_closed: bool = False

    def held(self, unit: Unit) -> int:
        """What the open grants hold of a unit."""
        return sum([grant.held(unit) for grant in self.grants])

    def total(self, unit: Unit) -> int:
        """What counts against a limit; an iteration counts from its reservation on."""
        iterations = sum([grant.iteration.get(unit, 0) for grant in self.grants])
        return self.spent.get(unit, 0) + self.held(unit) + iterations

    def spending(self, amounts: Mapping[Unit, int]) -> TurnCounts:
        """The same after more was spent."""
        total = {unit: self.spent.get(unit, 0) + amount for unit, amount in amounts.items()}
        return self._replace(spent={**self.spent, **total})

    def holding(self, grant: Grant) -> TurnCounts:
        """The same with one more grant; UsageInvalid once the turn is over."""
        if self.is_closed:  # a signal handler or a thread has ended it since it was asked
            raise UsageInvalid("the turn is over")
        return self._replace(grants=(*self.grants, grant), first=self.first or grant)

    def closed(self) -> TurnCounts:
        """The same at the end of the turn."""
        return self._replace(is_closed=True)

    def settled(self, grant: Grant, used: Mapping[Unit, int]) -> TurnCounts:
        """The same after a grant was settled; once, however often it is tried."""
        if grant not in self.grants:
            return self
        return self._without(grant).spending(used).spending(grant.iteration)

    def dropped(self, grant: Grant) -> TurnCounts:
        """The same as if a grant had never been asked for."""
        return self._without(grant)._replace(first=None if self.first is grant else self.first)

    def _without(self, grant: Grant) -> TurnCounts:
        return self._replace(grants=tuple([each for each in self.grants if each is not grant]))
