"""However long a line of descent is, each step up is gone once; a circle ends somewhere."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from sexton.engine.orphans import children_first
from sexton.engine.removing.trees import roots
from sexton.model.session import Session

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MANY = 300


class Counting(dict[Any, Any]):
    """A mapping that counts how often it is asked."""

    asked = 0

    def __getitem__(self, name: Any) -> Any:
        self.asked += 1
        return super().__getitem__(name)

    def get(self, name: Any, default: Any = None) -> Any:
        self.asked += 1
        return super().get(name, default)


def session(number: int, parent: int) -> Session:
    return Session(
        ref=number + 1, home="work", id=str(number), key=None, message_count=1, source="cli",
        started_at=NOW, active_at=NOW, parent=str(parent),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("above", "ends"),
    [
        ({}, [0, 1, 2, 3]),
        ({1: 0, 2: 1, 3: 1}, [0, 0, 0, 0]),
        ({0: 3, 2: 1}, [3, 1, 1, 3]),
        ({1: 2, 2: 3, 3: 1, 0: 2}, [1, 1, 1, 1]),
        ({3: 3}, [0, 1, 2, 3]),
    ],
)
def test_the_way_up_ends_at_the_root_or_at_the_lowest_of_a_circle(
    above: dict[int, int], ends: list[int]
) -> None:
    assert roots(4, above) == ends


@pytest.mark.parametrize("step", [1, -1])
def test_what_is_archived_of_a_long_line_is_one_tree_in_as_many_steps(step: int) -> None:
    above = Counting({number: (number + step) % MANY for number in range(MANY)})
    assert set(roots(MANY, above)) == {0}  # a circle
    del above[0]
    above.asked = 0
    assert set(roots(MANY, above)) == {0}
    assert above.asked <= 3 * MANY


@pytest.mark.parametrize("step", [1, -1])
def test_children_go_before_their_parents_in_as_many_steps_as_there_are(step: int) -> None:
    found = Counting({str(number): session(number, number + step) for number in range(MANY)})
    order = [int(each.id) for each in children_first(found)]
    assert order == list(range(MANY))[::step]
    assert found.asked <= 3 * MANY
    circle = {str(number): session(number, (number + 1) % 3) for number in range(3)}
    assert {each.id for each in children_first(circle)} == set(circle)
