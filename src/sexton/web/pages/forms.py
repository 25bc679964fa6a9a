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
LONGEST = 2048


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


def text(given: dict[str, str], name: str) -> str:
    """A field that must be there, of text that every engine takes."""
    value = given.get(name, "")
    if not value or storable(value) != value:
        raise InputInvalid(f"'{name}' is missing or no text", hint="Go back and try again.")
    return value


def storable(value: str) -> str:
    """As much of a text as every engine takes as a parameter."""
    return value.replace("\0", "").encode("utf-8", "ignore").decode()[:LONGEST]


def whole(given: dict[str, str], name: str) -> int:
    """A field that is a number."""
    value = given.get(name, "")
    if not (value.isascii() and value.isdecimal() and len(value) < 19):
        raise InputInvalid(f"'{name}' is no number", hint="Go back and try again.")
    return int(value)
