"""Every kind of value that settings have.

An address or the name of a variable is never shown in a message: what somebody wrote there by
mistake may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache, partial
from typing import Any, Final
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from sexton.core.record import replace
from sexton.core.session import NATIVE, check_name
from sexton.core.setting import KindName
from sexton.errors import InvalidName
from sexton.finalizers.policy import EVERY_SOURCE
from sexton.settings.kinds import MOST, Kind, Refused, choice, only, whole, whole_guess, within
from sexton.settings.quantities import (
    LONGEST,
    guess_duration,
    parse_duration,
    parse_size,
    show_duration,
    show_size,
)
from sexton.settings.settings_problems import did_you_mean
from sexton.settings.settings_values import EVENTS, PREFIX

MOST_BYTES: Final = 10**15
MOST_COUNTED: Final = 10**12
MOST_USD: Final = 1_000_000
MOST_STEPS: Final = 10
LEAST_LARGE: Final = 10**6
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::[0-9]{2})?")
_NO_ZONE = {"localtime", "Factory"}  # what they mean depends on the machine
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_SECRET = re.compile(
    r"(sk|pk|rk|gsk|hf|gh[a-z]|glpat|xox[a-z]|whsec)[-_].*|AKIA[A-Z0-9]{12,}"
    r"|.*://.*|(?=.*[a-z])(?=.*[0-9]).{20,}"
)
_PLACE_OF_CHATS = "/chat/completions"


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


FLAG = Kind("true or false", _flag, {"type": "boolean"})
COUNT = whole(1, MOST)
DURATION = Kind(
    "a duration like 90s, 15m, 24h, 7d or 2w",
    _duration,
    {"type": "string", "pattern": "^[0-9]+[smhdw]$"},
    show_duration,
)
NAME = Kind("a name", _name, _TEXT)

NAMED: Mapping[KindName, Kind] = {
    "address": Kind("an address like https://example.org/hook", _address, _URL, secret=True),
    "amount": whole(1, MOST_COUNTED),
    "at_once": whole(1, 256),
    "command": Kind(
        "a list of a program and its arguments",
        _command,
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
        list,
    ),
    "directory": Kind("a directory", _path, _TEXT, str),
    "endpoint": Kind("an address like http://127.0.0.1:8080/v1", _endpoint, _URL, secret=True),
    "event": choice(EVENTS),
    "file": Kind("a file", _path, _TEXT, str),
    "home_kind": Kind("a kind of home Sexton knows", _home_kind, {"enum": ["hermes"]}),
    "home_name": Kind("a name without spaces and slashes", _home_name, _TEXT),
    "hour": Kind(
        "a whole hour from 0 to 23",
        _hour,
        _number("integer", minimum=0, maximum=23),
    ),
    "large_size": Kind(
        "a size like 10GB or 500MiB, at least 1MB",
        _large_size,
        {"anyOf": [_number("integer", minimum=LEAST_LARGE, maximum=MOST_BYTES), _SIZE]},
        show_size,
    ),
    "minutes": replace(whole(1, int(LONGEST.total_seconds()) // 60), parse=_minutes),
    "money": Kind(
        "dollars, at least 0.01",
        partial(_dollars, least="0.01"),
        _number("number", minimum=0.01, maximum=MOST_USD),
    ),
    "pattern": Kind("a pattern like 'agent:main:*'", _name, _TEXT),
    "plain_name": Kind(
        "a name of letters, digits, dots, dashes and underscores",
        _plain_name,
        {"type": "string", "pattern": f"^{_PLAIN_NAME.pattern}$"},
    ),
    "port": whole(1, 65535),
    "price": Kind(
        "dollars for a million tokens",
        partial(_dollars, least="0"),
        _number("number", minimum=0, maximum=MOST_USD),
    ),
    "share": Kind(
        "a share above 0 and below 1, like 0.8 or 80%",
        _share,
        {
            "anyOf": [
                _number("number", exclusiveMinimum=0, exclusiveMaximum=1),
                {"type": "string", "pattern": "^[0-9.]+%$"},
            ]
        },
    ),
    "size": Kind(
        "a size like 10MB, 512KiB or a number of bytes, at least 1",
        _size,
        {"anyOf": [_number("integer", minimum=1, maximum=MOST_BYTES), _SIZE]},
        show_size,
    ),
    "source": Kind("the name of a source", _source, _TEXT),
    "steps": Kind(
        "a list of rising whole numbers",
        _steps,
        {"type": "array", "items": _number("integer", minimum=1), "minItems": 1},
        list,
    ),
    "tokens": whole(1000, MOST),
    "variable": Kind(
        "the name of an environment variable, like OPENAI_API_KEY",
        _variable,
        {"type": "string", "pattern": f"^{_VARIABLE.pattern}$"},
        secret=True,
    ),
    "zone": Kind(
        "a time zone like Europe/Berlin",
        _zone,
        {"type": "string", "examples": ["Europe/Berlin", "UTC"]},
    ),
}
"""The kinds that a declaration names."""
BY_TYPE: Mapping[object, Kind] = {
    bool: FLAG, int: COUNT, timedelta: DURATION, str: NAME, float: NAMED["share"],
}  # fmt: skip
"""The kinds that a field's type tells."""
