"""Which sessions and files were kept long enough?

A conversation is judged as one, however often it was compressed: by when it was last used, and
anything that protects a part of it protects all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sexton.core.plan import (
    ArchiveSession,
    Held,
    Reason,
    RemoveFiles,
    Removing,
    TrashSession,
)
from sexton.core.record import record, replace
from sexton.core.session import NATIVE
from sexton.keeper.keeper_context import Estate
from sexton.retention.file_scan import NOBODY, Scan, as_orphan, orphans, owners
from sexton.retention.garbage_collection import family_of
from sexton.retention.model import HERE, Member, Remains
from sexton.retention.policy import (
    Fate,
    Retention,
    RetentionClass,
    Verdict,
    judge,
    soonest,
    spared,
)
from sexton.retention.protection import Keeping, held_by
from sexton.retention.removal_context import Means
from sexton.sessions.family import Family
from sexton.sessions.model import Place

PAGE = 500
BACK = Reason("restored", "it was brought back lately")
_KEPT = Verdict(files=Fate.KEEP, rows=Fate.KEEP, reason=Reason("kept", "nothing asks for it"))


@record
class Due:
    """What goes together, and since when its time has come."""

    actions: tuple[Removing | RemoveFiles, ...]
    since: datetime


@dataclass(slots=True)
class Found:
    """What of a home was kept long enough, and what keeps the rest of what was to go.

    `plainly` says by id what keeps a session, in the same words for many.
    """

    due: list[Due] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    plainly: dict[str, str] = field(default_factory=dict)


def kept_long_enough(estate: Estate, home: str, retention: Retention, scan: Scan) -> Found:
    """What retention lets go of in a home, and why. Changes nothing."""
    means = estate.removing
    if means is None:
        return Found()
    look = Look(estate, means, home, retention, scan)
    found = Found()
    for page in look.pages():
        look.judge(page, found)
    found.due += _orphans(estate, means, home, retention.general.max_age, scan)
    return found


def verdict_of(remains: Remains, retention: Retention, now: datetime) -> Verdict:
    """What retention says of one session, of whatever home."""
    return judge(remains, policy_of(retention, remains), now)


class Look:
    """A look at one home; `verdicts` are given instead of those of retention."""

    def __init__(
        self,
        estate: Estate,
        means: Means,
        home: str,
        retention: Retention,
        scan: Scan,
        verdicts: Mapping[str, Verdict] | None = None,
    ) -> None:
        self._estate = estate
        self._means = means
        self.home = home
        self._retention = retention
        self._verdicts = verdicts
        self._now = estate.clock.now()
        self._among = max((each.keep_last or 0 for each in _classes(retention)), default=0)
        self._heaps = scan.of(home)
        self._seen: set[str] = set()
        self._back: frozenset[str] = frozenset()

    def pages(self) -> Iterator[list[Remains]]:
        """The sessions of which something may go."""
        if self.home != NATIVE:
            yield from self._with_files()
        if not self._means.keeps_records(self.home):
            return
        retained = self._estate.ledger.retained
        ours = self.home == NATIVE
        for source in retained.sources(self.home):
            policy = _native(self._retention.of(source)) if ours else self._retention.of(source)
            age = soonest(policy, files=ours and bool(self._heaps))
            if age is None:
                continue
            place: Place | None = None
            while page := retained.old(self.home, source, place, PAGE, self._among):
                last = page[-1].session
                place = Place(last.active_at, last.ref)
                yield [each for each in page if self._now - each.session.active_at >= age]
                if self._now - last.active_at < age:
                    break

    def _with_files(self) -> Iterator[list[Remains]]:
        """A foreign home's sessions that have files."""
        known = owners(self._estate, self._means, self.home)
        ids = sorted(id for owner, id in known.items() if owner in self._heaps)
        for start in range(0, len(ids), PAGE):
            yield self._estate.ledger.retained.named(
                self.home, ids[start : start + PAGE], self._among
            )

    def judge(self, page: Sequence[Remains], found: Found) -> None:
        """Decide about sessions, and with each about its whole conversation."""
        new = [each for each in page if each.session.id not in self._seen]
        wanted = [each for each in new if self._verdict(each).since is not None]
        if not wanted:
            return
        ledger = self._estate.ledger
        ids = [each.session.id for each in wanted]
        members = ledger.removable.relatives(self.home, named=ids, below=())
        family = family_of(ledger, self.home, members)
        by_id = {each.id: each for each in members}
        ids = [each.id for each in family]
        self._back = brought_back(self._estate, self._means, self.home, ids)
        for each in wanted:
            member = by_id.get(each.session.id)
            if member is None or member.id in self._seen:
                continue
            talk = family.conversation(member)
            self._seen.update(other.id for other in talk)
            self._decide(talk, each, family, found)

    def _verdict(self, remains: Remains) -> Verdict:
        if self._verdicts is not None:
            return self._verdicts.get(remains.session.id, _KEPT)
        return verdict_of(remains, self._retention, self._now)

    def _decide(self, talk: Sequence[Member], asked: Remains, family: Family, found: Found) -> None:
        verdict, kept = self._of_conversation(talk, asked)
        if verdict.since is None:
            return
        moves = self._means.keeps_records(self.home) and verdict.rows is not Fate.KEEP
        here = [each for each in talk if each.state in HERE]
        archiving = verdict.rows is Fate.ARCHIVE
        holding = kept or held_by(talk, family, self._now, archiving=archiving or not moves)
        if self._back & {each.id for each in talk}:
            holding = holding or Keeping(reason=BACK, plainly=BACK.text)
        actions = self._removals(here, verdict) if moves else self._of_files(here, verdict)
        if not actions:
            return
        if holding is not None:
            found.held += [
                Held(seen=each.seen, wanted=verdict.reason, holding=holding.reason)
                for each in actions
            ]
            found.plainly |= {each.seen.id: holding.plainly for each in actions}
        else:
            found.due.append(Due(actions=tuple(actions), since=verdict.since))

    def _of_conversation(
        self, talk: Sequence[Member], asked: Remains
    ) -> tuple[Verdict, Keeping | None]:
        """The verdict on the whole, by when it was last used; and what spares a part of it."""
        if len(talk) == 1:
            return self._verdict(asked), None
        used = max(each.active_at for each in talk)
        parts = self._estate.ledger.retained.named(
            self.home, [each.id for each in talk if each.state in HERE], self._among
        )
        whole = replace(asked, session=replace(asked.session, active_at=used))
        for part in parts:
            kept = spared(part, policy_of(self._retention, part))
            if kept is not None:
                words = f"{part.session.id} is of the same conversation, and {kept.text}"
                plainly = f"of a part of its conversation: {kept.text}"
                keeping = Keeping(reason=Reason(kept.code, words), plainly=plainly)
                return self._verdict(whole), keeping
        return self._verdict(whole), None

    def _removals(self, here: Sequence[Member], verdict: Verdict) -> list[Removing | RemoveFiles]:
        name = here[0].id if len(here) > 1 else None
        plain = [
            TrashSession(
                seen=each.seen(self.home),
                reason=verdict.reason,
                source=each.source,
                size=each.byte_count,
                conversation=name,
            )
            for each in here
        ]
        if verdict.rows is Fate.ARCHIVE:
            return [_archived(each) for each in plain]
        return list(plain)

    def _of_files(self, here: Sequence[Member], verdict: Verdict) -> list[Removing | RemoveFiles]:
        files = self._means.files.get(self.home)
        if files is None:
            return []
        return [
            RemoveFiles(
                seen=each.seen(self.home),
                reason=verdict.reason,
                source=each.source,
                size=heap.bytes,
                archived=verdict.files is Fate.ARCHIVE,
            )
            for each in here
            if (heap := self._heaps.get(files.owner(each.id))) is not None
        ]


