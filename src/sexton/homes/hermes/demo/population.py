"""Which sessions are in the demonstration home?"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sexton.homes.hermes.demo.figures import (
    BIG,
    CHAIN,
    CRON_FILES,
    EMPTY,
    ENDED,
    FILE_AGES,
    FILES,
    OPEN,
    ORPHANS,
    RUNAWAY_SECONDS,
    SILENT_HOURS,
    TRIVIAL,
)

CONVERSATION = "agent:main:telegram:dm:4711"
HELD = "20260520_105532_5e17a0c4"
DAYS = 90
SUMMARY_FAILED = "auxiliary summary stream exceeded 240.0s total timeout"
SOURCES = {
    "cron_complete": "cron", "recovered": "telegram", "cli_close": "cli",
    "session_reset": "telegram", "compression": "telegram",
}  # fmt: skip


class Resident(NamedTuple):
    """A session: where from, since when, until when, how it ended, and what is left of it."""

    id: str
    source: str
    started_at: float
    active_at: float
    messages: int
    reason: str | None = None
    key: str | None = None
    parent: str | None = None
    error: str | None = None
    has_file: bool = False


class Population(NamedTuple):
    """The sessions that are there, and those of which only a file is left."""

    here: list[Resident]
    lost: list[Resident]


def population(now: datetime, seed: int = 3049) -> Population:
    """All of them, the same for the same moment."""
    chance = random.Random(seed)  # noqa: S311  # to be repeated, not to be guessed
    ages = [hours for least, most, count in FILE_AGES
            for hours in (chance.uniform(least, most) for _ in range(count))]  # fmt: skip
    chance.shuffle(ages)
    recent, found = iter(ages), list(_wanted())
    chance.shuffle(found)
    found.sort(key=lambda each: each[1] is None)  # so that files are mostly of those that ended
    counts = iter(_counts(chance, len(found)))
    files = {"cron": CRON_FILES, "chat": FILES - CRON_FILES - ORPHANS - len(BIG)}
    made = [*_special(now, chance, recent)]
    for number, (source, reason) in enumerate(found):
        kind = "cron" if source == "cron" else "chat"
        has_file = files[kind] > 0 and source in ("cron", "cli")
        files[kind] -= has_file
        hours = next(recent) if has_file else chance.uniform(8 * 24, DAYS * 24)
        active = now - timedelta(hours=hours)
        one = _resident(number, source, active, next(counts), chance)
        made.append(one._replace(reason=reason, has_file=has_file))
    lost = [
        _resident(90_000 + number, "cli", now - timedelta(hours=hours), 3, chance)
        for number, hours in enumerate(recent)
    ]
    return Population(made, [each._replace(has_file=True) for each in lost])


def _wanted() -> Iterator[tuple[str, str | None]]:
    """Source and end of every session but the special ones."""
    for reason, count in ENDED.items():
        special = {"cli_close": len(BIG), "compression": 1}.get(reason, 0)
        yield from [(SOURCES[reason], reason)] * (count - special)
    for source, count in OPEN.items():
        yield from [(source, None)] * (count - (source == "telegram"))


def _counts(chance: random.Random, sessions: int) -> list[int]:
    """How many messages each has: so many none, so many a few, the others many."""
    few = [0] * EMPTY + [chance.randint(1, 5) for _ in range(TRIVIAL - EMPTY)]
    counts = few + [chance.randint(6, 16) for _ in range(sessions - len(few))]
    chance.shuffle(counts)
    return counts


def _special(now: datetime, chance: random.Random, recent: Iterator[float]) -> Iterator[Resident]:
    """The biggest two, and the conversation that is held back with what it was compressed from."""
    for number, (messages, _) in enumerate(BIG):
        active = (now - timedelta(hours=next(recent))).timestamp()
        lasted = RUNAWAY_SECONDS * (1 + 20 * number)
        id = f"20260325_11{25 - number:02}18_{chance.randrange(16**6):06x}"
        yield Resident(id, "cli", active - lasted, active, messages, "cli_close", has_file=True)
    before, after = CHAIN
    last = (now - timedelta(hours=SILENT_HOURS)).timestamp()
    first = "20260518_214420_0c99aa21"
    yield Resident(
        first, "telegram", last - 90_000, last - 40_000, before, "compression", key=CONVERSATION
    )
    yield Resident(
        HELD, "telegram", last - 40_000, last, after, key=CONVERSATION, parent=first,
        error=SUMMARY_FAILED,
    )  # fmt: skip


def _resident(
    number: int, source: str, active: datetime, messages: int, chance: random.Random
) -> Resident:
    lasted = chance.uniform(5, 900) if messages else 0.0
    started = active - timedelta(seconds=lasted)
    return Resident(
        _id(number, source, started, chance),
        source,
        started.timestamp(),
        active.timestamp(),
        messages,
        key=f"agent:main:telegram:dm:{10_000 + number}" if source == "telegram" else None,
    )


def _id(number: int, source: str, started: datetime, chance: random.Random) -> str:
    stamp = f"{started:%Y%m%d_%H%M%S}"
    match source:
        case "cron":
            return f"cron_job{number % 7}{number:05}_{stamp}"
        case "api_server":
            return f"api_{int(started.timestamp())}_{chance.randrange(16**8):08x}"
        case "telegram":
            return f"{stamp}_{number:08x}"
        case _:
            return f"{stamp}_{number:06x}"


def spoken(resident: Resident, words: Sequence[str]) -> Iterator[tuple[str, str, float]]:
    """Role, text and time of every message of a session."""
    step = (resident.active_at - resident.started_at) / max(resident.messages - 1, 1)
    for place in range(resident.messages):
        role = ("user", "assistant", "tool")[place % 3 if resident.messages > 5 else place % 2]
        text = words[(place * 7 + len(resident.id) + int(resident.started_at)) % len(words)]
        yield role, text, resident.started_at + place * step
