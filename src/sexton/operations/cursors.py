"""How is the place where a page goes on written?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol, TypeVar

from sexton.errors import InputInvalid
from sexton.sessions.board import Spot
from sexton.sessions.model import Place

_CURSOR = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Row(Protocol):
    @property
    def ref(self) -> int: ...


R = TypeVar("R", bound=_Row)


def cut(found: Sequence[R], limit: int) -> tuple[Sequence[R], str | None]:
    """A page of rows, of which one more was asked for, and where the next page begins."""
    return found[:limit], str(found[limit - 1].ref) if len(found) > limit else None


def write_spot(spot: Spot | None) -> str | None:
    """A place in a search."""
    return None if spot is None else f"{max(0, spot.value)}-{spot.ref}"


def read_spot(text: str) -> Spot:
    """The place that a cursor means; InputInvalid if it is none."""
    found = _CURSOR.fullmatch(text)
    if found is None:
        raise InputInvalid(
            f"{text!r} is not a cursor", hint="Use the one that the page before it gives."
        )
    return Spot(int(found[1]), int(found[2]))


def write_place(at: datetime, ref: int) -> str:
    """A place among sessions in the order of their times."""
    return f"{(at - _EPOCH) // timedelta(microseconds=1)}-{ref}"


def read_place(text: str) -> Place:
    """The place that a cursor means; InputInvalid if it is none."""
    spot = read_spot(text)
    try:
        return Place(_EPOCH + timedelta(microseconds=spot.value), spot.ref)
    except OverflowError:
        raise InputInvalid(
            f"{text!r} is not a cursor", hint="Use the one that the page before it gives."
        ) from None
