"""Is the ledger locked for short times only while sessions are removed?"""

from __future__ import annotations

import threading

import pytest

from sexton.retention import removal_pace as pacing
from sexton.retention.removal_pace import AIM, REST, Pace
from sexton.testing import ManualClock


def test_the_ledger_is_left_alone_between_two_steps() -> None:
    clock = ManualClock()
    pace = Pace(clock)
    with pace.hold(pace.sessions, 50):
        clock.sleep(4 * AIM)
    ended = clock.monotonic()
    with pace.hold(pace.sessions, 50):
        assert clock.monotonic() - ended == pytest.approx(REST * 4 * AIM)


def test_who_copies_ahead_waits_while_the_ledger_is_locked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pacing, "AIM", 100_000.0)
    pace = Pace(ManualClock())
    pace.give_way()
    thread = threading.Thread(target=pace.give_way)
    with pace.hold(pace.sessions, 50):
        thread.start()
        thread.join(0.05)
        assert thread.is_alive()
    thread.join(240)
    assert not thread.is_alive()
