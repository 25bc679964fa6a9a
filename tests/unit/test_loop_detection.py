"""Does an agent go round in circles?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.spending.loop_detection import (
    Call,
    Repetition,
    Trail,
    repetition,
    trail_of,
    words,
)
from tests.golden import golden


def calls(*names: str, results: str = "") -> list[Call]:
    """A call for each name; its result is its own unless one is given for each."""
    found = results.split() or names
    return [Call(name[0], name, result) for name, result in zip(names, found, strict=True)]


def weight(history: list[Call]) -> int:
    found = repetition(trail_of(history))
    return 0 if found is None else found.weight


def test_nothing_repeats_in_a_new_or_varied_history() -> None:
    assert repetition(Trail()) is None
    assert repetition(trail_of(calls("a", "b", "c", "a", "d", "b"))) is None


def test_the_same_call_is_counted_whether_it_succeeds_or_not() -> None:
    found = repetition(trail_of(calls("x", "a1", "a1", "a1")))
    assert found is not None
    assert (found.times, found.weight) == (3, 3)
    golden("advice", "repeats: the same call", found.what)


def test_a_changed_result_is_progress() -> None:
    polling = calls("a1", "a1", "a1", "a1", results="r1 r1 r1 r2")
    assert repetition(trail_of(polling)) is None
    assert repetition(trail_of(calls(*["a1"] * 50, results=" ".join(map(str, range(50)))))) is None


@pytest.mark.parametrize("length", [2, 3, 4, 5])
def test_cycles_are_seen(length: int) -> None:
    names = [f"{chr(97 + place)}" for place in range(length)]
    assert weight(calls("z", *names * 2)) == 2
    found = repetition(trail_of(calls("z", *names * 3)))
    assert found is not None
    assert found.times == 3
    golden("advice", f"repeats: a cycle of {length}", found.what)


def test_a_cycle_of_six_is_a_day_s_work() -> None:
    assert repetition(trail_of(calls(*"abcdef" * 4))) is None


def test_a_cycle_that_brings_something_new_is_none() -> None:
    assert repetition(trail_of(calls(*"ababab", results="1 2 3 4 5 6"))) is None


def test_the_same_tool_in_a_row_with_the_same_result_counts_for_less() -> None:
    searches = calls("s1", "s2", "s3", "s4", "s5", "s6", results="- - - - - -")
    found = repetition(trail_of(searches))
    assert found is not None
    assert (found.times, found.weight) == (6, 3)
    golden("advice", "repeats: the same result", found.what)


def test_the_same_result_of_other_tools_counts_for_less() -> None:
    assert weight(calls("a", "b", "c", "d", results="- - - -")) == 2


def test_the_words_become_more_urgent() -> None:
    found = Repetition("a call", 3, 3)
    assert len({words(found, step, 3) for step in (1, 2, 3)}) == 3
    assert "ask" in words(found, 3, 3)


@given(st.lists(st.sampled_from(calls("a", "b", "c")), max_size=40))
def test_it_is_a_function_of_the_last_calls_that_agrees_with_a_plain_look(
    history: list[Call],
) -> None:
    """The smallest period of the tail, found the slow way."""
    plain = 0
    for length in range(1, 6):
        times = 1
        while (
            len(history) >= (times + 1) * length
            and history[len(history) - (times + 1) * length : len(history) - times * length]
            == history[len(history) - length :]
        ):
            times += 1
        if times > 1:
            plain = times
            break
    assert weight(history) == plain


def test_a_result_of_which_nothing_was_said_is_not_the_same() -> None:
    silent = [Call("t", f"{number}", "") for number in range(9)]
    assert repetition(trail_of(silent)) is None
    assert weight([Call("t", "1", "")] * 9) == 9


def test_what_differs_in_its_arguments_is_only_told() -> None:
    for names in (["s1", "s2", "s3", "s4"], ["a", "b", "c", "d"]):
        found = repetition(trail_of(calls(*names, results="- - - -")))
        assert found is not None
        assert not found.stops
        assert all("stopped" not in words(found, step, 3) for step in (1, 2, 3))
    same = repetition(trail_of(calls("a", "a", "a")))
    assert same is not None
    assert same.stops
