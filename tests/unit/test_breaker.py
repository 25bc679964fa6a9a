"""When do tools that keep failing stop, and who may try again first?"""

from __future__ import annotations

from datetime import timedelta

from sexton.spending.breaker import (
    CLOSED,
    Breaker,
    admit,
    closed_until,
    failed,
    succeeded,
    warning,
)
from sexton.spending.policy import BreakerPolicy

USUAL = BreakerPolicy()


def after(errors: int, policy: BreakerPolicy = USUAL) -> Breaker:
    state = CLOSED
    for number in range(errors):
        state = failed(state, f"tool{number % 2}", policy, 100.0)
    return state


def test_warnings_come_at_three_six_and_nine_errors_in_a_row() -> None:
    told = [errors for errors in range(12) if warning(after(errors), USUAL)]
    assert told == [3, 6, 9, 10, 11]
    words = [warning(after(errors), USUAL) or "" for errors in (3, 6, 9)]
    assert len(set(words)) == 3
    assert all("tool0" in each and "tool1" in each for each in words)
    assert "ask" in words[2]


def test_a_success_begins_anew() -> None:
    assert succeeded(after(8)) == CLOSED
    assert warning(failed(succeeded(after(8)), "t", USUAL, 0), USUAL) is None


def test_it_opens_at_the_last_warning_and_stays_open_while_it_cools_down() -> None:
    assert admit(after(8), USUAL, 100.0) is not None
    open_ = after(9)
    assert closed_until(open_, USUAL) == 160.0
    assert admit(open_, USUAL, 159.9) is None


def test_one_call_tries_again_and_decides() -> None:
    trying = admit(after(9), USUAL, 160.0)
    assert trying is not None
    assert admit(trying, USUAL, 160.0) is None
    assert admit(trying, USUAL, 219.0) is None
    assert succeeded(trying) == CLOSED
    again = failed(trying, "t", USUAL, 170.0)
    assert admit(again, USUAL, 229.0) is None
    assert admit(again, USUAL, 230.0) is not None


def test_a_try_of_which_nothing_is_heard_does_not_keep_tools_closed_for_ever() -> None:
    trying = admit(after(9), USUAL, 160.0)
    assert trying is not None
    assert admit(trying, USUAL, 220.0) is not None


def test_the_steps_and_the_rest_can_be_set() -> None:
    strict = BreakerPolicy(warn_at=(1, 2), cool_down=timedelta(seconds=5))
    assert admit(after(2, strict), strict, 104.9) is None
    assert admit(after(2, strict), strict, 105.0) is not None
    assert warning(after(1, strict), strict)
