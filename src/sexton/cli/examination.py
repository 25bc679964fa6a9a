"""What does a doctor look at?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from sexton.bootstrap import Sexton
from sexton.cli.homes import bare_estate, observe_shown
from sexton.cli.opening import ledger_file
from sexton.cli.terminal import progress
from sexton.engine.estate import Estate
from sexton.errors import SextonError
from sexton.model.evidence import Verdict
from sexton.model.session import NATIVE, Session, State
from sexton.policies.liveness import judge
from sexton.ports import Filter, HomeRecord, LastSweep, Place, Tally
from sexton.settings.values import HomeSetting
from sexton.system.processes import host

if TYPE_CHECKING:
    from sexton.homes.hermes.files import HomeFigures

CHUNK = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerReport:
    """The ledger itself: where, how big, and when it was last kept."""

    url: str
    id: str
    database_bytes: int | None
    wal_bytes: int | None
    last_sweep: LastSweep | None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeReport:
    """One home: totals of its sessions, what is known of the open ones, its size on the disk."""

    name: str
    kind: str
    path: str | None
    act: bool
    observed_at: datetime | None
    tallies: tuple[Tally, ...]
    open_by: Counter[str]
    figures: HomeFigures | None = None
    trouble: str | None = None

    @property
    def sessions(self) -> int:
        return sum(each.sessions for each in self.tallies)

    @property
    def open(self) -> int:
        return sum(each.sessions for each in self.tallies if each.state is State.OPEN)

    @property
    def messages(self) -> int:
        return sum(each.messages for each in self.tallies)

    @property
    def bytes(self) -> int:
        return sum(each.bytes for each in self.tallies)

    @property
    def oldest(self) -> datetime | None:
        return min((each.oldest for each in self.tallies), default=None)

    @property
    def newest(self) -> datetime | None:
        return max((each.newest for each in self.tallies), default=None)

    def reasons(self) -> Counter[str]:
        """How many sessions ended for which reason, or are still open."""
        return _summed(self.tallies, _reason)

    def sources(self) -> Counter[str]:
        """How many sessions come from where."""
        return _summed(self.tallies, lambda each: each.source)

    def open_sources(self) -> Counter[str]:
        """How many open sessions come from where."""
        still_open = [each for each in self.tallies if each.state is State.OPEN]
        return _summed(still_open, lambda each: each.source)


class _Key(Protocol):
    def __call__(self, tally: Tally, /) -> str: ...


@runtime_checkable
class _Measured(Protocol):
    """A home that can tell its size on the disk."""

    def figures(self) -> HomeFigures: ...


def examine_ledger(opened: Sexton, url: str) -> LedgerReport:
    """Look at the ledger itself; its file is never opened for that."""
    file = ledger_file(url)
    return LedgerReport(
        url=opened.ledger.url,
        id=opened.ledger.id,
        database_bytes=None if file is None else _bytes(os.fspath(file)),
        wal_bytes=None if file is None else _bytes(f"{file}-wal"),
        last_sweep=opened.ledger.workers.last_sweep(),
        now=opened.clock.now(),
    )


def examine(
    opened: Sexton, name: str, setting: HomeSetting | None, *, strict: bool = False
) -> HomeReport:
    """Look at a home; if it can not be reached, tell what is known and what went wrong."""
    estate = bare_estate(opened)
    figures, trouble = None, None
    if setting is not None:
        try:
            figures = _observe(opened, estate, setting)
        except SextonError as problem:
            if strict:
                raise
            trouble = str(problem)
    record = _record(opened, name, setting)
    if record is None:
        assert setting is not None
        return _never_seen(setting, trouble)
    report = HomeReport(
        name=record.name,
        kind=record.kind,
        path=record.path,
        act=record.act,
        observed_at=record.observed_at,
        tallies=tuple(opened.ledger.index.tally(record.name)),
        open_by=Counter(),
        figures=figures,
        trouble=trouble,
    )
    return replace(report, open_by=_open_by(estate, report))


def _observe(opened: Sexton, estate: Estate, setting: HomeSetting) -> HomeFigures | None:
    home, record = opened.attach(setting)
    observe_shown(estate, home, record)
    return home.figures() if isinstance(home, _Measured) else None


def _record(opened: Sexton, name: str, setting: HomeSetting | None) -> HomeRecord | None:
    """What the ledger knows of a home; two homes may want one name, so a path says it better."""
    place = setting and (str(setting.path.expanduser().resolve()), host())
    return next(
        (
            each
            for each in opened.ledger.homes.all()
            if (each.name == name if place is None else (each.path, each.host) == place)
        ),
        None,
    )


def _never_seen(setting: HomeSetting, trouble: str | None) -> HomeReport:
    return HomeReport(
        name=setting.name,
        kind=setting.kind,
        path=str(setting.path),
        act=setting.act,
        observed_at=None,
        tallies=(),
        open_by=Counter(),
        trouble=trouble,
    )


def _open_by(estate: Estate, report: HomeReport) -> Counter[str]:
    """How the open sessions stand: live, leaked, unproven, or waiting for their next message."""
    if report.name != NATIVE:
        return Counter(unproven=report.open)
    with progress("looking for the holders of open sessions") as advance:
        found: Counter[str] = Counter()
        for session in _open_sessions(estate):
            found[_standing(estate, session)] += 1
            advance(1)
    return found


def _standing(estate: Estate, session: Session) -> str:
    sights = estate.sights(session)
    verdicts = {
        judge(
            holder.worker.identity.pid, holder.worker.identity.host, sights[holder.worker.id]
        ).verdict
        for holder in session.holders
    }
    if not verdicts:
        return "waiting"
    if Verdict.LIVE in verdicts:
        return "live"
    return "leaked" if verdicts == {Verdict.DEAD} else "unproven"


def _open_sessions(estate: Estate) -> Iterator[Session]:
    place: Place | None = None
    wanted = Filter(home=NATIVE, state=State.OPEN)
    while page := estate.ledger.index.page(wanted, place, CHUNK):
        yield from page
        place = Place(page[-1].active_at, page[-1].ref)


def _summed(tallies: Sequence[Tally], key: _Key) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in tallies:
        found[key(each)] += each.sessions
    return found


def _reason(tally: Tally) -> str:
    if tally.state is State.OPEN:
        return "still open"
    return tally.end_reason or "no reason given"


def _bytes(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
