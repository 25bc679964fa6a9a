"""A process of another program holds sessions of its own home through the ledger."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from sexton.core.plan import Reason
from sexton.core.record import replace
from sexton.core.session import Relation, Session, State
from sexton.errors import BreakerOpen, BudgetExceeded, LedgerBusy
from sexton.homes.home_ports import Sighting
from sexton.integrations.hermes_plugin.guests import Guests
from sexton.integrations.hermes_plugin.plugin_turns import Turns
from sexton.integrations.hermes_plugin.trying import REST, Trying
from sexton.rules.rulebook import Rulebook
from sexton.sessions.visiting import GuestSession, Visitor
from sexton.settings.settings_values import HomeSetting, Settings
from sexton.spending.budget_standing import standings, unpriced, who
from sexton.spending.model import Budget, Scope, Unit
from sexton.spending.policy import Prices, SpendRules
from sexton.store.journal import Entry
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from sexton.wiring.visitor import visit


def told(clock: ManualClock, **facts: object) -> Session:
    now = clock.now()
    return replace(
        Session(ref=0, home="", id="a", key=None, source="cli", started_at=now, active_at=now),
        **facts,
    )


@pytest.fixture
def house(engine_url: str, manual_clock: ManualClock, tmp_path: Path) -> Sexton:
    homes = (HomeSetting(path=tmp_path, name="work", act=True),)
    return Sexton(open_ledger(engine_url), Settings(homes=homes), clock=manual_clock)


def visitor(house: Sexton, path: Path) -> Visitor:
    return visit(house, path, "hermes")


@pytest.mark.parametrize("ended", ["here", "elsewhere", "never"])
def test_what_was_used_in_a_turn_that_is_over_counts_however_its_session_has_ended(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path, ended: str
) -> None:
    scopes = (Scope.SESSION, Scope.TREE, Scope.SOURCE, Scope.DAY)
    put_in_force(house, *(budget(scope, Unit.TOKENS, 1000) for scope in scopes))
    over = {"state": State.ENDED, "ended_at": manual_clock.now(), "end_reason": "cli_close"}
    with house, visitor(house, tmp_path) as here:
        late = told(manual_clock)
        here.tell(late)
        if ended == "here":
            assert house.ledger.book.end_now(house.find("work/a"), "operator", manual_clock.now())
        elif ended == "elsewhere":
            here.tell(replace(late, **over))
        assert here.count_late(late, {Unit.INPUT: 2000, Unit.OUTPUT: 5}, None)
        session = house.find("work/a")
        stands = standings(house.estate(), who(house.estate(), session))
        assert [each.spent for each in stands] == 4 * [2005]
        assert session.holders == ()
        assert session.is_open is (ended == "never")


def test_a_turn_marks_the_holder_busy_and_leaves_the_counts_to_the_home(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    with house, visitor(house, tmp_path) as here:
        guest = here.hold(told(manual_clock, message_count=4, turn_count=2))
        with guest.turn() as turn:
            [holder] = house.find("work/a").holders
            assert (holder.worker.id, holder.busy_since) == (here.id, manual_clock.now())
            manual_clock.advance(timedelta(seconds=5))
            turn.progress()
        [holder] = house.find("work/a").holders
        assert holder.busy_since is None
        seen = house.find("work/a")
        assert (seen.message_count, seen.turn_count) == (4, 2)


def test_leaving_ends_nothing_for_that_is_the_home_s_to_do(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    with house:
        here = visitor(house, tmp_path)
        here.hold(told(manual_clock))
        here.leave()
        found = house.find("work/a")
        assert (found.state, found.holders) == (State.OPEN, ())


def test_an_end_is_told_with_its_counts_and_what_is_open_stays_as_it_was_seen(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    with house, visitor(house, tmp_path) as here:
        here.hold(told(manual_clock, message_count=1))
        here.tell(told(manual_clock, message_count=9))
        assert house.find("work/a").message_count == 1
        manual_clock.advance(timedelta(minutes=1))
        at = manual_clock.now()
        end = {"state": State.ENDED, "ended_at": at, "end_reason": "cli_close"}
        here.tell(told(manual_clock, message_count=9, **end))
        found = house.find("work/a")
        assert (found.message_count, found.end_reason, found.ended_at) == (9, "cli_close", at)
        [member] = house.ledger.removable.relatives("work", named=["a"], below=[])
        assert not member.held, "although this process lives on"
        again = here.hold(told(manual_clock))
        assert house.find("work/a").is_open, "it was resumed"
        assert again.others() == []


@pytest.mark.parametrize("died", ["first", "last"])
def test_who_died_holds_nothing_that_its_home_has_ended(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path, died: str
) -> None:
    with house:
        here = visitor(house, tmp_path)
        here.hold(told(manual_clock))
        [worker] = house.ledger.reaping.suspects()
        dead = [(worker, "process_gone: x")]
        if died == "first":
            house.ledger.reaping.declare(dead, manual_clock.now())
        end = {"state": State.ENDED, "ended_at": manual_clock.now(), "end_reason": "agent_close"}
        seen = Sighting(seen=(told(manual_clock, home="work", **end),), mark={})
        [record] = [each for each in house.ledger.homes.all() if each.name == "work"]
        house.ledger.homes.store(record, seen, None, manual_clock.now())
        assert [each.id for each in house.ledger.reaping.suspects()] == [worker.id], "it holds it"
        house.ledger.reaping.declare(dead, manual_clock.now())
        assert house.ledger.reaping.suspects() == []


def journal_end(house: Sexton, id: str, at: datetime) -> None:
    reason = Reason("closed", "somebody ended it")
    entry = Entry(
        actor="test", receipt=None, home="work", session=id, action="end", result="done",
        reason=reason,
    )  # fmt: skip
    house.ledger.journal.write([entry], at)


def test_a_subagent_stops_after_the_end_that_came_from_here_and_not_after_one_of_its_home(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    child = {"id": "b", "parent": "a", "relation": Relation.SUBAGENT, "source": "subagent"}
    with house, visitor(house, tmp_path) as here:
        here.hold(told(manual_clock))
        here.hold(told(manual_clock, **child))
        assert here.ended_above("b") is None
        first = manual_clock.now()
        journal_end(house, "a", first)
        here.tell(told(manual_clock, state=State.ENDED, ended_at=first, end_reason="closed"))
        above = here.ended_above("b")
        assert above is not None
        assert (above.id, above.end_reason) == ("a", "closed")
        here.tell(told(manual_clock))  # its home has taken it up again
        assert here.ended_above("b") is None
        manual_clock.advance(timedelta(minutes=1))
        later = {"state": State.ENDED, "ended_at": manual_clock.now(), "end_reason": "new_session"}
        here.tell(told(manual_clock, **later))
        assert here.ended_above("b") is None


def test_a_subagent_stops_however_many_began_before_its_conversation_was_compressed(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    with house, visitor(house, tmp_path) as here:
        here.hold(told(manual_clock))
        for number in range(60):
            manual_clock.advance(timedelta(seconds=1))
            child = {"parent": "a", "relation": Relation.SUBAGENT, "source": "subagent"}
            here.tell(told(manual_clock, id=f"child-{number}", **child))
        manual_clock.advance(timedelta(seconds=1))
        over = {"state": State.ENDED, "ended_at": manual_clock.now()}
        here.tell(told(manual_clock, end_reason="compression", **over))
        goes_on = {"id": "z", "parent": "a", "relation": Relation.COMPRESSION}
        here.tell(told(manual_clock, **goes_on))
        assert here.ended_above("child-0") is None
        journal_end(house, "z", manual_clock.now())
        here.tell(told(manual_clock, end_reason="closed", **over, **goes_on))
        above = here.ended_above("child-0")
        assert above is not None
        assert above.id == "z"


def test_a_home_that_is_known_stays_as_it_is(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    with house, visitor(house, tmp_path) as here, visitor(house, tmp_path) as there:
        assert (here.home.name, here.home.act, there.home.ref) == ("work", True, here.home.ref)
        mine, theirs = here.hold(told(manual_clock)), there.hold(told(manual_clock))
        assert (mine.others(), theirs.others()) == ([there.id], [here.id])


def test_the_breaker_remembers_from_one_turn_to_the_next(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    with house, visitor(house, tmp_path) as here:

        def fail(number: int) -> None:
            with here.hold(told(manual_clock)).turn() as turn, turn.tool("t", number) as call:
                call.error(f"error {number}")

        with pytest.raises(BreakerOpen):
            deque(map(fail, range(100)), maxlen=0)
        with pytest.raises(BreakerOpen):
            fail(100)


def budget(scope: Scope, unit: Unit, limit: int) -> Budget:
    return Budget(name=f"{scope}.{unit}", scope=scope, unit=unit, limit=limit)


def put_in_force(house: Sexton, *budgets: Budget) -> None:
    house.settings = replace(
        house.settings, rulebook=Rulebook(spend=SpendRules(budgets=budgets, prices=Prices()))
    )
    house.publish()


def test_a_subagent_spends_from_the_tree_of_its_parent(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    put_in_force(house, budget(Scope.TREE, Unit.TOKENS, 100))
    with house, visitor(house, tmp_path) as here:
        here.hold(told(manual_clock))
        line = {"relation": Relation.SUBAGENT, "source": "subagent"}
        child = here.hold(told(manual_clock, id="b", parent="a", **line))
        grandchild = here.hold(told(manual_clock, id="c", parent="b", **line))
        for session in (child, grandchild):
            with session.turn() as turn:
                turn.reserve(input_tokens=40).commit(input_tokens=40)
        with here.hold(told(manual_clock)).turn() as turn, pytest.raises(BudgetExceeded) as stop:
            turn.reserve(input_tokens=40)
        assert (stop.value.spent, stop.value.budget) == (80, "tree.tokens")


class Present(Guests):
    """The sessions of a process of Hermes, without Hermes."""

    def __init__(self, here: Visitor, clock: ManualClock) -> None:
        super().__init__(lambda: here, clock.now)
        self._here, self._clock = here, clock

    def hold(self, id: str) -> GuestSession:
        return self._here.hold(told(self._clock, id=id))


def meets_trouble() -> None:
    raise LedgerBusy("somebody else writes")


def asks(turns: Turns, turn: str, under_way: Callable[[object], str] = lambda _: "") -> None:
    """A turn with one call of the model, which takes 750 tokens."""
    place = {"session_id": "a", "turn_id": turn, "model": "m", "api_request_id": turn}
    turns.around_model({"messages": []}, under_way, api_mode="anthropic_messages", **place)
    turns.after_model(turn, "m", {"input_tokens": 700, "output_tokens": 50})
    turns.end("a", turn)


def spent(house: Sexton) -> int:
    """The tokens that the ledger has counted for the session."""
    estate = house.estate()
    found = standings(estate, who(estate, house.find("work/a")))
    return next(each.spent for each in found if each.bound.meter.scope is Scope.SESSION)


def test_a_call_that_was_granted_is_counted_although_others_met_trouble_meanwhile(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    """Another chat of the same gateway finds the ledger busy while the model answers this one."""
    put_in_force(house, budget(Scope.SESSION, Unit.TOKENS, 10_000))
    trying = Trying(manual_clock)

    def answers(_: object) -> str:
        trying(meets_trouble, None)
        return "Good morning"

    with house, visitor(house, tmp_path) as here:
        asks(Turns(Present(here, manual_clock), trying, SpendRules), "first", answers)
        assert spent(house) == 750


def test_what_turns_took_without_a_ledger_is_counted_by_a_later_one(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    put_in_force(house, budget(Scope.SESSION, Unit.TOKENS, 10_000))
    trying = Trying(manual_clock)
    with house, visitor(house, tmp_path) as here:
        here.hold(told(manual_clock))
        turns = Turns(Present(here, manual_clock), trying, SpendRules)
        trying(meets_trouble, None)
        asks(turns, "first")
        asks(turns, "second")
        assert spent(house) == 0
        manual_clock.advance(timedelta(seconds=REST))
        asks(turns, "third")
        assert spent(house) == 3 * 750


def test_what_turns_took_without_a_ledger_is_counted_after_a_budget_has_room_again(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    put_in_force(house, budget(Scope.SESSION, Unit.TOKENS, 1000))
    trying = Trying(manual_clock)
    with house, visitor(house, tmp_path) as here:
        turns = Turns(Present(here, manual_clock), trying, SpendRules)
        trying(meets_trouble, None)
        asks(turns, "first")
        with here.hold(told(manual_clock)).turn() as turn:
            turn.reserve(input_tokens=1000).commit(input_tokens=1000)
        manual_clock.advance(timedelta(seconds=REST))
        asks(turns, "refused")
        assert spent(house) == 1000
        put_in_force(house, budget(Scope.SESSION, Unit.TOKENS, 10_000))
        asks(turns, "second")
        assert spent(house) == 1000 + 2 * 750


def test_messages_that_the_home_stores_are_bounded_in_its_session_and_beyond(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    put_in_force(
        house,
        budget(Scope.SESSION, Unit.MESSAGES, 12),
        budget(Scope.SOURCE, Unit.MESSAGES, 3),
    )
    with house, visitor(house, tmp_path) as here:
        guest = here.hold(told(manual_clock, message_count=10))
        with guest.turn() as turn:
            turn.heard(1, guest.grown(1))
            turn.reserve().release()
            turn.heard(1, guest.grown(1))
            with pytest.raises(BudgetExceeded) as stop:
                turn.reserve()
        assert (stop.value.budget, stop.value.spent) == ("session.messages", 12)
        other = here.hold(told(manual_clock, id="b"))
        with other.turn() as turn:
            turn.heard(1, other.grown(1))
            with pytest.raises(BudgetExceeded) as stop:
                turn.reserve()
        assert (stop.value.budget, stop.value.spent) == ("source.messages", 3)


def test_a_loop_of_messages_ends_where_no_person_writes_and_nowhere_else(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    with house, visitor(house, tmp_path) as here:
        for source in ("cli", "cron"):
            guest = here.hold(told(manual_clock, id=source, source=source))
            with guest.turn() as turn:
                turn.heard(150, guest.grown(150))
                if source == "cli":
                    turn.reserve().release()
                    continue
                with pytest.raises(BudgetExceeded):
                    turn.reserve()
        assert (here.ended("cli"), here.ended("cron")) == (None, "budget:runaway.messages")


def test_without_a_price_money_is_not_bounded_and_the_journal_says_so_once(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    put_in_force(house, budget(Scope.SESSION, Unit.USD, 5), budget(Scope.SESSION, Unit.TOKENS, 100))
    with house, visitor(house, tmp_path) as here:
        for _ in range(2):
            with here.hold(told(manual_clock)).turn() as turn:
                turn.reserve(input_tokens=40, model="nobody's").commit(input_tokens=40)
                turn.beside({Unit.INPUT: 10}, "nobody's")
        assert turn.unpriced() == {"nobody's"}
        session = house.find("work/a")
        with pytest.raises(BudgetExceeded) as stop:
            here.hold(told(manual_clock)).turn().__enter__()
        assert (stop.value.budget, stop.value.spent) == ("session.tokens", 100)
        assert unpriced(house.estate(), session) == ["nobody's"]
        codes = [each.reason.code for each in house.ledger.journal.page(session, None, None, 9)]
        assert codes.count("price_unknown:nobody's") == 1


def test_tools_that_were_stopped_are_so_until_they_have_rested(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    with house, visitor(house, tmp_path) as here, here.hold(told(manual_clock)).turn() as turn:
        for number in range(9):
            assert turn.tools_stopped() is None
            with turn.tool("t", number) as call:
                call.error(f"error {number}")
        assert turn.tools_stopped() is not None
        manual_clock.advance(timedelta(seconds=61))
        assert turn.tools_stopped() is None