def _archived(action: TrashSession) -> ArchiveSession:
    return ArchiveSession(
        seen=action.seen,
        reason=action.reason,
        source=action.source,
        size=action.size,
        conversation=action.conversation,
        tree=action.conversation,
    )


def _orphans(
    estate: Estate, means: Means, home: str, age: timedelta | None, scan: Scan
) -> Iterator[Due]:
    """Files of sessions that a home does not know."""
    if age is None:
        return
    found = dict(orphans(estate, means, home, scan))
    back = brought_back(estate, means, home, list(found))
    for owner, heap in found.items():
        if estate.clock.now() - heap.written_at >= age and owner not in back:
            words = f"no session of the home owns it, last written {heap.written_at:%Y-%m-%d}"
            action = RemoveFiles(
                seen=as_orphan(home, owner, heap),
                reason=Reason("orphan", words),
                source=NOBODY,
                size=heap.bytes,
            )
            yield Due(actions=(action,), since=heap.written_at + age)


def brought_back(estate: Estate, means: Means, home: str, ids: Sequence[str]) -> frozenset[str]:
    """What somebody wanted back: it is left alone for as long as the trash would keep it."""
    since = estate.clock.now() - means.grace
    return estate.ledger.retained.brought_back(home, ids, since) if ids else frozenset()


def _classes(retention: Retention) -> tuple[RetentionClass, ...]:
    return retention.general, *retention.classes


def policy_of(retention: Retention, remains: Remains) -> RetentionClass:
    """The class a session belongs to, as far as it is about its home."""
    policy = retention.of(remains.session.source)
    return _native(policy) if remains.session.home == NATIVE else policy


def _native(policy: RetentionClass) -> RetentionClass:
    """Our own files are in no database."""
    return replace(policy, database_only=False) if policy.database_only else policy
