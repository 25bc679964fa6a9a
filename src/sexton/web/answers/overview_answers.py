"""How does the ledger do, now and over time?"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from typing_extensions import TypedDict

from sexton.core.session import State
from sexton.core.wording import iso
from sexton.keeper.ledger_figures import Name, figures, today
from sexton.liveness.model import Sample
from sexton.liveness.standing import Standing, tally
from sexton.operations.questions.home_questions import Home, home_record
from sexton.operations.said import Moment
from sexton.web.desk import Desk

FRESH = 5.0
SHARE = 20
"""Figures that take long to count are good for so many times as long."""
POINTS = 60
"""So many points has a line over time."""


class Standings(TypedDict):
    """How many sessions are open, and how these stand."""

    open: int
    live: int
    waiting: int
    suspect: int
    leaked: int
    unproven: int


class HomeFigures(Home, Standings):
    """A home, its open sessions, and all of them by state."""

    states: dict[State, int]


class Overview(Standings):
    """How the ledger does now; `oldest_work` says since when each finalizer owes some.

    `due` are the actions of the next sweep, `due_if_allowed` those that wait for a person's word.
    """

    at: Moment
    due: int
    due_if_allowed: int
    held: int
    finalizing: int
    dead_letters: int
    spend_micros: int
    tokens: int
    spend_since: Moment
    ledger_bytes: int
    disk_free_bytes: int | None
    disk_total_bytes: int | None
    last_sweep: Moment | None
    sweeps_every_seconds: float | None
    oldest_work: dict[str, Moment]
    homes: list[HomeFigures]


class Point(TypedDict):
    """What was counted at a moment."""

    at: Moment
    value: int


class Day(TypedDict):
    """Of the sessions started on a day, how many are open still, and how many were reaped."""

    day: str
    sessions: int
    open: int
    reaped: int


class History(TypedDict):
    """What was counted over a time; the last of each line is newest."""

    since: Moment
    until: Moment
    lines: dict[str, list[Point]]
    leak_rate: list[Day]


class Counts:
    """The figures of this moment, counted again when they are too old."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: Overview | None = None
        self._good_until = 0.0

    def current(self, desk: Desk) -> Overview:
        """The figures; one counts, the others wait for it."""
        with self._lock:
            begun = desk.house.clock.monotonic()
            if self._last is None or begun > self._good_until:
                self._last = _count(desk)
                ended = desk.house.clock.monotonic()
                self._good_until = ended + max(FRESH, SHARE * (ended - begun))
            return self._last


def _count(desk: Desk) -> Overview:
    estate, ledger = desk.lookout.estate(), desk.house.ledger
    homes, ahead = ledger.homes.all(), desk.next_sweep()
    tallies = tally(estate, homes)
    whole = sum(tallies.values(), Counter[Standing]())
    states = ledger.gauges.tally()
    last = ledger.workers.last_sweep()
    recent = ledger.gauges.since(estate.clock.now() - timedelta(hours=1))
    held = next((each.value for each in reversed(recent) if each.name == Name.HELD), 0)
    space = estate.space() if estate.space is not None else None
    now = figures(estate, whole[Standing.SUSPECT], held)
    return {
        "at": iso(estate.clock.now()),
        **_standings(whole),
        "due": len(ahead.will),
        "due_if_allowed": len(ahead.if_allowed),
        "held": held,
        "finalizing": now[Name.FINALIZING],
        "dead_letters": now[Name.DEAD_LETTERS],
        "spend_micros": now[Name.SPEND_MICROS],
        "tokens": now[Name.TOKENS],
        "spend_since": iso(today(estate.clock.now())),
        "ledger_bytes": now[Name.LEDGER_BYTES],
        "disk_free_bytes": now.get(Name.DISK_FREE_BYTES),
        "disk_total_bytes": space.total if space else None,
        "last_sweep": iso(last.at) if last else None,
        "sweeps_every_seconds": last.every.total_seconds() if last else None,
        "oldest_work": {name: iso(at) for name, at in ledger.gauges.oldest_work().items()},
        "homes": [
            {
                **home_record(home),
                **_standings(tallies[home.name]),
                "states": {
                    state: count for (name, state), count in states.items() if name == home.name
                },
            }
            for home in homes
        ],
    }


def _standings(found: Counter[Standing]) -> Standings:
    return {
        "open": found.total(),
        "live": found[Standing.LIVE],
        "waiting": found[Standing.WAITING],
        "suspect": found[Standing.SUSPECT],
        "leaked": found[Standing.LEAKED],
        "unproven": found[Standing.UNPROVEN],
    }


def history(desk: Desk, span: timedelta) -> History:
    """What was counted over a time, as lines of a few points each; the last of each is newest."""
    now = desk.house.clock.now()
    since = now - span
    lines: defaultdict[str, list[tuple[datetime, int]]] = defaultdict(list)
    for name, values in _standing(desk.house.ledger.samples.since(since)).items():
        lines[name] += values
    for each in desk.house.ledger.gauges.since(since):
        lines[each.name].append((each.at, each.value))
    # What is suspect was stored among the unproven, and counted on its own at the same moments.
    suspect = dict(lines.get(Name.SUSPECT, ()))
    for place, (at, value) in enumerate(lines.get("unproven", ())):
        lines["unproven"][place] = (at, max(0, value - suspect.get(at, 0)))
    return {
        "since": iso(since),
        "until": iso(now),
        "lines": {
            name: [{"at": iso(at), "value": value} for at, value in _thinned(points)]
            for name, points in sorted(lines.items())
        },
        "leak_rate": _leak_rate(desk, since),
    }


def _standing(found: Iterable[Sample]) -> Mapping[str, list[tuple[datetime, int]]]:
    """The samples of all homes together; those of one round are taken at about the same time."""
    latest: dict[str, Sample] = {}
    lines: defaultdict[str, list[tuple[datetime, int]]] = defaultdict(list)
    for sample in found:
        latest[sample.home] = sample
        for name in ("open", "live", "waiting", "leaked", "unproven"):
            total = sum(getattr(each, name) for each in latest.values())
            line = lines[name]
            if line and sample.at - line[-1][0] < timedelta(minutes=1):
                line[-1] = (sample.at, total)
            else:
                line.append((sample.at, total))
    return lines


def _thinned(points: list[tuple[datetime, int]]) -> list[tuple[datetime, int]]:
    """At most so many points, the last one of each stretch."""
    step = -(-len(points) // POINTS) or 1
    return points[::-1][::step][::-1]


def _leak_rate(desk: Desk, since: datetime) -> list[Day]:
    """Of the sessions started on each day, how many did not end by themselves."""
    days: dict[str, list[int]] = {}
    for home in desk.house.ledger.homes.all():
        for each in desk.house.ledger.homes.census.started(home, today(since)):
            day = days.setdefault(each.day.isoformat(), [0, 0, 0])
            day[0] += each.sessions
            day[1] += each.open
            day[2] += each.reaped
    return [
        {"day": day, "sessions": count, "open": still, "reaped": reaped}
        for day, (count, still, reaped) in sorted(days.items())
    ]
