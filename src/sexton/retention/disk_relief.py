"""How much of the disk is used, and what goes when it is too much?

Policy decides what may go at all; the budget only lets it go earlier.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from sexton.core.plan import Held, Reason
from sexton.core.record import record, replace
from sexton.core.session import NATIVE, Session
from sexton.keeper.keeper_context import Estate
from sexton.retention.disk_budget import DiskUse, Relief, Weight, excess, relieve
from sexton.retention.file_scan import Heap, Scan, owners
from sexton.retention.garbage_collection import family_of
from sexton.retention.model import Remains, VaultKind, WantedFiles
from sexton.retention.policy import Fate, Retention, RetentionClass, Verdict, spared
from sexton.retention.removal_context import Means
from sexton.retention.retain import PAGE, Found, Look, policy_of
from sexton.sessions.model import Place
from sexton.store.ledger import Ledger

ROUNDS = 20
"""So often it is chosen anew when some of the chosen turn out to be kept."""
_RECORDS = Reason("rows", "its class keeps records")
_FILES = Reason("files", "its class keeps files")


@record
class Relieved:
    """What goes so that the disk budget is kept, by home, and what stands in the way."""

    use: DiskUse
    relief: Relief
    found: dict[str, Found]


def disk_use(estate: Estate, means: Means, scan: Scan) -> DiskUse:
    """What ledger, vault and files of sessions take, and what is left."""
    size = estate.ledger.hygiene.size()
    files = sum(heap.bytes for home in means.files for heap in scan.of(home).values())
    vault = sum(size for _, size in means.vault.names())
    space = None if estate.space is None else estate.space()
    return DiskUse(
        used=size.bytes - size.free_bytes + size.wal_bytes + vault + files,
        free=space.free if space else 0,
        total=space.total if space else 0,
        grace=_in_vault(means, VaultKind.TRASH)[1],
    )


def relieved(
    estate: Estate, homes: Iterable[str], retention: Retention, scan: Scan
) -> Relieved | None:
    """What has to go for the budget, oldest first; None while it is kept. Changes nothing."""
    means = estate.removing
    if means is None or not estate.budget.is_set:
        return None
    use = disk_use(estate, means, scan)
    if not excess(estate.budget, use):
        return None
    candidates, weights = _gathered(estate, means, homes, retention, scan)
    kept_after_all: dict[str, list[Held]] = {}
    for _ in range(ROUNDS):
        relief = relieve(estate.budget, use, weights)
        verdicts = _verdicts(relief, candidates)
        found = {
            name: _found(estate, Look(estate, means, name, retention, scan, those), those)
            for name, those in verdicts.items()
        }
        if not _learn(estate.ledger, weights, relief, candidates, found):
            break
        for name, those in found.items():
            kept_after_all.setdefault(name, []).extend(those.held)
    for name, held in kept_after_all.items():
        found.setdefault(name, Found()).held.extend(held)
    return Relieved(use=use, relief=_with_archives(means, relief), found=found)


def _gathered(
    estate: Estate, means: Means, homes: Iterable[str], retention: Retention, scan: Scan
) -> tuple[list[tuple[Session, RetentionClass]], list[Weight]]:
    """What could go, each session with the class it belongs to and with its weight."""
    candidates: list[tuple[Session, RetentionClass]] = []
    weights: list[Weight] = []
    for home in homes:
        for each, heap in _candidates(estate, means, home, retention, scan):
            size, kept = _weight(each, retention, heap)
            used = each.session.active_at
            weights.append(Weight(ref=len(weights), bytes=size, active_at=used, spared=kept))
            candidates.append((each.session, policy_of(retention, each)))
    return candidates, weights


def shortage(found: Relieved | None) -> str:
    """That the budget can not be reached and what stands in the way; nothing if it can."""
    if found is None or not found.relief.short:
        return ""
    ways = [
        f"{count} sessions with {size} bytes: {text}"
        for text, count, size in found.relief.in_the_way
    ]
    return "; ".join([f"the disk budget is exceeded by {found.relief.short} bytes", *ways])


def _verdicts(
    relief: Relief, candidates: Sequence[tuple[Session, RetentionClass]]
) -> dict[str, dict[str, Verdict]]:
    verdicts: dict[str, dict[str, Verdict]] = {}
    for place, reason in relief.chosen:
        session, policy = candidates[place]
        verdicts.setdefault(session.home, {})[session.id] = _verdict(policy, reason, session)
    return verdicts


def _learn(
    ledger: Ledger,
    weights: list[Weight],
    relief: Relief,
    candidates: Sequence[tuple[Session, RetentionClass]],
    found: Mapping[str, Found],
) -> bool:
    """Whether some of what was chosen is kept after all, or was used later than it seemed.

    What keeps a session, and when its conversation was last used, is asked of the chosen only.
    """
    kept = {
        (home, each.seen.id): Reason(each.holding.code, those.plainly[each.seen.id])
        for home, those in found.items()
        for each in those.held
    }
    used = _last_used(ledger, [candidates[place][0] for place, _ in relief.chosen])
    changed = False
    for place, _ in relief.chosen:
        session, weight = candidates[place][0], weights[place]
        name = (session.home, session.id)
        better = replace(weight, spared=kept.get(name), active_at=used.get(name, weight.active_at))
        changed |= better != weight
        weights[place] = better
    return changed


def _last_used(ledger: Ledger, chosen: Sequence[Session]) -> dict[tuple[str, str], datetime]:
    """When the conversations that sessions belong to were last used."""
    found: dict[tuple[str, str], datetime] = {}
    for home in {each.home for each in chosen}:
        ids = [each.id for each in chosen if each.home == home]
        for start in range(0, len(ids), PAGE):
            some = ids[start : start + PAGE]
            members = ledger.removable.relatives(home, named=some, below=())
            family = family_of(ledger, home, members)
            for each in members:
                found[home, each.id] = max(part.active_at for part in family.conversation(each))
    return found


def _with_archives(means: Means, relief: Relief) -> Relief:
    """Archives are never given up by themselves, so they are in the way, too."""
    sessions, size = _in_vault(means, VaultKind.ARCHIVE)
    if not (relief.short and size):
        return relief
    ways = [*relief.in_the_way, ("archives are kept", sessions, size)]
    return replace(relief, in_the_way=tuple(sorted(ways, key=lambda way: -way[2])))


def _in_vault(means: Means, kind: VaultKind) -> tuple[int, int]:
    """How many sessions are in files of a kind in the vault of now, and how big these are.

    What lies where the vault once was does not count as used either, and may be on another disk.
    """
    names = {name for name, _ in means.vault.names()}
    sessions, size, after = 0, 0, 0
    while page := means.ledger.vault.page(WantedFiles(kind=kind), after, PAGE):
        here = [each.written for each in page if each.host == means.host and each.name in names]
        sessions += sum(each.sessions for each in here)
        size += sum(each.bytes for each in here)
        after = page[-1].ref
    return sessions, size


def _candidates(
    estate: Estate, means: Means, home: str, retention: Retention, scan: Scan
) -> Iterator[tuple[Remains, Heap | None]]:
    """Every session of a home that is over, with its files."""
    found, files = scan.of(home), means.files.get(home)
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


def _found(estate: Estate, look: Look, verdicts: Mapping[str, Verdict]) -> Found:
    found = Found()
    ids = sorted(verdicts)
    for start in range(0, len(ids), PAGE):
        look.judge(estate.ledger.retained.named(look.home, ids[start : start + PAGE]), found)
    return found
