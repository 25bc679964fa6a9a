"""What does a form say?"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request

from sexton.errors import InputInvalid

E = TypeVar("E", bound=StrEnum)

MOST_BYTES = 64 * 1024
MOST_FIELDS = 100


async def form(request: Request) -> dict[str, str]:
    """The fields of a small form."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise InputInvalid("the form is too long", hint="Go back and try again.")
    try:
        text = body.decode("utf-8", "replace")
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise InputInvalid("the form is not understood", hint="Go back and try again.") from None


def choice(kind: type[E], value: str | None) -> E | None:
    """The member of a closed set that is meant; None for any other word."""
    return next((each for each in kind if each.value == value), None)


def whole(given: dict[str, str], name: str) -> int:
    """A field that is a number."""
    value = given.get(name, "")
    if not (value.isascii() and value.isdecimal() and len(value) < 19):
        raise InputInvalid(f"'{name}' is no number", hint="Go back and try again.")
    return int(value)
