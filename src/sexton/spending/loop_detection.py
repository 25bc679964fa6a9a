"""Does an agent go round in circles?

A call counts as repeated only if its result is repeated, too: whoever polls and sees something
new makes progress. A trail is a value that is made of calls one by one, so that each costs the
same however long it has become.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

from sexton.core.record import record

LONGEST = 5
"""The longest cycle, in calls."""
LOOSE = 2
"""The same result of other calls counts for so much less."""


class Call(NamedTuple):
    """A tool call: the tool, and digests of its arguments and of its result."""

    tool: str
    arguments: str
    result: str


@record(kw_only=False)
class Trail:
    """The last calls, the newest first, and for how many calls each pattern has gone on."""

    last: tuple[Call, ...] = ()
    cycles: tuple[int, ...] = (0,) * LONGEST
    same_tool: int = 0
    same_result: int = 0


class Repetition(NamedTuple):
    """What is repeated, how many times in a row, how much that weighs, and whether it may stop.

    Other calls with one result, like "ok" or "not found", may be good work: that is only told.
    """

    what: str
    times: int
    weight: int
    stops: bool = True


def after(trail: Trail, call: Call) -> Trail:
    """The trail after one call more."""
    last = trail.last
    before = last[0] if last else None
    cycles = tuple(
        run + 1 if place < len(last) and last[place] == call else 0
        for place, run in enumerate(trail.cycles)
    )
    # That nothing was said about a result does not make it the same.
    result = before is not None and before.result == call.result != ""
    tool = result and before is not None and before.tool == call.tool
    return Trail(
        (call, *last[: LONGEST - 1]),
        cycles,
        trail.same_tool + 1 if tool else 0,
        trail.same_result + 1 if result else 0,
    )


def trail_of(history: Iterable[Call]) -> Trail:
    """The trail of a whole history, oldest first."""
    return reduce(after, history, Trail())


def repetition(trail: Trail) -> Repetition | None:
    """What goes on again and again, the heaviest first, or None."""
    call, *_ = trail.last or (None,)
    if call is None:
        return None
    found = []
    for place, run in enumerate(trail.cycles):
        length = place + 1
        times = run // length + 1
        if times > 1:
            what = f"the call of {call.tool} with the same arguments and the same result"
            if length > 1:
                names = " ".join(each.tool for each in reversed(trail.last[:length]))
                what = f"a cycle of {length} calls ({names}) with the same results"
            found.append(Repetition(what, times, times))
            break  # whatever repeats at once also repeats at every multiple
    for run, what in (
        (trail.same_tool, f"{call.tool} in a row with the same result"),
        (trail.same_result, "the same result of one call after the other"),
    ):
        if run:
            found.append(Repetition(what, run + 1, (run + 1) // LOOSE, stops=False))
    return max(found, key=lambda each: (each.weight, each.stops), default=None)


def words(found: Repetition, step: int, steps: int) -> str:
    """What to tell the model about it, more urgently with each step."""
    head = f"This is repetition {found.times} of {found.what}; nothing new comes of it. "
    if step > 1 and not found.stops:
        return head + "If you are looking for something else, take another way now."
    if step >= steps:
        return head + (
            "Tools are stopped for now. Say what you know and what you are missing, and ask the "
            "user how to go on."
        )
    if step > 1:
        return head + "Stop this and take another way now, or tools will be stopped."
    return head + "Use what you have already learned, or do something different."
