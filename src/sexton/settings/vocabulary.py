"""Which kinds of value do Sexton's settings have?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import available_timezones

from sexton.core.session import NATIVE, check_name
from sexton.errors import InvalidName
from sexton.resets.policy import Mode
from sexton.settings.kinds import Kind, Refused, only, whole_guess, within
from sexton.settings.quantities import (
    LONGEST,
    guess_duration,
    parse_duration,
    parse_size,
    show_duration,
    show_size,
)
from sexton.settings.settings_problems import did_you_mean

LONGEST_MINUTES: Final = int(LONGEST.total_seconds()) // 60
MOST: Final = 10**9
MOST_BYTES: Final = 10**15

_NO_MODE = {"off", "no", "false", "never", "null", "disabled"}
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::[0-9]{2})?")
_NO_ZONE = {"localtime", "Factory"}  # what they mean depends on the machine


def _mode(value: object) -> Mode:
    text = value if isinstance(value, str) else "null" if value in (None, False) else ""
    if text in set(Mode):
        return Mode(text)
    if text.lower() in _NO_MODE:
        raise Refused("write none")
    raise Refused(_meant(text.lower(), map(str, Mode)))


def _minutes(value: object) -> int:
    guess: int | None = whole_guess(value)
    if isinstance(value, str) and guess is None:
        span = guess_duration(value)
        guess = int(span.total_seconds()) // 60 if span and not span.seconds % 60 else None
    return within(only(int, value, f"write {guess}" if guess else ""), 1, LONGEST_MINUTES)


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


def _count(value: object) -> int:
    guess = whole_guess(value)
    return within(only(int, value, f"write {guess}" if guess else ""), 1, MOST)


def _size(value: object) -> int:
    if isinstance(value, str) and (size := parse_size(value)):
        return within(size, 1, MOST_BYTES)
    guess = whole_guess(value)
    hint = f"write {guess}" if guess else ""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,15}\s?[kKmMgGtT]", value):
        hint = f"write {value}B or {value}iB"
    return within(only(int, value, hint), 1, MOST_BYTES)


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


def _zone(value: object) -> str:
    text = only(str, value)
    if text in _zones():
        return text
    raise Refused(_meant_zone(text))


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    return frozenset(available_timezones() - _NO_ZONE)


def _meant_zone(text: str) -> str:
    city = _cities().get(text.strip().replace(" ", "_").casefold())
    return f"did you mean '{city}'?" if city else _meant(text, sorted(_zones()), 0.75)


@lru_cache(maxsize=1)
def _cities() -> Mapping[str, str]:
    """Zones by their names in small letters, whole or the last part only."""
    last = {zone.rpartition("/")[2].casefold(): zone for zone in sorted(_zones(), reverse=True)}
    return last | {zone.casefold(): zone for zone in _zones()}


def _meant(text: str, choices: Iterable[str], cutoff: float = 0.6) -> str:
    near = did_you_mean(text, choices, cutoff)
    return f"did you mean '{near}'?" if near else ""


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


def _whole(minimum: int, maximum: int) -> dict[str, object]:
    return {"type": "integer", "minimum": minimum, "maximum": maximum}


_TEXT = {"type": "string", "minLength": 1}
_SPAN = {"type": "string", "pattern": "^[0-9]+[smhdw]$"}
_SHARE = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
_SIZE = {"type": "string", "pattern": "^[0-9.]+ ?([kKmMgGtT]i?)?[bB]$"}

MODE = Kind(
    words="one of none, idle, daily, both",
    read=_mode,
    schema={"type": "string", "enum": [str(mode) for mode in Mode]},
    show=str,
)
MINUTES = Kind(
    words="a whole number of minutes, at least 1",
    read=_minutes,
    schema=_whole(1, LONGEST_MINUTES),
)
HOUR = Kind(words="a whole hour from 0 to 23", read=_hour, schema=_whole(0, 23))
ZONE = Kind(
    words="a time zone like Europe/Berlin",
    read=_zone,
    schema={"type": "string", "examples": ["Europe/Berlin", "UTC"]},
)
DURATION = Kind(
    words="a duration like 90s, 15m, 24h, 7d or 2w",
    read=_duration,
    schema=_SPAN,
    show=show_duration,
)
COUNT = Kind(words="a whole number, at least 1", read=_count, schema=_whole(1, MOST))
SIZE = Kind(
    words="a size like 10MB, 512KiB or a number of bytes, at least 1",
    read=_size,
    schema={"anyOf": [_whole(1, MOST_BYTES), _SIZE]},
    show=show_size,
)
SHARE = Kind(
    words="a share above 0 and below 1, like 0.8 or 80%",
    read=_share,
    schema={"anyOf": [_SHARE, {"type": "string", "pattern": "^[0-9.]+%$"}]},
)
FLAG = Kind(words="true or false", read=_flag, schema={"type": "boolean"})
NAME = Kind(words="a name", read=_name, schema=_TEXT)
NAME_OR_NONE = NAME.or_null("the usual one")
PATTERN = Kind(words="a pattern like 'agent:main:*'", read=_name, schema=_TEXT)
PATH = Kind(words="a directory", read=_path, schema=_TEXT)
HOME_NAME = Kind(words="a name without spaces and slashes", read=_home_name, schema=_TEXT)
HOME_KIND = Kind(words="a kind of home Sexton knows", read=_home_kind, schema={"enum": ["hermes"]})
