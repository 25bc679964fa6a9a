"""May a session spend, and what happens when it may not?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NoReturn

from sexton.core.locks import shared_lock
from sexton.core.plan import Reason
from sexton.core.record import replace
from sexton.core.session import Session
from sexton.errors import BudgetExceeded
from sexton.liveness.policy import UNATTENDED
from sexton.rules.rulebook import InForce, Rulebook
from sexton.sessions.forced_end import EndInHome, end_for
from sexton.sessions.worker_context import Desk
from sexton.spending.budgets import (
    action_of,
    bounds,
    fits,
    free_from,
    is_reached,
    is_spent,
    near,
    nearly,
    said,
    shown,
    tokens,
)
from sexton.spending.model import (
    Act,
    Bound,
    Budget,
    Mark,
    Meter,
    Refused,
    Scope,
    Slot,
    Spend,
    Standing,
    Taken,
    Unit,
    Who,
)
from sexton.spending.policy import SpendRules
from sexton.spending.pulse import Pulse
from sexton.spending.runaway import WINDOW, Excess, pace_of
from sexton.store.journal import Entry

if TYPE_CHECKING:
    from sexton.spending.tool_watch import ToolWatch

_OF_TURNS = "The next turn begins anew; sexton.yaml says under budgets what a turn may spend."
_EVER = datetime(1970, 1, 1, tzinfo=UTC)


class Guard:
    """What one process spends in a session, and what it has to tell the model; thread-safe."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.counted: frozenset[Unit] = frozenset()
        self.pulse = Pulse(desk.clock.monotonic)
        self._in_force = desk.rules(None)
        self._lock = shared_lock()
        self._roots: dict[int, int] = {}
        self._bounds: tuple[tuple[Rulebook, int, int] | None, tuple[Bound, ...]] = (None, ())
        self._advice: list[str] = []
        self._told: dict[tuple[Meter, Budget, bool], datetime] = {}
        self._stopped_for: str | None = None
        self._reset: Reason | None = None
        self._paused: set[str] = set()
        self._turns = 0
        self.end_in_home: EndInHome | None = None
        self._watch: ToolWatch | None = None
        self.unpriced: set[str] = set()

    @property
    def rules(self) -> SpendRules:
        return self._in_force.rules.spend

    def learn(self, in_force: InForce) -> None:
        """Go by newer rules, whichever handle heard of them first."""
        if in_force.serial > self._in_force.serial:
            self._in_force = in_force

    def tell(self, advice: str) -> None:
        """Keep what the model is to be told, once."""
        with self._lock:
            if advice not in self._advice:
                self._advice.append(advice)

    def advice(self) -> str | None:
        """What to tell the model now, if anything; it is said once."""
        with self._lock:
            told, self._advice = self._advice, []
        return "\n".join(told) or None

    def bounds(self, session: Session, now: datetime) -> tuple[Bound, ...]:
        """What bounds the spending of a session now."""
        rules = self._in_force.rules
        # Days and slices begin with a second, so within one the answer is the same.
        asked = (rules, session.ref, int(now.timestamp()))
        known, found = self._bounds
        if known is None or known[0] is not rules or known[1:] != asked[1:]:
            who = self.who(session)
            found = bounds(rules.spend.budgets, who, rules.reset.timezone, now)
            self._bounds = (asked, found)
        return found

    def who(self, session: Session) -> Who:
        """The session as budgets see it; its tree is looked up once."""
        if session.ref not in self._roots:
            self._roots[session.ref] = self.desk.ledger.spending.root(session.ref)
        return Who(session.ref, self._roots[session.ref], session.source)

    def watch(self, make: Callable[[], ToolWatch]) -> ToolWatch:
        """The watch over the tools of the session in this process."""
        with self._lock:
            if self._watch is None:
                self._watch = make()
            return self._watch

    def snapshot(self) -> str | None:
        """What is to be remembered of how the tools do."""
        return None if self._watch is None else self._watch.snapshot()

    def before_turn(self) -> None:
        """A turn of this process runs: what is to be reset waits for its end."""
        with self._lock:
            self._turns += 1
            self._paused.clear()

    def after_turn(self) -> Reason | None:
        """The turn is over; why the session is now to be reset, if it is."""
        with self._lock:
            self._turns -= 1
            reason = None if self._turns else self._reset
            if reason is not None:
                self._reset = None
        return reason

    def check(self, session: Session, *, begins: bool = False, fenced: bool = True) -> bool:
        """Nothing has run away and no budget is spent; False if the session is not there now.

        Unless it is `fenced` it need not be: what its home goes on with counts all the same.
        """
        self.check_pace(session)
        found = self.look(session, fenced=fenced)
        if found is None:
            return False
        self._warn(session, found, self.desk.clock.now())
        for standing in found:
            budget = standing.bound.limit()
            if budget and is_spent(budget, standing.spent, standing.added, begins=begins):
                self.stop(session, standing, budget)
        return True

    def look(self, session: Session, *, fenced: bool = True) -> Sequence[Standing] | None:
        """How every budget of the session stands; those count from now on. None if it is gone."""
        now = self.desk.clock.now()
        epoch = session.epoch if fenced else None
        bounds = self.bounds(session, now)
        found = self.desk.ledger.spending.look(self.who(session), epoch, bounds, now)
        if found is not None:
            self.counted = frozenset(standing.bound.meter.unit for standing in found)
        return found

    def check_pace(self, session: Session) -> None:
        """Nothing has run away."""
        policy = pace_of(self.rules.runaway, session)
        found = self.pulse.excess(policy)
        if found is None:
            self._stopped_for = None
        else:
            self._run_away(session, found)
        self.pulse.warn(self.desk, session, policy)

    def take(
        self,
        session: Session,
        held: Mapping[Unit, int] | None = None,
        at_once: Mapping[Unit, int] | None = None,
        *,
        limited: bool = True,
        fenced: bool = True,
        slot: Slot | None = None,
    ) -> Taken | None:
        """Count a spend, or BudgetExceeded; None if the session is not there any more."""
        now = self.desk.clock.now()
        wanted = Spend(
            who=self.who(session),
            worker=self.desk.worker,
            bounds=self.bounds(session, now),
            held=None if held is None else tokens(held),
            at_once=at_once,
            limited=limited,
            epoch=session.epoch if limited and fenced else None,
            slot=slot,
        )
        taken = (spending := self.desk.ledger.spending).take(wanted, now)
        if isinstance(taken, Refused) and taken.standing.reserved and self.desk.reclaim():
            taken = spending.take(wanted, now)  # what the dead held is there again
        if isinstance(taken, Refused):
            unit = taken.budget.unit
            asked = (wanted.held or {}).get(unit, 0) + (wanted.at_once or {}).get(unit, 0)
            self.stop(session, taken.standing, taken.budget, asked)
        if taken is not None:
            self.counted |= {standing.bound.meter.unit for standing in taken.standings}
            self._warn(session, taken.standings, now)
        return taken

    def messages(self, session: Session, count: int) -> Spend:
        """What is spent by so many messages, which are stored whatever the limits are."""
        return Spend(
            who=self.who(session),
            worker=self.desk.worker,
            bounds=self.bounds(session, self.desk.clock.now()),
            at_once={Unit.MESSAGES: count},
            limited=False,
        )

    def stop(
        self, session: Session, standing: Standing, budget: Budget, asked: int = 0
    ) -> NoReturn:
        """Do what happens at the limit if it is reached, and refuse by BudgetExceeded.

        It is reached as well if a call does not fit into what is left: the next one of its kind
        would not either. What is only held may be given back, and what is more than the whole
        limit may be a mistake, so nothing but a refusal follows from these.
        """
        room = replace(budget, limit=budget.limit + standing.added)
        until = free_from(standing.bound, standing.oldest)
        words = said(room, standing.spent) + _waiting(budget.unit, standing.reserved, asked)
        reason = Reason(f"budget:{budget.name}", words)
        action = action_of(budget, session.source)
        has_room, did = fits(room.limit, standing.spent, asked), "is stopped"
        too_little = not has_room and fits(room.limit, 0, asked)
        if not (too_little or is_reached(room.limit, standing.spent)):
            if not has_room:
                self._note(standing, budget, self.desk.entry(session, "pause", reason))
        elif action is Act.RESET and self._turns:
            self._reset = reason  # when the turn is over
            did = "is reset after this turn"
        elif action in (Act.KILL, Act.RESET):
            self.end(session, reason, forced=action is Act.KILL)
            did = "has ended"
        else:
            self._note(standing, budget, self.desk.entry(session, action.value, reason))
        when = f", until {until:%Y-%m-%d %H:%M} UTC" if until else ""
        raise BudgetExceeded(
            f"the session {session.id} {did} by a budget of its own{when}: {words}",
            budget=budget.name,
            spent=standing.spent,
            limit=room.limit,
            until=until,
            held=standing.reserved,
            asked=asked,
            **({"hint": _OF_TURNS} if budget.scope is Scope.TURN else {}),
        )

    def _note(self, standing: Standing, budget: Budget, entry: Entry) -> None:
        """Tell people of a limit, once."""
        now = self.desk.clock.now()
        if standing.counter:
            mark = Mark(standing.counter, True, budget.limit, self._since(budget))
            self.desk.ledger.spending.mark(mark, entry, now)
        elif budget.name not in self._paused:  # a turn's own is counted nowhere else
            self._paused.add(budget.name)
            self.desk.ledger.journal.write([entry], now)

    def end(self, session: Session, reason: Reason, *, forced: bool) -> None:
        """End the session for that reason; without force only if it rests and is not pinned."""
        end_for(self.desk, session, reason, self.end_in_home, forced=forced)

    def _run_away(self, session: Session, found: Excess) -> None:
        words = f"{found.found} {found.what.replace('_', ' ')} in a minute, {found.limit} at most"
        reason = Reason(f"budget:{found.budget}", words)
        if session.source in UNATTENDED:
            self.end(session, reason, forced=True)
        elif self._stopped_for != found.budget:
            entry = self.desk.entry(session, Act.PAUSE.value, reason)
            self.desk.ledger.journal.write([entry], self.desk.clock.now())
        self._stopped_for = found.budget
        raise BudgetExceeded(
            f"the session {session.id} has run away: {words}",
            budget=found.budget,
            spent=found.found,
            limit=found.limit,
            until=self.desk.clock.now() + timedelta(seconds=WINDOW),
            hint="Wait a minute, or say under runaway in sexton.yaml how fast is too fast.",
        )

    def _warn(self, session: Session, standings: Iterable[Standing], now: datetime) -> None:
        """Tell of each budget that is nearly spent, and again when it is; in each span anew."""
        for standing in standings:
            total = standing.spent + standing.reserved
            for budget in nearly(standing.bound.budgets, total, standing.added):
                is_over = is_reached(budget.limit, standing.spent)
                about, since = (standing.bound.meter, budget, is_over), self._since(budget)
                if self._told.get(about, since) > since:
                    continue
                self._told[about] = now
                self.tell(near(budget, total, is_spent=is_over))
                reason = Reason(f"near_budget:{budget.name}", said(budget, total))
                mark = Mark(standing.counter, False, budget.limit, since)
                self.desk.ledger.spending.mark(mark, self.desk.entry(session, "warn", reason), now)

    def _since(self, budget: Budget) -> datetime:
        """Whoever was told of a limit before is told again in the next span."""
        return _EVER if budget.per is None else self.desk.clock.now() - budget.per


def _waiting(unit: Unit, held: int, asked: int) -> str:
    amounts = {"held": held, "asked for": asked}.items()
    return "".join(f"; {shown(unit, amount)} {word}" for word, amount in amounts if amount)
