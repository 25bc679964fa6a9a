"""Which files does a home have, and whose are they?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from sexton.core.plan import Seen
from sexton.core.record import record
from sexton.core.session import NATIVE, State
from sexton.keeper.keeper_context import Estate
from sexton.retention.removal_context import Means

PAGE = 500
EARLIEST, LATEST = (datetime(year, 1, 1, tzinfo=UTC).timestamp() for year in (1900, 9000))
NOBODY = "files"
"""The source of files that belong to no session."""


@record
class Heap:
    """The files of one owner: how big they are together, and when they were last written to.

    Sure is that they can only be a session's.
    """

    bytes: int
    written_at: datetime
    sure: bool


def heaps(means: Means, home: str) -> dict[str, Heap]:
    """The files of a home by their owner."""
    found: dict[str, Heap] = {}
    files = means.files.get(home)
    for each in () if files is None else files.scan():
        if each.owner is None:
            continue
        written, heap = _moment(each.mtime_ns), found.get(each.owner)
        found[each.owner] = Heap(
            bytes=each.size + (heap.bytes if heap else 0),
            written_at=max(written, heap.written_at) if heap else written,
            sure=each.sure and (heap.sure if heap else True),
        )
    return found


class Scan:
    """The files of homes as one plan sees them: each home is looked through once, if at all."""

    def __init__(self, means: Means) -> None:
        self._means = means
        self._found: dict[str, dict[str, Heap]] = {}

    def of(self, home: str) -> dict[str, Heap]:
        """The files of a home by their owner."""
        if home not in self._found:
            self._found[home] = heaps(self._means, home)
        return self._found[home]


def _moment(mtime_ns: int) -> datetime:
    """When a file was written; some disks keep times that no calendar has."""
    return datetime.fromtimestamp(min(max(mtime_ns / 1e9, EARLIEST), LATEST), UTC)


def owners(estate: Estate, means: Means, home: str) -> dict[str, str]:
    """The ids of a foreign home's sessions by what their files are known by."""
    record, files = estate.records.get(home), means.files.get(home)
    if record is None or files is None:
        return {}
    return {files.owner(id): id for id in estate.ledger.homes.ids(record, open_only=False)}


def orphans(estate: Estate, means: Means, home: str, scan: Scan) -> Iterator[tuple[str, Heap]]:
    """Files of sessions that a home does not know, once it was seen to the end.

    Among our own also those that came, or stayed, after all else of their session was purged.
    """
    if home == NATIVE:
        yield from _own_orphans(estate, means, scan)
        return
    known = {each.name: each.observed_at for each in estate.ledger.homes.all()}
    if known.get(home) is None:
        return
    found = scan.of(home)
    ids = owners(estate, means, home)  # read after the files, as with our own
    for owner, heap in found.items():
        if heap.sure and owner not in ids:
            yield owner, heap


def _own_orphans(estate: Estate, means: Means, scan: Scan) -> Iterator[tuple[str, Heap]]:
    found, files = scan.of(NATIVE), means.files.get(NATIVE)
    if files is None or not found:
        return
    # Read after the files, so that whoever made one meanwhile is known.
    native = next(each for each in estate.ledger.homes.all() if each.name == NATIVE)
    ids = {files.owner(id): id for id in estate.ledger.homes.ids(native, open_only=False)}
    known = [ids[owner] for owner in found if owner in ids]
    purged = set()
    for start in range(0, len(known), PAGE):
        page = estate.ledger.retained.named(NATIVE, known[start : start + PAGE])
        purged |= {each.session.id for each in page if each.session.state is State.PURGED}
    for owner, heap in found.items():
        if owner not in ids or ids[owner] in purged:
            yield owner, heap


def as_orphan(home: str, owner: str, heap: Heap) -> Seen:
    """Files of nobody as a precondition."""
    return Seen(
        ref=0,
        home=home,
        id=owner,
        epoch=0,
        active_at=heap.written_at,
        message_count=0,
        turn_count=0,
        pinned=False,
    )
