"""Which kinds of value do the settings of retention, vault and disk have?"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, TypeVar

from sexton.finalizers.policy import EVERY_SOURCE
from sexton.retention.policy import Fate, Protection
from sexton.settings.kinds import Kind, Refused, only
from sexton.settings.settings_problems import did_you_mean
from sexton.settings.settings_values import ArchiveFormat
from sexton.settings.vocabulary import MOST_BYTES, NAME, SIZE

LEAST_BYTES: Final = 10**6

_OTHER_WORDS = {
    "delete": "remove",
    "trash": "remove",
    "true": "remove",
    "false": "keep",
    "none": "keep",
    "null": "keep",
    "zst": "zstd",
    "gz": "gzip",
}
W = TypeVar("W", bound=StrEnum)


def _word_of(words: type[W]) -> Kind:
    """Kinds of which every value is one word."""

    def read(value: object) -> W:
        if isinstance(value, str) and value in set(words):
            return words(value)
        text = str(value).lower() if value is None or isinstance(value, str | bool) else ""
        near = _OTHER_WORDS.get(text) or did_you_mean(text.replace("-", "_"), map(str, words))
        raise Refused(f"did you mean '{near}'?" if near in set(words) else "")

    return Kind(
        words=f"one of {', '.join(words)}",
        read=read,
        schema={"type": "string", "enum": [str(word) for word in words]},
        show=str,
    )


def _large(value: object) -> object:
    size = SIZE.read(value)
    if isinstance(size, int) and size < LEAST_BYTES:
        raise Refused("the smallest is 1MB")
    return size


def _source(value: object) -> str:
    if value == EVERY_SOURCE:
        raise Refused("what holds for every source is set in retention itself")
    return only(str, NAME.read(value))


FATE = _word_of(Fate)
PROTECTION = _word_of(Protection)
ARCHIVE_FORMAT = _word_of(ArchiveFormat)
SOURCE = Kind(words="the name of a source", read=_source, schema=NAME.schema)
LARGE = Kind(
    words="a size like 10GB or 500MiB, at least 1MB",
    read=_large,
    schema={
        "anyOf": [
            {"type": "integer", "minimum": LEAST_BYTES, "maximum": MOST_BYTES},
            {"type": "string", "pattern": "^[0-9.]+ ?([kKmMgGtT]i?)?[bB]$"},
        ]
    },
    show=SIZE.show,
)
