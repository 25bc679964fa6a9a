"""How long has a worker been silent?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sexton.liveness.missed_heartbeats import Look, Watch, listen

GAP = 180.0


def watched(*looks: tuple[float, int], gap: float = GAP) -> Watch:
    """One worker seen with a beat at some moments of running time."""
    watch = Watch()
    for at, beat in looks:
        watch = listen(watch, {"w": beat}, Look(at, at), gap)
    return watch


def silence(watch: Watch) -> float:
    """For how long the worker has stood at the beat it was last heard with."""
    return watch.silence("w", watch.beats.get("w", 0))


def test_a_worker_never_seen_before_is_not_silent() -> None:
    assert silence(Watch()) == 0
    assert silence(watched((100, 7))) == 0


def test_silence_is_the_time_since_the_beat_was_first_seen() -> None:
    assert silence(watched((0, 7), (60, 7), (120, 7))) == 120


def test_a_beat_ends_the_silence() -> None:
    assert silence(watched((0, 7), (60, 7), (120, 8))) == 0


def test_a_beat_that_came_after_the_last_look_ends_the_silence_too() -> None:
    watch = watched((0, 7), (60, 7), (120, 7))
    assert (watch.silence("w", 7), watch.silence("w", 8)) == (120, 0)
    assert (watch.has_moved("w", 7), watch.has_moved("w", 8)) == (False, True)


def test_a_worker_moves_once_its_beat_was_seen_to_change() -> None:
    assert not watched((0, 7)).has_moved("w", 7)
    assert not watched((0, 7), (60, 7)).has_moved("w", 7)
    assert watched((0, 7), (60, 8), (120, 8)).has_moved("w", 8)
    assert not Watch().has_moved("w", 7)


def test_a_counter_that_goes_back_is_a_change_like_any_other() -> None:
    assert silence(watched((0, 7), (60, 7), (120, 3))) == 0


def test_a_gap_in_the_observers_own_looks_voids_what_it_saw() -> None:
    assert silence(watched((0, 7), (60, 7), (60 + GAP + 1, 7))) == 0


def test_a_suspended_observer_starts_anew_although_its_running_clock_stood_still() -> None:
    watch = listen(Watch(), {"w": 7}, Look(0, 0), GAP)
    watch = listen(watch, {"w": 7}, Look(60, 8 * 3600), GAP)
    assert silence(watch) == 0


def test_an_observer_whose_clocks_went_back_starts_anew() -> None:
    assert silence(watched((100, 7), (160, 7), (50, 7))) == 0


def test_a_gap_also_voids_that_a_worker_was_seen_to_move() -> None:
    assert not watched((0, 7), (60, 8), (60 + GAP + 1, 8)).has_moved("w", 8)


def test_a_worker_that_left_is_forgotten() -> None:
    watch = listen(watched((0, 7)), {}, Look(60, 60), GAP)
    assert (watch.beats, watch.since) == ({}, {})


@given(st.lists(st.tuples(st.floats(0, 400), st.booleans()), min_size=1, max_size=40))
def test_silence_never_exceeds_the_time_the_observer_was_awake_since_the_last_beat(
    steps: list[tuple[float, bool]],
) -> None:
    watch, now, beat, awake_since = Watch(), 0.0, 0, 0.0
    for step, beats in steps:
        now += step
        beat += beats
        if beats or step > GAP:
            awake_since = now
        watch = listen(watch, {"w": beat}, Look(now, now), GAP)
        assert watch.silence("w", beat) <= now - awake_since + 1e-6
