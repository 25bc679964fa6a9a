"""How much of the disk is used, and what goes when it is too much?

Policy decides what may go at all; the budget only lets it go earlier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sexton.engine.estate import Estate
from sexton.engine.removing.heaps import Heap, heaps, owners
from sexton.engine.removing.means import Means
from sexton.engine.removing.retain import PAGE, Found, Look, policy_of
from sexton.model.plan import Reason
from sexton.model.record import record
from sexton.model.remains import Remains
from sexton.model.session import NATIVE, Session
from sexton.policies.disk_budget import DiskUse, Relief, Weight, excess, relieve
from sexton.policies.retention import Fate, Retention, RetentionClass, Verdict, spared
from sexton.ports import Place
from sexton.ports.removal import WantedFiles
from sexton.ports.vault import VaultKind

_RECORDS = Reason("rows", "its class keeps records")
_FILES = Reason("files", "its class keeps files")


@record
class Relieved:
    """What goes so that the disk budget is kept, by home, and what stands in the way."""

    use: DiskUse
    relief: Relief
    found: dict[str, Found]


def disk_use(estate: Estate, means: Means) -> DiskUse:
    """What ledger, vault and files of sessions take, and what is left."""
    size = estate.ledger.hygiene.size()
    files = sum(heap.bytes for home in means.files for heap in heaps(means, home).values())
    vault = sum(size for _, size in means.vault.names())
    space = None if estate.space is None else estate.space()
    return DiskUse(
        used=size.bytes - size.free_bytes + size.wal_bytes + vault + files,
        free=space.free if space else 0,
        total=space.total if space else 0,
        grace=_in_trash(means),
    )


def relieved(estate: Estate, homes: Iterable[str], retention: Retention) -> Relieved | None:
    """What has to go for the budget, oldest first; None while it is kept. Changes nothing."""
    means = estate.removing
    if means is None or not estate.budget.is_set:
        return None
    use = disk_use(estate, means)
    if not excess(estate.budget, use):
        return None
    candidates = [
        (home, each, *_weight(each, retention, heap))
        for home in homes
        for each, heap in _candidates(estate, means, home, retention)
    ]
    weights = [
        Weight(ref=place, bytes=size, active_at=each.session.active_at, spared=kept)
        for place, (_, each, size, kept) in enumerate(candidates)
    ]
    relief = relieve(estate.budget, use, weights)
    verdicts: dict[str, dict[str, Verdict]] = {}
    for place, reason in relief.chosen:
        home, each, *_ = candidates[place]
        policy = policy_of(retention, each)
        verdicts.setdefault(home, {})[each.session.id] = _verdict(policy, reason, each.session)
    found = {home: _found(estate, means, home, retention, said) for home, said in verdicts.items()}
    return Relieved(use=use, relief=relief, found=found)


def _in_trash(means: Means) -> int:
    total, after = 0, 0
    wanted = WantedFiles(kind=VaultKind.TRASH)
    while page := means.ledger.vault.page(wanted, after, PAGE):
        total += sum(each.written.bytes for each in page if each.host == means.host)
        after = page[-1].ref
    return total


def _candidates(
    estate: Estate, means: Means, home: str, retention: Retention
) -> Iterator[tuple[Remains, Heap | None]]:
    """Every session of a home that is over, with its files."""
    found, files = heaps(means, home), means.files.get(home)
    among = max(each.keep_last or 0 for each in (retention.general, *retention.classes))
    if home != NATIVE:
        ids = [id for owner, id in owners(estate, means, home).items() if owner in found]
        for start in range(0, len(ids), PAGE):
            for each in estate.ledger.retained.named(home, ids[start : start + PAGE], among):
                assert files is not None
                yield each, found.get(files.owner(each.session.id))
        return
    for source in estate.ledger.retained.sources(home):
        place: Place | None = None
        while page := estate.ledger.retained.old(home, source, place, PAGE, among):
            for each in page:
                yield each, found.get(files.owner(each.session.id)) if files else None
            place = Place(page[-1].session.active_at, page[-1].session.ref)


def _weight(remains: Remains, retention: Retention, heap: Heap | None) -> tuple[int, Reason | None]:
    """What could be had by letting go of a session, or what keeps it."""
    policy = policy_of(retention, remains)
    files = 0 if heap is None else heap.bytes
    rows = remains.session.byte_count if remains.session.home == NATIVE else 0
    kept = spared(remains, policy)
    if kept is not None:
        return files + rows, kept
    if policy.rows is not Fate.KEEP and rows:
        return files + rows, None
    if files:
        return files, None if policy.max_age is not None else _FILES
    return rows, _RECORDS


def _verdict(policy: RetentionClass, reason: Reason, session: Session) -> Verdict:
    """Its time came when it was last used: a budget that is set too small is a backlog."""
    rows = policy.rows
    files = rows if rows is not Fate.KEEP else Fate.REMOVE
    return Verdict(files=files, rows=rows, reason=reason, since=session.active_at)


def _found(
    estate: Estate, means: Means, home: str, retention: Retention, verdicts: dict[str, Verdict]
) -> Found:
    look, found = Look(estate, means, home, retention, verdicts), Found()
    ids = sorted(verdicts)
    for start in range(0, len(ids), PAGE):
        look.judge(estate.ledger.retained.named(home, ids[start : start + PAGE]), found)
    return found
