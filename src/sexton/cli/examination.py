"""What does a doctor look at?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from sexton.cli.cli_homes import bare_estate, observe_shown
from sexton.cli.cli_opening import ledger_file
from sexton.cli.finalizers.finalizer_standing import Work, work_left
from sexton.cli.space import Room, measure
from sexton.cli.terminal import progress
from sexton.core.session import Session, State
from sexton.errors import SextonError
from sexton.homes.home_ports import AGES, Cohort, HomeRecord
from sexton.keeper.keeper_context import Estate
from sexton.liveness.process_identity import host
from sexton.liveness.registered_workers import LastSweep
from sexton.liveness.shadow import Shadow, shadow_of
from sexton.liveness.standing import SAMPLED, samples
from sexton.settings.settings_values import HomeSetting
from sexton.wiring import Sexton

if TYPE_CHECKING:
    from sexton.homes.hermes.findings.finding import Finding
    from sexton.homes.hermes.hermes_files import HomeFigures

T = TypeVar("T")

BIGGEST = 5
STILL_OPEN = "still open"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerReport:
    """The ledger itself: where, how big, and when it was last kept."""

    url: str
    id: str
    database_bytes: int | None
    wal_bytes: int | None
    last_sweep: LastSweep | None
    now: datetime
    room: Room
    work: tuple[Work, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeReport:
    """One home: totals of its sessions, what is known of the open ones, its size on the disk."""

    name: str
    kind: str
    path: str | None
    act: bool
    observed_at: datetime | None
    cohorts: tuple[Cohort, ...]
    open_by: Counter[str]
    biggest: tuple[Session, ...] = ()
    shadow: Shadow | None = None
    figures: HomeFigures | None = None
    findings: tuple[Finding, ...] = ()
    trouble: str | None = None
    attached: bool | None = None
    """Whether the settings list it; None where that is not asked."""

    @property
    def sessions(self) -> int:
        return sum(each.sessions for each in self.cohorts)

    @property
    def open(self) -> int:
        return sum(each.sessions for each in self.cohorts if each.state is State.OPEN)

    @property
    def messages(self) -> int:
        return sum(each.messages for each in self.cohorts)

    @property
    def bytes(self) -> int:
        return sum(each.bytes for each in self.cohorts)

    @property
    def oldest(self) -> datetime | None:
        return min((each.oldest for each in self.cohorts), default=None)

    @property
    def newest(self) -> datetime | None:
        return max((each.newest for each in self.cohorts), default=None)

    def ages(self) -> list[int]:
        """How many open sessions are younger than each of AGES, but not than the one before.

        The last number is of those that are older than all of them.
        """
        found = _summed(self.cohorts, lambda each: each.age)
        return [found[age] for age in range(len(AGES) + 1)]

    def reasons(self) -> Counter[str]:
        """How many sessions ended for which reason, or are still open."""
        return _summed(self.cohorts, _reason)

    def sources(self) -> Counter[str]:
        """How many sessions come from where."""
        return _summed(self.cohorts, lambda each: each.source)

    def open_sources(self) -> Counter[str]:
        """How many open sessions come from where."""
        still_open = [each for each in self.cohorts if each.state is State.OPEN]
        return _summed(still_open, lambda each: each.source)


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
        room=measure(opened),
        work=work_left(opened),
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
            estate = bare_estate(opened, (setting,))  # with what the home itself proves
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
        cohorts=(),
        open_by=Counter(),
        figures=figures,
        trouble=trouble,
    )
    with progress(f"counting the sessions of {record.name}"):
        report = _counted(estate, record, report)
    return _diagnosed(opened, record, report, strict=strict) if figures else report


def _counted(estate: Estate, record: HomeRecord, report: HomeReport) -> HomeReport:
    census = estate.ledger.homes.census
    report = replace(report, cohorts=tuple(census.cohorts(record, estate.clock.now())))
    if not report.sessions:
        return report
    (stand,) = samples(estate, [record])
    return replace(
        report,
        open_by=Counter({each: getattr(stand, each) for each in SAMPLED}),
        biggest=tuple(map(estate.content.session, census.biggest(record, BIGGEST))),
        shadow=shadow_of(estate.ledger, record),
    )


def _diagnosed(
    opened: Sexton, record: HomeRecord, report: HomeReport, *, strict: bool
) -> HomeReport:
    from sexton.wiring.diagnosing import diagnose

    with progress(f"examining {record.name}"):
        try:
            files = report.figures.files if report.figures else None
            found = diagnose(opened, record, report.cohorts, report.open_by, files)
        except SextonError as problem:
            if strict:
                raise
            return replace(report, trouble=str(problem))
    return replace(report, findings=found)


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
        cohorts=(),
        open_by=Counter(),
        trouble=trouble,
    )


def _summed(cohorts: Iterable[Cohort], key: Callable[[Cohort], T]) -> Counter[T]:
    found: Counter[T] = Counter()
    for each in cohorts:
        found[key(each)] += each.sessions
    return found


def _reason(cohort: Cohort) -> str:
    if cohort.state is State.OPEN:
        return STILL_OPEN
    return cohort.end_reason or "no reason given"


def _bytes(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
