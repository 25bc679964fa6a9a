"""What has to go so that the disk does not fill up, and how much at once?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sexton.core.plan import Reason
from sexton.retention.blast_radius import FRESH, bounded
from sexton.retention.disk_budget import (
    DiskBudget,
    DiskUse,
    Relief,
    Weight,
    disk_warning,
    excess,
    relieve,
)

NOW = datetime(2026, 12, 1, tzinfo=UTC)
PINNED = Reason("pinned", "it is pinned")


def weight(ref: int, size: int, days: int, spared: Reason | None = None) -> Weight:
    return Weight(ref=ref, bytes=size, active_at=NOW - timedelta(days=days), spared=spared)


def test_without_a_budget_nothing_goes() -> None:
    assert relieve(DiskBudget(), DiskUse(used=10**12, free=0), [weight(1, 5, 5)]) == Relief()


@pytest.mark.parametrize(
    ("budget", "use", "too_many"),
    [
        (DiskBudget(max_use=100), DiskUse(used=100, free=0), 0),
        (DiskBudget(max_use=100), DiskUse(used=130, free=0), 30),
        (DiskBudget(max_use=100), DiskUse(used=130, free=0, grace=20), 10),
        (DiskBudget(keep_free=50), DiskUse(used=1, free=50), 0),
        (DiskBudget(keep_free=50), DiskUse(used=1, free=10), 40),
        (DiskBudget(max_use=100, keep_free=50), DiskUse(used=130, free=10), 40),
    ],
)
def test_what_is_too_much_is_what_no_time_will_free(
    budget: DiskBudget, use: DiskUse, too_many: int
) -> None:
    assert excess(budget, use) == too_many


def test_the_longest_unused_goes_first_and_no_more_than_needed() -> None:
    found = relieve(
        DiskBudget(max_use=100),
        DiskUse(used=130, free=0),
        [weight(1, 20, 1), weight(2, 20, 9), weight(3, 20, 5), weight(4, 0, 99)],
    )
    assert [ref for ref, _ in found.chosen] == [2, 3]
    assert found.short == 0


def test_what_stands_in_the_way_is_named_with_its_size() -> None:
    found = relieve(
        DiskBudget(max_use=10),
        DiskUse(used=130, free=0),
        [weight(1, 20, 9), weight(2, 60, 8, PINNED), weight(3, 40, 7, PINNED)],
    )
    assert [ref for ref, _ in found.chosen] == [1]
    assert (found.short, found.in_the_way) == (100, ((PINNED.text, 2, 100),))


@given(
    some.lists(some.tuples(some.integers(0, 50), some.integers(0, 30), some.booleans())),
    some.integers(0, 500),
)
def test_nothing_spared_ever_goes_and_the_oldest_is_never_passed_over(
    things: list[tuple[int, int, bool]], limit: int
) -> None:
    weights = [
        weight(ref, size, days, PINNED if pinned else None)
        for ref, (size, days, pinned) in enumerate(things)
    ]
    used = sum(each.bytes for each in weights)
    found = relieve(DiskBudget(max_use=limit), DiskUse(used=used, free=0), weights)
    gone = [ref for ref, _ in found.chosen]
    may_go = [each for each in weights if each.spared is None and each.bytes]
    in_order = [each.ref for each in sorted(may_go, key=lambda each: (each.active_at, each.ref))]
    assert gone == in_order[: len(gone)]
    freed = sum(weights[ref].bytes for ref in gone)
    assert found.short == max(used - freed - limit, 0)
    if found.short:
        assert gone == in_order
    elif gone:
        assert used - freed + weights[gone[-1]].bytes > limit  # none of them too many


def test_it_is_said_before_the_disk_is_full() -> None:
    budget = DiskBudget(max_use=100)
    assert disk_warning(budget, DiskUse(used=79, free=0)) is None
    assert disk_warning(budget, DiskUse(used=80, free=0)) is not None
    free = DiskBudget(keep_free=50)
    assert disk_warning(free, DiskUse(used=500, free=63)) is None
    assert disk_warning(free, DiskUse(used=800, free=62)) is not None


def test_a_disk_that_is_nearly_full_is_told_of_whatever_the_budget() -> None:
    assert disk_warning(DiskBudget(), DiskUse(used=1, free=50, total=1000)) is None
    found = disk_warning(DiskBudget(), DiskUse(used=1, free=49, total=1000))
    assert found is not None
    assert found.code == "disk_full"


def due(days: float, count: int) -> list[tuple[int, datetime, int]]:
    return [(number, NOW - timedelta(days=days), 1) for number in range(count)]


def test_a_small_backlog_may_go_at_once() -> None:
    taken, allowance = bounded(due(3, 500), 0, NOW)
    assert (len(taken), allowance.waiting) == (500, 0)


def test_of_a_large_backlog_a_fifth_goes_each_day() -> None:
    taken, allowance = bounded(due(3, 10_000), 0, NOW)
    assert (len(taken), allowance.waiting, allowance.limit) == (2000, 8000, 2000)
    later, rest = bounded(due(3, 8_000), 2000, NOW)
    assert (later, rest.waiting) == ([], 8000)


def test_what_became_due_since_yesterday_is_free() -> None:
    fresh = [(n, NOW - FRESH / 2, 1) for n in range(5_000)]
    taken, allowance = bounded(fresh + due(3, 600), 500, NOW)
    assert (len(taken), allowance.waiting) == (5_000, 600)


def test_the_longest_due_go_first() -> None:
    old = [("old", NOW - timedelta(days=9), 1), ("older", NOW - timedelta(days=90), 1)]
    rest = [(f"{n}", NOW - timedelta(days=2), 1) for n in range(998)]
    taken, _ = bounded([*old, *rest], 0, NOW)
    assert taken[:2] == ["older", "old"]


def test_what_goes_together_counts_by_its_sessions() -> None:
    trees = [(name, NOW - timedelta(days=9), size) for name, size in (("a", 400), ("b", 300))]
    taken, allowance = bounded([*trees, ("c", NOW - timedelta(days=2), 100)], 0, NOW)
    assert (taken, allowance.allowed, allowance.waiting) == (["a", "c"], 500, 300)
