"""The kinds of value that settings have: how each is written, read and shown, and what is wrong.

An address or the name of a variable is never shown in a message: what somebody wrote there by
mistake may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import lru_cache, partial
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from sexton.core.message import one_line
from sexton.core.record import record, replace
from sexton.core.session import NATIVE, check_name
from sexton.core.setting import KindName
from sexton.errors import InvalidName
from sexton.finalizers.policy import EVERY_SOURCE
from sexton.settings.quantities import (
    LONGEST,
    guess_duration,
    parse_duration,
    parse_size,
    show_duration,
    show_size,
)
from sexton.settings.settings_problems import Found, Path, did_you_mean
from sexton.settings.settings_values import EVENTS, PREFIX

T = TypeVar("T")

SHOWN: Final = 60
MOST: Final = 10**9
MOST_SAID: Final = 10**6  # a larger maximum only says that a number can not be meant
MOST_BYTES: Final = 10**15
MOST_COUNTED: Final = 10**12
MOST_USD: Final = 1_000_000
MOST_STEPS: Final = 10
LEAST_LARGE: Final = 10**6

_MEANT: Mapping[str, tuple[str, ...]] = {
    "delete": ("remove",),
    "trash": ("remove",),
    "true": ("remove",),
    "zst": ("zstd",),
    "gz": ("gzip",),
    **dict.fromkeys(("off", "no", "never", "disabled", "false", "null", "none"), ("none", "keep")),
}
"""Words that people write instead of one of ours."""
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::[0-9]{2})?")
_NO_ZONE = {"localtime", "Factory"}  # what they mean depends on the machine
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_SECRET = re.compile(
    r"(sk|pk|rk|gsk|hf|gh[a-z]|glpat|xox[a-z]|whsec)[-_].*|AKIA[A-Z0-9]{12,}"
    r"|.*://.*|(?=.*[a-z])(?=.*[0-9]).{20,}"
)
_PLACE_OF_CHATS = "/chat/completions"


class Refused(ValueError):
    """The value is not of its kind; the text, if there is any, is what to write instead."""


def as_is(value: object) -> object:
    """A value that is written the way it is."""
    return value


@record
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
            words=f"{self.words}, or null for {meaning}",
            parse=lambda value: None if value is None else self.parse(value),
            schema={"anyOf": [dict(self.schema), {"type": "null"}]},
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
    return Kind(words=f"a whole number, {bound}", parse=parse, schema=schema)


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
    return Kind(words=f"one of {', '.join(known)}", parse=parse, schema=schema, show=str)


def of_words(words: type[StrEnum]) -> Kind:
    """One of the words of an enumeration."""
    return choice(words, words)


def _minutes(value: object) -> int:
    guess: int | None = whole_guess(value)
    if isinstance(value, str) and guess is None:
        span = guess_duration(value)
        guess = int(span.total_seconds()) // 60 if span and not span.seconds % 60 else None
    hint = f"write {guess}" if guess else ""
    return within(only(int, value, hint), 1, int(LONGEST.total_seconds()) // 60)


def _hour(value: object) -> int:
    guess = whole_guess(value)
    if isinstance(value, str) and (clock := _CLOCK.fullmatch(value)):
        if clock[2] != "00":
            raise Refused("daily resets happen on the hour")
        guess = int(clock[1])
    if value == 24 or guess == 24:
        raise Refused("midnight is 0")
    possible = guess is not None and 0 <= guess <= 23
    hour = only(int, value, f"write {guess}" if possible else "")
    if not 0 <= hour <= 23:
        raise Refused
    return hour


def _size(value: object) -> int:
    if isinstance(value, str) and (size := parse_size(value)):
        return within(size, 1, MOST_BYTES)
    guess = whole_guess(value)
    hint = f"write {guess}" if guess else ""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,15}\s?[kKmMgGtT]", value):
        hint = f"write {value}B or {value}iB"
    return within(only(int, value, hint), 1, MOST_BYTES)


def _large_size(value: object) -> int:
    size = _size(value)
    if size < LEAST_LARGE:
        raise Refused("the smallest is 1MB")
    return size


def _duration(value: object) -> timedelta:
    if type(value) is int and value > 0:
        raise Refused(f"the unit is missing: write {value}s, {value}m, {value}h or {value}d")
    text = only(str, value)
    span = parse_duration(text)
    if span is None:
        guess = guess_duration(text)
        raise Refused(f"write {show_duration(guess)}" if guess else "")
    if not span:
        raise Refused("the shortest is 1s")
    return span


def _share(value: object) -> float:
    number = value
    if isinstance(value, int | float) and 1 < value < 100:
        if isinstance(value, float) and value < 10:  # hardly meant as percent
            raise Refused("1 is the whole, 80% is four fifths of it")
        raise Refused(f"write {value / 100:g}")
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,9})?%", value):
        number = float(value[:-1]) / 100
    share = only(float, number)
    if not 0 < share < 1:
        raise Refused
    return share


def _dollars(value: object, least: str) -> float:
    if type(value) not in (int, float):
        raise Refused("write a number of dollars, like 5 or 0.25")
    try:
        fits = Decimal(least) <= Decimal(str(value)) <= MOST_USD
    except InvalidOperation:
        raise Refused from None
    if not fits:
        raise Refused(f"from {least} to {MOST_USD}")
    return float(str(value))


def _steps(value: object) -> tuple[int, ...]:
    steps = [within(only(int, step), 1, MOST_COUNTED) for step in only(list, value)]
    if not steps or len(steps) > MOST_STEPS or sorted(set(steps)) != steps:
        raise Refused("each step must be higher than the one before")
    return tuple(steps)


def _zone(value: object) -> str:
    text = only(str, value)
    if text in _zones():
        return text
    cities = {zone.rpartition("/")[2].casefold(): zone for zone in sorted(_zones(), reverse=True)}
    cities |= {zone.casefold(): zone for zone in _zones()}
    city = cities.get(text.strip().replace(" ", "_").casefold())
    near = city or did_you_mean(text, sorted(_zones()), 0.75)
    raise Refused(f"did you mean '{near}'?" if near else "")


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones() - _NO_ZONE)


def _flag(value: object) -> bool:
    text = value.lower() if isinstance(value, str) else ""
    meant = {"yes": "true", "on": "true", "no": "false", "off": "false"}.get(text, text)
    return only(bool, value, f"write {meant}" if meant in ("true", "false") else "")


def _name(value: object) -> str:
    try:
        return check_name("name", only(str, value))
    except InvalidName as problem:
        raise Refused(str(problem)) from None


def _path(value: object) -> str:
    return _name(only(str, value, "quote it: '~'" if value is None else ""))


def _plain_name(value: object) -> str:
    text = only(str, value)
    if not _PLAIN_NAME.fullmatch(text):
        raise Refused
    return text


def _home_name(value: object) -> str:
    name = _name(value)
    if name == NATIVE:
        raise Refused(f"'{NATIVE}' is the name of Sexton's own sessions")
    if not name.isprintable() or any(character in "/ " for character in name):
        raise Refused
    return name


def _home_kind(value: object) -> str:
    if value != "hermes":
        raise Refused("write hermes")
    return "hermes"


def _source(value: object) -> str:
    if value == EVERY_SOURCE:
        raise Refused("what holds for every source is set in retention itself")
    return _name(value)


def _command(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        raise Refused("write the program and each argument as an item of a list")
    arguments = only(list, value)
    for place, argument in enumerate(arguments):
        if not isinstance(argument, str):
            raise Refused(f"item {place + 1} is no text; put it in quotes")
        if "\0" in argument or any("\ud800" <= character <= "\udfff" for character in argument):
            raise Refused(f"item {place + 1} can not be given to a program")
    if not arguments or not arguments[0]:
        raise Refused("the first item is the program to run")
    return tuple(arguments)


def _variable(value: object) -> str:
    text = only(str, value, "write the name of a variable")
    if _SECRET.fullmatch(text):
        raise Refused("this looks like the secret itself: put it in a variable and write its name")
    if not _VARIABLE.fullmatch(text):
        raise Refused("a name has letters, digits and underscores only")
    if text.startswith(PREFIX):
        raise Refused(f"names that start with {PREFIX} are for settings")
    return text


def _address(value: object) -> str:
    text = only(str, value)
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise Refused from None
    if not text.isascii() or not text.isprintable() or " " in text:
        raise Refused("it has characters that an address can not have")
    if parts.scheme not in ("http", "https"):
        raise Refused("it must start with http:// or https://")
    if "@" in parts.netloc:
        raise Refused("it holds a user or a password; name a variable for the secret instead")
    if not host or port == 0:
        raise Refused("the server is missing")
    return text


def _endpoint(value: object) -> str:
    text = _address(value)
    if text.rstrip("/").endswith(_PLACE_OF_CHATS):
        raise Refused(f"leave out {_PLACE_OF_CHATS}")
    if "?" in text or "#" in text:
        raise Refused("leave out what begins with ? or #, for more is added at the end")
    return text


_TEXT = {"type": "string", "minLength": 1}
_SIZE = {"type": "string", "pattern": "^[0-9.]+ ?([kKmMgGtT]i?)?[bB]$"}
_URL = {"type": "string", "pattern": "^https?://"}


def _number(kind: str, **bounds: float) -> Mapping[str, Any]:
    return {"type": kind, **bounds}


FLAG = Kind(words="true or false", parse=_flag, schema={"type": "boolean"})
COUNT = whole(1, MOST)
DURATION = Kind(
    words="a duration like 90s, 15m, 24h, 7d or 2w",
    parse=_duration,
    schema={"type": "string", "pattern": "^[0-9]+[smhdw]$"},
    show=show_duration,
)
NAME = Kind(words="a name", parse=_name, schema=_TEXT)

NAMED: Mapping[KindName, Kind] = {
    "address": Kind(
        words="an address like https://example.org/hook", parse=_address, schema=_URL, secret=True
    ),
    "amount": whole(1, MOST_COUNTED),
    "at_once": whole(1, 256),
    "command": Kind(
        words="a list of a program and its arguments",
        parse=_command,
        schema={"type": "array", "items": {"type": "string"}, "minItems": 1},
        show=list,
    ),
    "directory": Kind(words="a directory", parse=_path, schema=_TEXT, show=str),
    "endpoint": Kind(
        words="an address like http://127.0.0.1:8080/v1", parse=_endpoint, schema=_URL, secret=True
    ),
    "event": choice(EVENTS),
    "file": Kind(words="a file", parse=_path, schema=_TEXT, show=str),
    "home_kind": Kind(
        words="a kind of home Sexton knows", parse=_home_kind, schema={"enum": ["hermes"]}
    ),
    "home_name": Kind(words="a name without spaces and slashes", parse=_home_name, schema=_TEXT),
    "hour": Kind(
        words="a whole hour from 0 to 23",
        parse=_hour,
        schema=_number("integer", minimum=0, maximum=23),
    ),
    "large_size": Kind(
        words="a size like 10GB or 500MiB, at least 1MB",
        parse=_large_size,
        schema={"anyOf": [_number("integer", minimum=LEAST_LARGE, maximum=MOST_BYTES), _SIZE]},
        show=show_size,
    ),
    "minutes": replace(whole(1, int(LONGEST.total_seconds()) // 60), parse=_minutes),
    "money": Kind(
        words="dollars, at least 0.01",
        parse=partial(_dollars, least="0.01"),
        schema=_number("number", minimum=0.01, maximum=MOST_USD),
    ),
    "pattern": Kind(words="a pattern like 'agent:main:*'", parse=_name, schema=_TEXT),
    "plain_name": Kind(
        words="a name of letters, digits, dots, dashes and underscores",
        parse=_plain_name,
        schema={"type": "string", "pattern": f"^{_PLAIN_NAME.pattern}$"},
    ),
    "port": whole(1, 65535),
    "price": Kind(
        words="dollars for a million tokens",
        parse=partial(_dollars, least="0"),
        schema=_number("number", minimum=0, maximum=MOST_USD),
    ),
    "share": Kind(
        words="a share above 0 and below 1, like 0.8 or 80%",
        parse=_share,
        schema={
            "anyOf": [
                _number("number", exclusiveMinimum=0, exclusiveMaximum=1),
                {"type": "string", "pattern": "^[0-9.]+%$"},
            ]
        },
    ),
    "size": Kind(
        words="a size like 10MB, 512KiB or a number of bytes, at least 1",
        parse=_size,
        schema={"anyOf": [_number("integer", minimum=1, maximum=MOST_BYTES), _SIZE]},
        show=show_size,
    ),
    "source": Kind(words="the name of a source", parse=_source, schema=_TEXT),
    "steps": Kind(
        words="a list of rising whole numbers",
        parse=_steps,
        schema={"type": "array", "items": _number("integer", minimum=1), "minItems": 1},
        show=list,
    ),
    "tokens": whole(1000, MOST),
    "variable": Kind(
        words="the name of an environment variable, like OPENAI_API_KEY",
        parse=_variable,
        schema={"type": "string", "pattern": f"^{_VARIABLE.pattern}$"},
        secret=True,
    ),
    "zone": Kind(
        words="a time zone like Europe/Berlin",
        parse=_zone,
        schema={"type": "string", "examples": ["Europe/Berlin", "UTC"]},
    ),
}
"""The kinds that a declaration names."""
BY_TYPE: Mapping[object, Kind] = {
    bool: FLAG, int: COUNT, timedelta: DURATION, str: NAME, float: NAMED["share"],
}  # fmt: skip
"""The kinds that a field's type tells."""
