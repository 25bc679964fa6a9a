"""Which messages may give way to a summary, and on what terms?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TypedDict

from sexton.core.record import record
from sexton.errors import InputInvalid

ABORT = "abort"
FALLBACK = "fallback"
LONGEST = timedelta(days=3650).total_seconds()
WORTH_IT = 2
"""So many messages at least are replaced by one."""


@record
class Terms:
    """What is kept word for word, and how long and how often a summary is asked for."""

    keep_head: int = 2
    keep_tail: int = 8
    timeout: float | timedelta = timedelta(minutes=2)
    attempts: int = 3
    on_failure: str = ABORT
    cool_down: float | timedelta = timedelta(minutes=5)


class Options(TypedDict, total=False):
    """`Terms` as the arguments of a call; times are seconds or a timedelta."""

    keep_head: int
    keep_tail: int
    timeout: float | timedelta
    attempts: int
    on_failure: str
    cool_down: float | timedelta


def span(roles: Sequence[str], keep_head: int, keep_tail: int) -> tuple[int, int] | None:
    """The first message to summarise, counted from 0, and the first after it that is kept.

    None if nothing would be gained. What a tool answered stays with the call that asked for it.
    """
    begin, end = keep_head, len(roles) - keep_tail
    while begin < end and roles[begin] == "tool":
        begin += 1
    while begin < end < len(roles) and roles[end] == "tool":
        end -= 1
    return (begin, end) if end - begin >= WORTH_IT else None


def checked(terms: Terms) -> Terms:
    """The terms, unless one can only be a mistake."""
    if terms.keep_head < 0 or terms.keep_tail < 0:
        raise InputInvalid("less than nothing can not be kept", hint="Keep 0 messages or more.")
    if not isinstance(terms.attempts, int) or terms.attempts < 1:
        raise InputInvalid("a summary has to be asked for", hint="Allow 1 attempt or more.")
    if not 0 < seconds(terms.timeout) <= LONGEST or not 0 <= seconds(terms.cool_down) <= LONGEST:
        raise InputInvalid("a time is too short or too long", hint="Give seconds or a timedelta.")
    if terms.on_failure not in (ABORT, FALLBACK):
        raise InputInvalid(
            f"'{terms.on_failure}' is no way to meet a failure",
            hint=f"Known are {ABORT} and {FALLBACK}.",
        )
    return terms


def seconds(time: float | timedelta) -> float:
    """A time in seconds, however it was given."""
    return time.total_seconds() if isinstance(time, timedelta) else time
