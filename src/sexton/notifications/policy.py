"""Of what are people told, in which words, and when is it the same thing?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta

from sexton.core.message import one_line
from sexton.core.plan import Held, JournalEntry, Reason, Result
from sexton.core.record import record
from sexton.core.session import NATIVE
from sexton.finalizers.model import Finalization
from sexton.finalizers.policy import RetryPolicy
from sexton.notifications.model import Event, Notice
from sexton.processes.model import Process

FEW = 5
"""More than so many at once are told together."""
EXAMPLES = 3
RETRY = RetryPolicy(attempts=16)
"""Tries go on for a day and a half: a server may be down over night."""
RESETS = frozenset({"idle", "daily", "max_messages", "max_bytes", "max_turns", "max_age"})
"""The reasons for which a policy resets a session."""
ANNOUNCE_STOP, LEAVE_PROCESS = "announce_stop", "leave_process"
"""What the journal calls it when something is told of a process."""
HINT = "hint:"
"""The first part of a reason's code in news of a process that only a home names."""

_LONGEST_NAME = 80
_LONGEST_KEY = 500

Title = Callable[[str, str], str | None]
"""The title of a session by its home and id, if it has one."""


@record
class Interest:
    """What somebody wants to be told of."""

    events: frozenset[Event] = frozenset(Event)
    held_after: timedelta = timedelta(hours=24)


@record
class Occasion:
    """Something that happened to a session; `words` go on after its name.

    `at` is the moment from which on it was worth telling.
    """

    key: str
    event: Event
    at: datetime
    home: str
    session: str
    words: str


def journalled(entry: JournalEntry) -> Occasion | None:
    """A reset, a warning or news of a process, or None for everything else that was done."""
    if entry.home is None or entry.session is None or entry.result != Result.DONE:
        return None
    code, text = entry.reason.code, entry.reason.text
    parts = (entry.home, entry.session, str(entry.ref))
    if entry.action in (ANNOUNCE_STOP, LEAVE_PROCESS):
        told_once = (*parts[:2], code) if code.startswith(HINT) else parts
        return _occasion(Event.PROCESS, told_once, entry.at, text)
    if entry.action == "end" and code in RESETS:
        return _occasion(Event.RESET, parts, entry.at, f"was reset: {text}.")
    if code.startswith(("budget:", "near_budget:", "breaker:")):
        told = "comes near a budget" if entry.action == "warn" else f"was stopped ({entry.action})"
        return _occasion(Event.BUDGET, parts, entry.at, f"{told}: {text}.")
    if entry.action == "warn":
        parts = (entry.home, entry.session, code.removeprefix("near_max_"))
        told = "comes near a limit" if code.startswith("near_") else "has become large"
        return _occasion(Event.LIMIT, parts, entry.at, f"{told}: {text}.")
    return None


def about_disk(reason: Reason, now: datetime) -> Notice:
    """Space runs out, or more waits to be removed than may go by itself; news once a day."""
    return Notice(
        key=f"{_KEYS[Event.DISK]}/{reason.code}/{now:%Y-%m-%d}",
        event=Event.DISK,
        title=_HEADS[Event.DISK],
        text=f"{reason.text}. {_ADVICE[Event.DISK]}",
    )


def dead_letter(given_up: Finalization) -> Occasion:
    """End-of-session work was given up; tried again by hand and given up again, it is another.

    The error is not in it: it may quote what the program said about the transcript.
    """
    finalizer = one_line(given_up.finalizer)
    parts = (given_up.home, given_up.session, f"{given_up.through}", finalizer, f"{given_up.claim}")
    tries = "1 try" if given_up.attempts == 1 else f"{given_up.attempts} tries"
    words = f"has end-of-session work that was given up: {finalizer}, after {tries}."
    at = given_up.finished_at or given_up.not_before
    return _occasion(Event.DEAD_LETTER, parts, at, words)


def long_held(held: Held, since: datetime, interest: Interest, now: datetime) -> Occasion | None:
    """A reset that is held back, or None while that has not lasted long enough to be told."""
    if now - since < interest.held_after:
        return None
    parts = (held.seen.home, held.seen.id, f"{since:%Y%m%dT%H%M%S.%f}")
    words = (
        f"should be reset ({held.wanted.text}), but that is held back since"
        f" {since:%Y-%m-%d %H:%M} UTC: {held.holding.text}."
    )
    return _occasion(Event.HELD, parts, since + interest.held_after, words)


def process_stopping(process: Process, reason: Reason, at: datetime) -> str:
    """What is told of a background process that is going to be stopped at a moment."""
    who = process.identity
    return (
        f"has a process that is stopped at {at:%Y-%m-%d %H:%M} UTC: {process.program},"
        f" pid {who.pid} on {who.host}: {reason.text}."
        f" 'sexton processes keep {who.pid}' keeps it."
    )


