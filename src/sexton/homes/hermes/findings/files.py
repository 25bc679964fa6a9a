"""Which files of a home does nobody need any more?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from sexton.homes.hermes.condition import State
from sexton.homes.hermes.findings.finding import (
    Finding,
    Level,
    Names,
    many,
    number,
    share,
    size,
)
from sexton.homes.hermes.folder import FileSeen

AGES = (("under 1h", 3600.0), ("1-6h", 21600.0), ("6-24h", 86400.0), ("1-7d", 604800.0))
OLDER = "older"


def file_findings(
    files: Sequence[FileSeen], owners: Mapping[str, State], now: datetime, names: Names
) -> Iterator[Finding]:
    """Copies of sessions that ended, request dumps, and files whose session is gone."""
    known = [each for each in files if each.owner in owners]
    stale = [each for each in known if each.kind != "dump" and owners[each.owner or ""].ended]
    dumps = [each for each in files if each.kind == "dump"]
    orphans = [
        each
        for each in files
        if each.owner is not None and each.owner not in owners and each.kind != "dump"
    ]
    if stale:
        cron = sum(owners[each.owner or ""].source == "cron" for each in stale)
        yield _finding(
            "stale_files", stale,
            f"{many(len(stale), 'file')} of sessions that have ended, {size(_bytes(stale))}; "
            f"{number(cron)} ({share(cron, len(stale))}) are of cron",
            "Hermes never deletes them, whatever its retention says", now, names,
        )  # fmt: skip
    if dumps:
        yield _finding(
            "request_dumps", dumps,
            f"{many(len(dumps), 'dump')} of requests that failed, {size(_bytes(dumps))}",
            "each holds a whole conversation; there is no limit to them", now, names,
        )  # fmt: skip
    if orphans:
        yield _finding(
            "orphan_files", orphans,
            f"{many(len(orphans), 'file')} whose session is gone, {size(_bytes(orphans))}",
            "nothing will ever look at them again, and nothing deletes them", now, names,
        )  # fmt: skip


def ages(files: Iterable[FileSeen], now: datetime) -> dict[str, int]:
    """How many files are how old."""
    found = dict.fromkeys([*(name for name, _ in AGES), OLDER], 0)
    for each in files:
        old = now.timestamp() - each.written_at
        found[next((name for name, limit in AGES if old < limit), OLDER)] += 1
    return found


def _finding(
    code: str, files: Sequence[FileSeen], words: str, cost: str, now: datetime, names: Names
) -> Finding:
    by_age = ", ".join(f"{name} {number(count)}" for name, count in ages(files, now).items())
    biggest: Callable[[FileSeen], int] = lambda each: each.bytes  # noqa: E731  # typed for mypy
    largest = max(files, key=biggest)
    return Finding(
        code=code,
        level=Level.COSTLY,
        words=words,
        cost=cost,
        repair=names.sexton("apply"),
        count=len(files),
        bytes=_bytes(files),
        details=(f"age: {by_age}", f"biggest: {largest.name}, {size(largest.bytes)}"),
    )


def _bytes(files: Iterable[FileSeen]) -> int:
    return sum(each.bytes for each in files)
