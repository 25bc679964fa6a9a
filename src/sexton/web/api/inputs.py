"""What may be asked for? The same bounds on every path."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import Path, Query
from pydantic import AfterValidator

from sexton.core.session import NAME_LIMIT
from sexton.settings.quantities import parse_duration

LARGEST = 2**62
LONGEST = timedelta(days=36_500)


def _storable(text: str) -> str:
    """Text that every engine takes as a parameter."""
    if "\0" in text:
        raise ValueError("must not contain a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must not contain a lone surrogate") from None
    return text


def _span(text: str) -> str:
    span = parse_duration(text)
    if span is None or not timedelta(0) < span <= LONGEST:
        raise ValueError("must be a duration like 45s, 30m, 12h or 7d")
    return text


def as_span(text: str | None) -> timedelta | None:
    """The length of time that was asked for."""
    return None if text is None else parse_duration(text)


Storable = AfterValidator(_storable)
StorableOrNone = AfterValidator(lambda text: None if text is None else _storable(text))

Name = Annotated[
    str,
    Path(
        min_length=1,
        max_length=2 * NAME_LIMIT,
        description="A session: its id or the beginning of it, with HOME/ in front where needed.",
    ),
    Storable,
]
Text = Annotated[str | None, Query(min_length=1, max_length=NAME_LIMIT), StorableOrNone]
Span = Annotated[
    str | None,
    Query(max_length=32, description="A duration like 45s, 30m, 12h or 7d."),
    AfterValidator(lambda text: None if text is None else _span(text)),
]
Cursor = Annotated[str | None, Query(max_length=64, description="The `next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=500, description="At most so many.")]
Ref = Annotated[int | None, Query(ge=0, le=LARGEST)]
