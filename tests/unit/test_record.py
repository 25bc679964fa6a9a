"""A record is a frozen dataclass with slots in all but the time it takes to declare one."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from sexton.core.record import as_dict, made, names, record, replace, settings_of
from sexton.core.setting import setting


@record
class Point:
    """A place."""

    x: int
    y: int = 0
    tags: dict[str, int] = made(dict)

    @property
    def sum(self) -> int:
        return self.x + self.y


@record(kw_only=False)
class Pair:
    left: int
    right: Point | None = None


def test_fields_are_given_by_name_and_defaults_fill_the_rest() -> None:
    assert (Point(x=1).x, Point(x=1).y, Point(x=1, y=2).sum) == (1, 0, 3)
    assert (Pair(1).right, Pair(1, Point(x=2)).right) == (None, Point(x=2))
    assert names(Point) == ("x", "y", "tags")


def test_a_made_default_is_not_shared() -> None:
    assert Point(x=1).tags is not Point(x=1).tags


@pytest.mark.parametrize(
    "mistake",
    [
        Point,
        lambda: Point(1),  # type: ignore[call-arg]
        lambda: Point(x=1, z=2),  # type: ignore[call-arg]
        lambda: Pair(1, None, 3),  # type: ignore[call-arg]
    ],
)
def test_a_field_too_few_or_too_many_is_refused(mistake: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="__init__"):
        mistake()


def test_nothing_can_be_changed_added_or_removed() -> None:
    point = Point(x=1)
    with pytest.raises(AttributeError, match="frozen"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        point.new = 2  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="frozen"):
        del point.x
    assert point == Point(x=1)
    assert not hasattr(point, "__dict__")


def test_equal_fields_make_equal_records_of_the_same_kind_only() -> None:
    assert Pair(1) == Pair(1)
    assert Pair(1) != Pair(2)
    other: object = (1, None)
    assert Pair(1) != other
    assert hash(Pair(1)) == hash(Pair(1))
    assert repr(Pair(1, Point(x=2))) == "Pair(left=1, right=Point(x=2, y=0, tags={}))"


def test_replace_changes_some_fields_of_a_copy() -> None:
    point = Point(x=1, y=2)
    assert replace(point, y=3) == Point(x=1, y=3)
    assert point == Point(x=1, y=2)
    assert as_dict(point) == {"x": 1, "y": 2, "tags": {}}


def test_it_can_be_copied_and_pickled() -> None:
    point = Point(x=1, tags={"a": 1})
    for twin in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert twin == point


def test_the_functions_of_dataclasses_take_it_for_one() -> None:
    point: Any = Point(x=2)
    pair: Any = Pair(1, point)
    assert dataclasses.is_dataclass(type(point))
    assert [field.name for field in dataclasses.fields(pair)] == ["left", "right"]
    assert dataclasses.asdict(pair) == {"left": 1, "right": {"x": 2, "y": 0, "tags": {}}}
    assert dataclasses.replace(point, x=3) == Point(x=3)


def test_a_method_of_its_own_wins() -> None:
    @record
    class Loose:
        said: str
        where: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Loose) and self.said == other.said

        def __hash__(self) -> int:
            return hash(self.said)

    assert Loose(said="a", where="b") == Loose(said="a", where="c")


@record
class Settable:
    """A record of which two fields can be set."""

    path: str = setting(about="Where.", change="Never.")
    limit: int | None = setting(default=5, about="How many.", change="", null="no limit")
    derived: int = 0


def test_a_declared_field_has_its_default_and_says_what_it_is() -> None:
    assert Settable(path="x") == Settable(path="x", limit=5, derived=0)
    assert {name: each.text for name, each in settings_of(Settable).items()} == {
        "path": "Where. Never.",
        "limit": "How many.",
    }
    assert dataclasses.fields(Settable)[1].default == 5


def test_a_declared_field_without_a_default_is_required() -> None:
    with pytest.raises(TypeError):
        Settable(limit=5)  # type: ignore[call-arg]
