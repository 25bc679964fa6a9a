"""How are times, sizes and counts said to a person?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import overload

_SPANS = (("d", 86400), ("h", 3600), ("min", 60))
_SIZES = ("B", "KB", "MB", "GB", "TB")


@overload
def iso(moment: datetime) -> str: ...


@overload
def iso(moment: datetime | None) -> str | None: ...


def iso(moment: datetime | None) -> str | None:
    """A time for programs: ISO 8601 in UTC, always of the same length."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def moment_of(text: str) -> datetime:
    """The time that `iso` has written."""
    return datetime.fromisoformat(text)


def stamp(moment: datetime | None) -> str:
    """A time for people, to the minute."""
    return "-" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def ago(moment: datetime, now: datetime) -> str:
    """How long ago that was; clocks of two machines may differ by some seconds."""
    past = now - moment
    return "just now" if abs(past) < timedelta(minutes=1) else _signed(past)


def until(moment: datetime | None, now: datetime) -> str:
    """When that was, with how long ago it is."""
    return "-" if moment is None else f"{stamp(moment)}, {ago(moment, now)}"


def ahead(moment: datetime, now: datetime) -> str:
    """When something is to happen, with how far away that is to the second."""
    return f"{stamp(moment)}, {_signed(now - moment)}"


def size(count: int) -> str:
    """A number of bytes with three digits at most."""
    amount = float(count)
    for unit in _SIZES:
        if amount < 1000 or unit == _SIZES[-1]:
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"


def number(count: int) -> str:
    """A count with its thousands apart."""
    return f"{count:,}".replace(",", " ")


def remaining(left: int, whole: int) -> str:
    """How much of something is left; just how much, where that is all of it."""
    return number(left) if left == whole else f"{number(left)} of {number(whole)}"


def counted(count: int, singular: str, plural: str | None = None) -> str:
    """A count and what is counted."""
    return f"{number(count)} {singular if count == 1 else plural or singular + 's'}"


def share(part: int, whole: int) -> str:
    """A part of a whole in per cent; a part that is there never reads as none."""
    if not whole:
        return "-"
    percent = 100 * part / whole
    return "< 1 %" if 0 < percent < 1 else f"{percent:.0f} %"


def _signed(past: timedelta) -> str:
    return f"in {span(-past)}" if past < timedelta(0) else f"{span(past)} ago"


def span(length: timedelta) -> str:
    """A length of time in its largest unit."""
    seconds = int(length.total_seconds())
    for unit, whole in _SPANS:
        if seconds >= whole:
            return f"{seconds // whole} {unit}"
    return f"{seconds} s"
