"""When are two calls, or two results, the same? Only digests are kept, never what was said."""

from __future__ import annotations

import json
import re
from hashlib import blake2b

LARGEST_JSON = 65_536
"""Longer text is taken as it is, also where it might be JSON."""

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), default=lambda value: _ADDRESS.sub("", repr(value))
).encode


def digest(value: object) -> str:
    """The same for values that mean the same, of whatever kind and size."""
    if value is None or (isinstance(value, str | bytes) and not value):
        return ""
    try:
        data = _data(value)
    except Exception as trouble:  # noqa: BLE001  # whatever somebody else's value does
        data = f"{type(value).__name__} {type(trouble).__name__}".encode()
    return blake2b(data, digest_size=12).hexdigest()


def digest_of_arguments(arguments: object) -> str:
    """The same whatever the order of names and the blanks between them."""
    if isinstance(arguments, str) and len(arguments) <= LARGEST_JSON and arguments[:1] in "{[":
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return digest(arguments)
    return digest(arguments)


def _data(value: object) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    text = value if isinstance(value, str) else _text(value)
    return text.encode("utf-8", "surrogatepass")


def _text(value: object) -> str:
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError):  # names that are no text, or a value in itself
        return f"{type(value).__name__} {_ADDRESS.sub('', repr(value))}"
