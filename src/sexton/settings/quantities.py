"""How durations and sizes are written."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

LONGEST = timedelta(days=36_500)
"""A hundred years; more can only be a mistake, and dates end in the year 9999."""

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"([0-9]{1,12})([smhdw])")
_SPOKEN = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*([a-z]+)")
_WORDS = {
    "s": ("sec", "secs", "second", "seconds"),
    "m": ("min", "mins", "minute", "minutes"),
    "h": ("hr", "hrs", "hour", "hours"),
    "d": ("day", "days"),
    "w": ("wk", "week", "weeks"),
}
_BYTES = {"b": 1} | {
    prefix + unit: base**power
    for unit, base in (("b", 1000), ("ib", 1024))
    for power, prefix in enumerate("kmgt", start=1)
}
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)\s?([a-z]{1,3})")


def parse_duration(text: str) -> timedelta | None:
    """A duration written as `90s 15m 24h 7d 2w`, or None if it is not one."""
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    seconds = int(match[1]) * _SECONDS[match[2]]
    return timedelta(seconds=seconds) if seconds <= LONGEST.total_seconds() else None


def guess_duration(text: str) -> timedelta | None:
    """What somebody meant by `30 days`, `1.5h` or `15 Min`, or None."""
    match = _SPOKEN.fullmatch(text.strip().lower())
    unit = next((u for u, words in _WORDS.items() if match and match[2] in (u, *words)), None)
    if match is None or unit is None:
        return None
    seconds = Decimal(match[1]) * _SECONDS[unit]
    whole = seconds == int(seconds) and 0 < seconds <= LONGEST.total_seconds()
    return timedelta(seconds=int(seconds)) if whole else None


def show_duration(span: timedelta) -> str:
    """A duration of whole seconds as `parse_duration` reads it; a minute is 60s, a day 24h."""
    seconds = int(span.total_seconds())
    exact = [u for u, size in _SECONDS.items() if seconds % size == 0 and seconds // size > 1]
    unit = exact[-1] if exact else "s"
    return f"{seconds // _SECONDS[unit]}{unit}"


def parse_size(text: str) -> int | None:
    """A size written as `10MB` (thousands) or `10MiB` (1024s), or None if it is not one."""
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None or match[2] not in _BYTES:
        return None
    size = Decimal(match[1]) * _BYTES[match[2]]
    return int(size) if size == int(size) else None


def show_size(size: int) -> int | str:
    """A size as `parse_size` reads it, in the largest exact unit of thousands."""
    for unit in ("tb", "gb", "mb", "kb"):
        if size and size % _BYTES[unit] == 0:
            return f"{size // _BYTES[unit]}{unit.upper()}"
    return size