def process_left(process: Process, reason: Reason) -> str:
    """What is told of a background process of a session that has ended, and that runs on."""
    who = process.identity
    keeps = "" if process.is_hint else f", 'sexton processes keep {who.pid}' keeps it"
    return (
        f"has left a process that runs on: {process.program}, pid {who.pid} on {who.host}:"
        f" {reason.text}. 'sexton processes stop {who.pid}' ends it{keeps}."
    )


def notices(occasions: Iterable[Occasion], title: Title) -> Iterator[Notice]:
    """What to tell: each occasion, or those of an event together if there are many at once."""
    by_event: dict[Event, list[Occasion]] = {}
    for occasion in occasions:
        by_event.setdefault(occasion.event, []).append(occasion)
    for event, found in by_event.items():
        if len(found) <= FEW:
            yield from (_single(each, title) for each in found)
        else:
            yield from _together(event, found, title)


def _single(occasion: Occasion, title: Title) -> Notice:
    address = _address(occasion)
    return Notice(
        key=occasion.key,
        event=occasion.event,
        title=_HEADS[occasion.event],
        text=f"Session {_name(occasion, title)} {occasion.words} "
        + _ADVICE[occasion.event].replace("SESSION", address),
        home=occasion.home,
        session=occasion.session,
    )


def _together(event: Event, found: list[Occasion], title: Title) -> Iterator[Notice]:
    examples = ", ".join(_name(each, title) for each in found[:EXAMPLES])
    many, advice = _MANY[event]
    homes = {each.home for each in found}
    yield Notice(
        key=f"together/{len(found)}/{found[0].key}",
        event=event,
        title=_HEADS[event],
        text=f"{len(found)} {many}, among them {examples}. {advice}",
        home=homes.pop() if len(homes) == 1 else None,
    )
    for each in found:
        yield Notice(key=each.key, event=event, title=_HEADS[event], text="", folded=True)


def _occasion(event: Event, parts: tuple[str, ...], at: datetime, words: str) -> Occasion:
    key = "/".join((_KEYS[event], *parts))
    if len(key) > _LONGEST_KEY:
        key = f"{_KEYS[event]}/{hashlib.sha256(key.encode()).hexdigest()}"
    home, session, *_ = parts
    said = one_line(words)
    return Occasion(key=key, event=event, at=at, home=home, session=session, words=said)


def _address(occasion: Occasion) -> str:
    """How a command names the session; the beginning of an id is enough."""
    id = one_line(occasion.session)[:_LONGEST_NAME]
    return id if occasion.home == NATIVE else f"{one_line(occasion.home)[:_LONGEST_NAME]}/{id}"


def _name(occasion: Occasion, title: Title) -> str:
    """What a person calls the session: its title, if it has one, and its name."""
    found = one_line(title(occasion.home, occasion.session) or "")
    if len(found) > _LONGEST_NAME:
        found = found[: _LONGEST_NAME - 1] + "…"
    address = _address(occasion)
    return f'"{found}" ({address})' if found else address


_KEYS = {
    Event.RESET: "reset",
    Event.LIMIT: "limit",
    Event.DEAD_LETTER: "dead",
    Event.HELD: "held",
    Event.PROCESS: "process",
    Event.BUDGET: "budget",
    Event.DISK: "disk",
}
_HEADS = {
    Event.RESET: "Session reset",
    Event.LIMIT: "Session near a limit",
    Event.DEAD_LETTER: "End-of-session work given up",
    Event.HELD: "Reset held back",
    Event.PROCESS: "Background process",
    Event.BUDGET: "Budget",
    Event.DISK: "Disk",
}
_ADVICE = {
    Event.RESET: "The next message starts a new one; 'sexton sessions show SESSION' has the old.",
    Event.LIMIT: "It is reset at the limit; 'sexton sessions pin SESSION' holds that back.",
    Event.DEAD_LETTER: "'sexton finalizers list --session SESSION' says why;"
    " 'sexton finalizers retry --session SESSION' tries again.",
    Event.HELD: "'sexton why SESSION' says more.",
    Event.PROCESS: "'sexton processes list --session SESSION' has all of them.",
    Event.BUDGET: "'sexton budget show SESSION' says more, 'sexton budget raise' allows more.",
    Event.DISK: "'sexton doctor' shows what takes the room.",
}
_MANY = {
    Event.RESET: ("sessions were reset", "'sexton journal' has all."),
    Event.LIMIT: ("sessions come near a limit", "'sexton journal' has all."),
    Event.DEAD_LETTER: (
        "pieces of end-of-session work were given up",
        "'sexton finalizers list --state dead' has all.",
    ),
    Event.HELD: ("resets are held back", "'sexton plan' has all."),
    Event.PROCESS: (
        "sessions have left processes or have some that are about to be stopped",
        "'sexton processes list' has all; 'sexton processes keep PID' keeps one.",
    ),
    Event.BUDGET: ("sessions come near a budget or were stopped", "'sexton journal' has all."),
    Event.DISK: ("sessions take room", "'sexton doctor' shows what takes the room."),
}
