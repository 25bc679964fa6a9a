"""Turns records into plain values that JSON can hold, and such values into records again.

What a newer version added is ignored, and a word that only it knows is as if it were not there: the
field has its default.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from sexton.core.record import as_dict, names

T = TypeVar("T")


def plain(value: object) -> float | dict[str, Any]:
    """What JSON does not know by itself: a span as its seconds, a record as its fields."""
    return value.total_seconds() if isinstance(value, timedelta) else as_dict(value)


def restored(kind: type[T], stored: Mapping[str, Any]) -> T:
    """The record of a class that was stored; what is missing has its default."""
    known: Any = kind
    fields: dict[str, Any] = {}
    for name, hint in _hints(known).items():
        if name in stored:
            try:
                fields[name] = _value(hint, stored[name])
            except ValueError:
                continue  # a word of a newer version
    return kind(**fields)


@lru_cache(maxsize=64)
def _hints(kind: type) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {name: hints[name] for name in names(kind)}


def _value(hint: Any, value: Any) -> Any:
    """A value of a type from what JSON made of it."""
    if value is None:
        return None
    inner = [each for each in get_args(hint) if each is not NoneType]
    if get_origin(hint) is tuple:
        each = [inner[0]] * len(value) if inner[-1] is ... else inner
        return tuple(map(_value, each, value))
    kind = inner[0] if inner else hint
    if kind is timedelta:
        return timedelta(seconds=value)
    if issubclass(kind, StrEnum):
        return kind(value)
    return restored(kind, value) if isinstance(value, Mapping) else value
