"""Which files of a home does nobody need any more?"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from pathlib import Path

from sexton.core.record import record, replace
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
from sexton.retention.policy import Retention

AGES = (("under 1h", 3600.0), ("1-6h", 21600.0), ("6-24h", 86400.0), ("1-7d", 604800.0))
OLDER = "older"


@record
class Kept:
    """How long files are kept by the settings in force, by where their session came from.

    What was brought `back` lately, by the names of its sessions in files, is left alone.
    """

    now: datetime
    retention: Retention
    back: Collection[str] = ()

    def is_due(self, file: FileSeen, state: State | None) -> bool:
        """Whether the file would go now."""
        if file.owner in self.back:
            return False
        kept = self.retention.of(state.source if state else "")
        old = self.now.timestamp() - file.written_at
        aged = kept.max_age is not None and old >= kept.max_age.total_seconds()
        return aged or (kept.database_only and state is not None and state.ended)


def file_findings(
    files: Sequence[FileSeen], owners: Mapping[str, State], kept: Kept, names: Names
) -> Iterator[Finding]:
    """Copies of sessions that ended, request dumps, and files whose session is gone."""
    due = [each for each in files if kept.is_due(each, owners.get(each.owner or ""))]
    for finding, group in _groups(files, owners, names):
        yield _detailed(finding, group, {each.name for each in due}, kept)


def _groups(
    files: Sequence[FileSeen], owners: Mapping[str, State], names: Names
) -> Iterator[tuple[Finding, list[FileSeen]]]:
    known = [each for each in files if each.owner in owners]
    stale = [each for each in known if each.kind != "dump" and owners[each.owner or ""].ended]
    dumps = [each for each in files if each.kind == "dump"]
    orphans = [
        each
        for each in files
        if each.owner is not None and each.owner not in owners and each.kind != "dump"
    ]
    cron = sum(owners[each.owner or ""].source == "cron" for each in stale)
    of_cron = f"{number(cron)} ({share(cron, len(stale))}) are of cron"
    for code, group, what, cost in (
        (
            "stale_files",
            stale,
            f"of sessions that have ended, {size(_bytes(stale))}; {of_cron}",
            "Hermes never deletes them, whatever its retention says",
        ),
        (
            "request_dumps",
            dumps,
            f"of requests that failed, {size(_bytes(dumps))}",
            "each holds a whole conversation; there is no limit to them",
        ),
        (
            "orphan_files",
            orphans,
            f"whose session is gone, {size(_bytes(orphans))}",
            "nothing will ever look at them again, and nothing deletes them",
        ),
    ):
        if group:
            yield (
                Finding(
                    code=code,
                    level=Level.COSTLY,
                    words=f"{many(len(group), 'file')} {what}",
                    cost=cost,
                    repair=names.sexton("apply"),
                    count=len(group),
                ),
                group,
            )


def link_findings(leads_to: Path | None, names: Names) -> Iterator[Finding]:
    """A folder that is a link: nobody follows it who removes files."""
    if leads_to is not None:
        folder = shlex.quote(str(names.path / "sessions"))
        yield Finding(
            code="linked_folder",
            level=Level.HINT,
            words=f"the folder of the files is a link to {leads_to}, which is not followed",
            cost="files of sessions are neither counted here nor ever removed",
            repair=f"rm {folder} && mv {shlex.quote(str(leads_to))} {folder}",
            where=str(names.path / "sessions"),
        )


def ages(files: Iterable[FileSeen], now: datetime) -> dict[str, int]:
    """How many files are how old."""
    found = dict.fromkeys([*(name for name, _ in AGES), OLDER], 0)
    for each in files:
        old = now.timestamp() - each.written_at
        found[next((name for name, limit in AGES if old < limit), OLDER)] += 1
    return found


def _detailed(
    finding: Finding, files: Sequence[FileSeen], due: Collection[str], kept: Kept
) -> Finding:
    by_age = ", ".join(f"{name} {number(count)}" for name, count in ages(files, kept.now).items())
    largest = max(files, key=attrgetter("bytes"))
    going = [each for each in files if each.name in due]
    said = f"{number(len(going))} of them ({size(_bytes(going))}) go now by the settings in force"
    if len(going) < len(files):
        said += "; 'retention.database_only: true' lets them go when their session ends"
    if back := sum(each.owner in kept.back for each in files):
        said += f"; {number(back)} were brought back lately and are left alone for a while"
    details = (f"age: {by_age}", f"biggest: {largest.name}, {size(largest.bytes)}", said)
    return replace(finding, bytes=_bytes(going), details=details)


def _bytes(files: Iterable[FileSeen]) -> int:
    return sum(each.bytes for each in files)
