"""Which sessions are garbage, and what should be done about them?"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime

from sexton.core.plan import Held, Plan, Reason, TrashSession
from sexton.core.session import Relation, Session
from sexton.keeper.keeper_context import Estate
from sexton.retention.garbage import Collection, Finding, find
from sexton.retention.model import HERE, Member, Sieve
from sexton.sessions.family import Family
from sexton.sessions.model import Place
from sexton.store.ledger import Ledger

PAGE = 2000


def collect(estate: Estate, home: str, policy: Collection) -> Plan:
    """A plan that puts the garbage of a home into the trash. Changes nothing.

    Asks for what is small and old enough by an index, so it costs what is found.
    """
    now = estate.clock.now()
    going: list[Finding] = []
    held: list[Finding] = []
    for finding in _findings(estate.ledger, home, policy, now):
        if finding.goes:
            going.append(finding)
        elif finding.wanted is not None:
            held.append(finding)
    going.sort(key=_order)
    return Plan(
        id=uuid.uuid4().hex,
        ledger=estate.ledger.id,
        policies="",  # what is garbage is said by whoever asks, not by the policies in force
        made_at=now,
        actions=tuple(action for each in going for action in _actions(each, home)),
        held=tuple(each for finding in held for each in _held(finding, home)),
        observed=tuple(sorted(estate.observed_homes())),
        homes=(home,),
    )


def family_of(ledger: Ledger, home: str, members: list[Member]) -> Family:
    """Sessions with all that their fate depends on: their conversations, and who descends."""
    family = Family(members)
    waiting = members
    while waiting:
        parents = {
            each.parent
            for each in waiting
            if each.relation is Relation.COMPRESSION and each.parent is not None
        }
        found = ledger.removable.relatives(
            home,
            named=[id for id in parents if id not in family],
            below=[each.id for each in waiting],
        )
        waiting = [each for each in found if each.id not in family]
        family.add(waiting)
    return family


def _findings(ledger: Ledger, home: str, policy: Collection, now: datetime) -> Iterator[Finding]:
    seen: set[str] = set()
    for count in ledger.removable.counts(home, policy.trivial_max):
        age = policy.trivial_after if count else policy.empty_after
        sieve = Sieve(count=count, before=now - age, source=policy.source)
        for page in _pages(ledger, home, sieve):
            family = family_of(ledger, home, page)
            for member in page:
                if member.id in seen:
                    continue
                finding = find(member, family, policy, now)
                if len(finding.members) > 1:
                    seen.update(each.id for each in finding.members)
                yield finding


def _pages(ledger: Ledger, home: str, sieve: Sieve) -> Iterator[list[Member]]:
    place: Place | None = None
    while page := ledger.removable.candidates(home, sieve, place, PAGE):
        yield page
        place = Place(page[-1].active_at, page[-1].ref)


def _order(finding: Finding) -> tuple[str, datetime, int]:
    """By source, as each has files of its own in the vault; the oldest first."""
    first = finding.members[0]
    return first.source, first.active_at, first.ref


def _actions(finding: Finding, home: str) -> Iterator[TrashSession]:
    assert finding.wanted is not None
    name = finding.members[0].id if len(finding.members) > 1 else None
    for each in finding.members:
        if each.state in HERE:
            yield TrashSession(
                seen=each.seen(home),
                reason=finding.wanted,
                source=each.source,
                size=each.byte_count,
                conversation=name,
            )


def _held(finding: Finding, home: str) -> Iterator[Held]:
    assert finding.wanted is not None
    assert finding.holding is not None
    for each in finding.members:
        if each.state in HERE:
            yield Held(seen=each.seen(home), wanted=finding.wanted, holding=finding.holding)


def garbage(
    ledger: Ledger, session: Session, policy: Collection, now: datetime
) -> tuple[str, Reason] | None:
    """Whether `gc` would remove an ended session, or what keeps it; None of an unknown one."""
    members = ledger.removable.relatives(session.home, named=[session.id], below=[])
    if not members:
        return None
    finding = find(members[0], family_of(ledger, session.home, members), policy, now)
    if finding.holding is not None:
        return "kept", finding.holding
    assert finding.wanted is not None
    return finding.wanted.code, finding.wanted
