"""Exceptions out of signal handlers keep no reservation, and handlers may reserve at any moment."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sexton.errors import BudgetExceeded, LedgerBusy, SextonError, UsageInvalid
from sexton.rules.rulebook import Rulebook
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.turn import Turn
from sexton.settings.settings_values import Settings
from sexton.spending.grant import Grant
from sexton.spending.model import Act, Budget, Scope, Unit
from sexton.spending.policy import SpendRules
from sexton.spending.slots import Slots
from sexton.spending.turn_spend import TurnSpend
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from tests.interrupting import Interrupt, at_every_step, interrupted_at_every_step

BOUND = 240.0
LIMIT = 10


@contextmanager
def bounded(url: str, clock: ManualClock) -> Iterator[OpenSession]:
    """A session in which one call has room, in the ledger and in a turn."""
    budgets = tuple(
        Budget(name=scope, scope=scope, unit=Unit.TOKENS, limit=LIMIT, action=Act.PAUSE)
        for scope in (Scope.SESSION, Scope.TURN)
    )
    settings = Settings(rulebook=Rulebook(spend=SpendRules(budgets=budgets)))
    with Sexton(open_ledger(url, patience=BOUND), settings, clock=clock) as house:
        house.publish()
        with house.worker() as worker:
            yield worker.session("a", source="telegram")


def reserve(turn: Turn) -> bool:
    """Whether one call has room; it is given back."""
    try:
        turn.reserve(max_output_tokens=LIMIT).release()
    except BudgetExceeded:
        return False
    return True


def came_while_reserving(problem: Interrupt) -> bool:
    """Whether the exception came before the grant was on its way out.

    Where it came from tells, not how many steps there are: they differ from run to run, as now
    and then a write waits for another one or looks after the log.
    """
    frames = [frame.f_code for frame, _ in traceback.walk_tb(problem.__traceback__)]
    return TurnSpend.reserve.__code__ in frames


def test_a_reservation_is_given_back_wherever_an_exception_interrupts_it(
    engine_url: str, manual_clock: ManualClock
) -> None:
    """At once; if the exception comes when the grant was on its way out, with the turn."""
    with bounded(engine_url, manual_clock) as session:
        turn = session.turn()
        runs = interrupted_at_every_step(lambda: turn.reserve(max_output_tokens=LIMIT))
        while_reserving = 0
        is_over = False
        while not is_over:
            turn = session.turn()
            has_room = True
            with turn:
                for problem in runs:
                    if problem is not None:
                        has_room = reserve(turn)
                        is_early = came_while_reserving(problem)
                        assert has_room or not is_early, traceback.format_exception(problem)
                        while_reserving += is_early
                    break
                else:
                    is_over = True
            if not has_room:
                with session.turn() as later:
                    assert reserve(later)
        assert while_reserving > LIMIT


def test_a_signal_handler_may_reserve_at_every_step_of_a_reservation(
    new_file: Path, manual_clock: ManualClock
) -> None:
    with bounded(str(new_file), manual_clock) as session, session.turn() as turn:
        half = LIMIT // 2
        steps: list[object] = []

        def reserve_half() -> None:
            turn.reserve(max_output_tokens=half).release()

        def reserve_or_be_refused() -> None:
            with suppress(LedgerBusy):  # in the middle of a write of its own thread
                reserve_half()

        def reserve_within() -> None:
            try:
                steps.extend(at_every_step(reserve_half, meanwhile=reserve_or_be_refused))
            finally:
                over.set()

        over = threading.Event()
        threading.Thread(target=reserve_within, daemon=True).start()
        assert over.wait(BOUND)
        assert len(steps) > LIMIT
        assert reserve(turn)


def test_a_signal_handler_may_end_the_turn_at_every_step_of_a_reservation(
    new_file: Path, manual_clock: ManualClock
) -> None:
    with bounded(str(new_file), manual_clock) as session:
        turn, is_over, over = session.turn(), False, threading.Event()
        grants: list[Grant] = []
        refused: list[SextonError] = []
        kept: list[bool] = []

        def reserve_all() -> None:
            try:
                grants.append(turn.reserve(max_output_tokens=LIMIT))
            except (UsageInvalid, LedgerBusy) as problem:
                refused.append(problem)

        def end() -> None:
            turn.__exit__(None, None, None)

        runs = at_every_step(reserve_all, meanwhile=end)

        def reserve_within() -> None:
            nonlocal turn, is_over
            try:
                while not is_over:
                    turn = session.turn()
                    with turn:
                        is_over = next(runs, runs) is runs
                    with session.turn() as later:
                        # As the heartbeat does: an end within a write could not be stored then.
                        turn._desk.turns.repeat()
                        kept.append(not reserve(later))
            finally:
                over.set()

        threading.Thread(target=reserve_within, daemon=True).start()
        assert over.wait(BOUND)
        assert is_over
        assert not any(kept)
        assert all(grant.is_settled for grant in grants)
        assert len(grants) > LIMIT
        assert refused


def test_a_signal_handler_may_name_a_grant_while_its_thread_names_one() -> None:
    slots, names = Slots(), []
    over = threading.Event()

    def name() -> None:
        slot = slots.take()
        names.append(slot)
        slots.give_back(slot)

    def name_within() -> None:
        for _ in at_every_step(name, meanwhile=name):
            assert len({slot.slot for slot in names}) <= 2
        over.set()

    threading.Thread(target=name_within, daemon=True).start()
    assert over.wait(BOUND)
    assert len(names) > LIMIT
