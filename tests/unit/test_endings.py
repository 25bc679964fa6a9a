"""Which kind of end is meant by a word, in our own sessions and in those of Hermes?"""

from __future__ import annotations

import pytest

from sexton.core.endings import ENDS, HERMES, NATIVE, RESERVED, EndKind, end_kind, is_reap
from sexton.core.session import RESERVED_REASONS
from sexton.processes.handling import Occasion, occasion_of

HOME = "work"
"""A home of Hermes, whatever it is called."""


@pytest.mark.parametrize(
    ("reason", "native", "hermes"),
    [
        ("idle", EndKind.IDLE_RESET, EndKind.IDLE_RESET),
        ("daily", EndKind.DAILY_RESET, EndKind.DAILY_RESET),
        ("max_age", EndKind.SIZE_RESET, EndKind.SIZE_RESET),
        ("reaped:inactive", EndKind.REAP, EndKind.REAP),
        ("reaped", EndKind.USER, EndKind.REAP),
        ("session_reset", EndKind.USER, EndKind.RESET),
        ("budget:day", EndKind.BUDGET, EndKind.BUDGET),
        ("breaker:repetition", EndKind.BREAKER, EndKind.BREAKER),
        ("compression", EndKind.COMPRESSION, EndKind.COMPRESSION),
        ("compute_host_gone", EndKind.CLOSED, EndKind.CLOSED),
        ("I am tired", EndKind.USER, EndKind.USER),
        (None, EndKind.CLOSED, EndKind.CLOSED),
    ],
)
def test_a_word_means_one_kind_of_end_in_each_kind_of_home(
    reason: str | None, native: EndKind, hermes: EndKind
) -> None:
    assert (end_kind(reason, NATIVE), end_kind(reason, HOME)) == (native, hermes)
    assert is_reap(reason, HOME) == (hermes is EndKind.REAP)


def test_every_kind_falls_under_a_policy_or_lets_the_conversation_go_on() -> None:
    found = {kind: occasion_of(kind) for kind in EndKind}
    goes_on = {kind for kind, occasion in found.items() if occasion is None}
    assert goes_on == {EndKind.COMPRESSION, EndKind.BRANCH}
    assert {found[EndKind.IDLE_RESET], found[EndKind.DAILY_RESET]} == {
        Occasion.IDLE, Occasion.DAILY,
    }  # fmt: skip
    assert [kind for kind, occasion in found.items() if occasion is Occasion.REAP] == [EndKind.REAP]


def test_nobody_else_may_end_a_session_in_our_words() -> None:
    assert tuple(RESERVED) == RESERVED_REASONS
    assert ENDS.keys() == {NATIVE, HERMES}
