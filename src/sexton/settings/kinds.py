"""What a kind of value is: its words, how it is read and shown, and what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, TypeVar

from sexton.core.message import one_line
from sexton.core.record import record, replace
from sexton.settings.settings_problems import Found, Path, did_you_mean

T = TypeVar("T")

SHOWN: Final = 60
MOST: Final = 10**9
MOST_SAID: Final = 10**6  # a larger maximum only says that a number can not be meant
_MEANT: Mapping[str, tuple[str, ...]] = {
    "delete": ("remove",),
    "trash": ("remove",),
    "true": ("remove",),
    "zst": ("zstd",),
    "gz": ("gzip",),
    **dict.fromkeys(("off", "no", "never", "disabled", "false", "null", "none"), ("none", "keep")),
}
"""Words that people write instead of one of ours."""


class Refused(ValueError):
    """The value is not of its kind; the text, if there is any, is what to write instead."""


def as_is(value: object) -> object:
    """A value that is written the way it is."""
    return value


@record(kw_only=False)
class Kind:
    """A kind of value: its words for people, how it is read, shown, and described to an editor.

    What may be a `secret` is not quoted in messages.
    """

    words: str
    parse: Callable[[Any], Any]
    schema: Mapping[str, Any]
    show: Callable[[Any], Any] = as_is
    secret: bool = False

    def read(self, value: object, path: Path, found: Found, *, at_key: bool = False) -> Any:
        """The value as the policies want it; a mistake is added to what was found."""
        try:
            return self.parse(value)
        except Refused as refusal:
            hint = f"; {refusal}" if str(refusal) else ""
            hidden = self.secret and isinstance(value, str)
            instead = "" if hidden else f", not {shown(value)}"
            found.add(path, f"expected {self.words}{instead}{hint}", at_key=at_key)

    def takes(self, value: object) -> bool:
        """Whether the value is one of the kind."""
        try:
            self.parse(value)
        except Refused:
            return False
        return True

    def or_null(self, meaning: str) -> Kind:
        """The same kind where null means something, too."""
        return Kind(
            f"{self.words}, or null for {meaning}",
            lambda value: None if value is None else self.parse(value),
            {"anyOf": [dict(self.schema), {"type": "null"}]},
            show=lambda value: None if value is None else self.show(value),
            secret=self.secret,
        )

    def of(self, unit: str) -> Kind:
        """The same kind that counts something."""
        return replace(self, words=self.words.replace("number", f"number of {unit}", 1))


def shown(value: object) -> str:
    """A value as one short line, the way it is written in YAML."""
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            line = one_line(value[: SHOWN * 4])
            return f"'{line[:SHOWN]}…'" if len(line) > SHOWN else f"'{line}'"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case int() if abs(value) >= 10**18:
            return "a number of that size"
        case _:
            return str(value)


def only(type_: type[T], value: object, hint: str = "") -> T:
    """The value if it is of exactly that type; true is no number here."""
    if type(value) is not type_:
        raise Refused(hint)
    return value


def within(number: int, minimum: int, maximum: int) -> int:
    """The number if it lies between the two."""
    if not minimum <= number <= maximum:
        raise Refused(f"the largest is {maximum}" if number > maximum else "")
    return number


def whole_guess(value: object) -> int | None:
    """The whole number meant by `'120'`, `04`, `10_000`, `1e3` or `90.0`, or None."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**15:
        return int(value)
    if isinstance(value, str):
        digits = value.strip().replace("_", "").replace(",", "")
        if digits.isascii() and digits.isdigit() and len(digits) <= 15:
            return int(digits)
    return None


def whole(minimum: int, maximum: int) -> Kind:
    """Whole numbers between the two."""

    def parse(value: object) -> int:
        guess = whole_guess(value)
        return within(only(int, value, f"write {guess}" if guess else ""), minimum, maximum)

    bound = f"from {minimum} to {maximum}" if maximum <= MOST_SAID else f"at least {minimum}"
    schema = {"type": "integer", "minimum": minimum, "maximum": maximum}
    return Kind(f"a whole number, {bound}", parse, schema)


def choice(words: Iterable[str], make: Callable[[str], str] = str) -> Kind:
    """One of some words, perhaps those of an enumeration."""
    known = [str(word) for word in words]

    def parse(value: object) -> str:
        if type(value) is str and value in known:
            return make(value)
        plain = value is None or isinstance(value, str | bool)
        text = ("null" if value is None else str(value).lower()) if plain else ""
        meant = (word for word in _MEANT.get(text, ()) if word in known)
        near = next(meant, None) or did_you_mean(text.replace("-", "_"), known)
        raise Refused(f"did you mean '{near}'?" if near else "")

    schema = {"type": "string", "enum": known}
    return Kind(f"one of {', '.join(known)}", parse, schema, str)


def of_words(words: type[StrEnum]) -> Kind:
    """One of the words of an enumeration."""
    return choice(words, words)
