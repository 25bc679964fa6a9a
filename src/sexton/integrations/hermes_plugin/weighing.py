"""How long is a request to a model? All of it: what was said, who the model is to be, its tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

PICTURES = ("image_url", "input_image", "image")
"""The types of the parts of a message that are pictures."""
CARRIES = ("url", "image_url", "file_data", "data", "bytes")
"""The keys that hold the bytes of a picture or a file; under any other key they are text."""


class Length(NamedTuple):
    """The bytes of text in a request, and how many pictures and files come with it."""

    text: int
    pictures: int

    def since(self, before: Length) -> Length:
        """How much longer it is than another one."""
        return Length(self.text - before.text, self.pictures - before.pictures)


def length(request: object) -> Length:
    """How long a request is, whatever the kind of interface that it is for."""
    text = pictures = 0
    for each in _parts(request):
        if each is None:
            pictures += 1
        else:
            text += each
    return Length(text, pictures)


def _parts(value: object, name: object = "") -> Iterator[int | None]:
    """The bytes of each text in it as JSON has them, and None for each picture."""
    if isinstance(value, Mapping):
        yield from _mapping(value)
    elif isinstance(value, list | tuple):
        yield len(value) + 1
        for each in value:
            yield from _parts(each, name)
    elif isinstance(value, bytes | bytearray) or _is_carried(value, name):
        yield None
    elif isinstance(value, str):
        yield len(value.encode(errors="surrogatepass")) + 2
    else:
        yield len(str(value))


def _mapping(value: Mapping[Any, Any]) -> Iterator[int | None]:
    if value.get("type") in PICTURES:
        yield None
        return
    is_encoded = value.get("type") == "base64"
    yield len(value) + 1
    for key, each in value.items():
        yield len(str(key).encode(errors="surrogatepass")) + 3
        yield from [None] if is_encoded and key == "data" else _parts(each, key)


def _is_carried(value: object, name: object) -> bool:
    return isinstance(value, str) and name in CARRIES and value.startswith("data:")
