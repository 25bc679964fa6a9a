"""Does the manual clock keep the promises of a clock?"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import pytest

from sexton.core.machine_ports import Clock
from sexton.testing import ManualClock


def test_the_manual_clock_is_a_clock() -> None:
    clock: Clock = ManualClock()
    assert clock.now().tzinfo is UTC
    assert clock.monotonic() == 0.0


def test_time_stands_still_until_it_is_moved() -> None:
    clock = ManualClock()
    assert (clock.now(), clock.monotonic()) == (clock.now(), clock.monotonic())


def test_advancing_moves_both_clocks() -> None:
    clock = ManualClock(datetime(2026, 3, 1, tzinfo=UTC))
    assert clock.advance(timedelta(minutes=1)) == datetime(2026, 3, 1, 0, 1, tzinfo=UTC)
    clock.advance(0.5)
    assert clock.now() == datetime(2026, 3, 1, 0, 1, 0, 500_000, tzinfo=UTC)
    assert clock.monotonic() == 60.5


def test_sleeping_takes_no_real_time_but_lets_time_pass() -> None:
    clock = ManualClock()
    before = clock.now()
    clock.sleep(86_400)
    assert clock.now() - before == timedelta(days=1)
    assert clock.monotonic() == 86_400


def test_setting_the_wall_clock_back_leaves_the_running_time_alone() -> None:
    clock = ManualClock()
    clock.advance(10)
    clock.set(datetime(2020, 1, 1, tzinfo=UTC))
    assert clock.now() == datetime(2020, 1, 1, tzinfo=UTC)
    assert clock.monotonic() == 10


def test_times_of_other_zones_are_told_in_utc() -> None:
    clock = ManualClock(datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))))
    assert clock.now() == datetime(2026, 1, 1, tzinfo=UTC)
    assert clock.now().tzinfo is UTC


def test_a_naive_time_is_refused() -> None:
    naive = datetime(2026, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    with pytest.raises(ValueError, match="aware"):
        ManualClock(naive)
    with pytest.raises(ValueError, match="aware"):
        ManualClock().set(naive)


def test_time_does_not_pass_backwards() -> None:
    clock = ManualClock()
    with pytest.raises(ValueError, match="backwards"):
        clock.sleep(-1)
    assert clock.monotonic() == 0


def test_no_step_is_lost_when_threads_move_the_clock_together() -> None:
    clock = ManualClock()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: [clock.advance(1) for _ in range(500)], range(8)))
    assert clock.monotonic() == 4000
