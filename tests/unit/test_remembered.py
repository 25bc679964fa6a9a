"""A page that many look at asks each question once."""

from __future__ import annotations

from datetime import timedelta
from itertools import count

from sexton.testing import ManualClock
from sexton.web.memory import SHARE, Remembered


def test_an_answer_is_good_for_a_while_and_asked_anew_about_something_else(
    manual_clock: ManualClock,
) -> None:
    asked = count()
    answer = Remembered(lambda: next(asked), manual_clock, 10.0)
    assert [answer("a"), answer("a")] == [0, 0]
    assert [answer("b"), answer("b")] == [1, 1]
    manual_clock.advance(timedelta(seconds=10))
    assert answer("b") == 2


def test_an_answer_that_took_long_is_not_asked_again_at_once(manual_clock: ManualClock) -> None:
    asked = count()

    def slow() -> int:
        manual_clock.advance(timedelta(seconds=2))
        return next(asked)

    answer = Remembered(slow, manual_clock, 1.0)
    assert [answer("a"), answer("b")] == [0, 0]
    manual_clock.advance(timedelta(seconds=2 * SHARE))
    assert answer("b") == 1
