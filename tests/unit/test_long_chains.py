"""However long a line of descent is, each step up is gone once; a circle ends somewhere."""

from __future__ import annotations

from typing import Any

import pytest

from sexton.retention.proposal import roots
from sexton.sessions.family import depths

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
def test_how_deep_each_of_a_line_is_takes_as_many_steps_as_there_are(step: int) -> None:
    parents = Counting({str(number): str(number + step) for number in range(MANY)})
    found = depths(parents)
    assert sorted(found, key=lambda id: -found[id]) == list(parents)[::step]
    assert parents.asked <= 2 * MANY
    circle = {str(number): str((number + 1) % 3) for number in range(3)}
    assert depths(circle).keys() == circle.keys()
