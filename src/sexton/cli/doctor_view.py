"""How is a doctor's report told?"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sexton.cli import findings_view, space
from sexton.cli.examination import HomeReport, LedgerReport
from sexton.cli.finalizers.finalizer_standing import work_shape, work_words
from sexton.cli.homes_here import offer_of
from sexton.cli.keeper_notice import keeper_notice
from sexton.cli.report.report_shadow import shadow_words
from sexton.cli.terminal import Column, document, heading, note, say, table
from sexton.core.session import NATIVE
from sexton.core.wording import ago, counted, iso, number, share, size, stamp
from sexton.liveness.standing import SAMPLED
from sexton.operations.questions.leak_questions import shadow_record

if TYPE_CHECKING:
    from sexton.homes.hermes.hermes_files import FileGroup, HomeFigures

AGE_NAMES = ("1h", "24h", "7d", "30d")
BAR = 24
_REASONS = (Column("HOW THEY ENDED"), Column("SESSIONS", right=True), Column("SHARE", right=True))
_SOURCES = (
    Column("WHERE FROM"),
    Column("SESSIONS", right=True),
    Column("SHARE", right=True),
    Column("OPEN", right=True),
    Column("OF THEM OPEN", right=True),
)
_AGES = (Column("AGE OF THE OPEN"), Column("SESSIONS", right=True), Column("SHARE", right=True))
_BIGGEST = (
    Column("BIGGEST"),
    Column("SIZE", right=True),
    Column("MESSAGES", right=True),
    Column("STATE"),
    Column("ACTIVE", spare=True),
    Column("TITLE", cut=True),
)


def show(ledger: LedgerReport, reports: Sequence[HomeReport]) -> None:
    """The report for a person."""
    for report in reports:
        show_home(report, ledger.now)
        say()
    for line in work_words(ledger.work):
        say(line)
    disk = "" if ledger.database_bytes is None else f", {size(ledger.database_bytes)}"
    log = f", log {size(ledger.wal_bytes)}" if ledger.wal_bytes else ""
    say(f"ledger: {ledger.url}{disk}{log}")
    space.show(ledger.room)
    for report in reports:
        offer = offer_of(report)
        if offer is not None:
            note(f"{report.name} is {offer.now}: '{offer.command}' {offer.then}")
    words = keeper_notice(ledger.last_sweep, ledger.now)
    if words:
        note(words)


def show_home(report: HomeReport, now: datetime) -> None:
    """One home for a person."""
    heading(_title(report))
    for line in _lines(report, now):
        say(line)
    if report.sessions:
        _show_shares(report)
        _show_ages(report)
        _show_biggest(report, now)
    findings_view.show(report)


def write(ledger: LedgerReport, reports: Sequence[HomeReport]) -> None:
    """The report for a program."""
    document(
        {
            "ledger": {
                "url": ledger.url,
                "id": ledger.id,
                "database_bytes": ledger.database_bytes,
                "wal_bytes": ledger.wal_bytes,
                **space.shape(ledger.room),
            },
            "keeper": {
                "last_sweep": iso(ledger.last_sweep.at if ledger.last_sweep else None),
                "notice": keeper_notice(ledger.last_sweep, ledger.now),
            },
            "finalizers": work_shape(ledger.work),
            "homes": [_shape(report) for report in reports],
        }
    )


def _title(report: HomeReport) -> str:
    if report.name == NATIVE:
        return "native: the sessions in this ledger"
    mode = "changes allowed" if report.act else "only observed"
    schema = f", schema {report.figures.schema_version}" if report.figures else ""
    return f"{report.name}: {report.kind.capitalize()} home {report.path} ({mode}{schema})"


def _lines(report: HomeReport, now: datetime) -> Iterator[str]:
    if report.trouble:
        seen = stamp(report.observed_at) if report.observed_at else "never"
        yield f"can not be looked at now: {report.trouble} (last seen: {seen})"
    if not report.sessions:
        yield "no sessions"
        return
    ended = report.sessions - report.open
    yield (
        f"{counted(report.sessions, 'session')}: {number(report.open)} open "
        f"({share(report.open, report.sessions)}), {number(ended)} ended"
    )
    if report.open:
        known = (f"{number(report.open_by[each])} {each}" for each in SAMPLED)
        yield f"of the open ones: {', '.join(known)}"
    yield f"{counted(report.messages, 'message')}, {size(report.bytes)} of content"
    if report.oldest and report.newest:
        yield (
            f"oldest {stamp(report.oldest)}, last activity {stamp(report.newest)} "
            f"({ago(report.newest, now)})"
        )
    if report.shadow:
        yield shadow_words(report.shadow)
    if report.figures:
        yield from _disk(report.figures)


def _disk(figures: HomeFigures) -> Iterator[str]:
    yield (
        f"database {size(figures.database_bytes)}, log {size(figures.wal_bytes)}, "
        f"{size(figures.free_bytes)} of it unused"
    )
    groups = (
        (figures.snapshots, "snapshot"),
        (figures.request_dumps, "request dump"),
        (figures.transcripts, "transcript"),
        (figures.other_files, "other file"),
    )
    parts = [
        f"{counted(group.files, words)} ({size(group.bytes)})"
        for group, words in groups
        if group.files
    ]
    yield f"files in sessions/: {', '.join(parts) if parts else 'none'}"


def _show_shares(report: HomeReport) -> None:
    say()
    reasons, whole = report.reasons(), report.sessions
    table(
        (*_REASONS, *_bar_column()),
        (
            (reason, str(count), share(count, whole), *_bar(count, whole))
            for reason, count in _ordered(reasons)
        ),
    )
    say()
    still_open = report.open_sources()
    table(
        _SOURCES,
        (
            (
                source,
                str(count),
                share(count, whole),
                str(still_open[source]),
                share(still_open[source], count),
            )
            for source, count in _ordered(report.sources())
        ),
    )


def _show_ages(report: HomeReport) -> None:
    if report.open:
        say()
        names = (*(f"under {name}" for name in AGE_NAMES), "older")
        rows = zip(names, report.ages(), strict=True)
        table(_AGES, ((name, str(count), share(count, report.open)) for name, count in rows))


def _show_biggest(report: HomeReport, now: datetime) -> None:
    say()
    table(
        _BIGGEST,
        (
            (
                session.name,
                size(session.byte_count),
                str(session.message_count),
                session.state.value,
                ago(session.active_at, now),
                session.title or session.preview or "",
            )
            for session in report.biggest
        ),
    )


def _ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))


def _bar_column() -> tuple[Column, ...]:
    return (Column(""),) if sys.stdout.isatty() else ()


def _bar(part: int, whole: int) -> tuple[str, ...]:
    return ("▇" * max(1, round(BAR * part / whole)),) if sys.stdout.isatty() else ()


def _shape(report: HomeReport) -> dict[str, Any]:
    whole, still_open, offer = report.sessions, report.open_sources(), offer_of(report)
    return {
        "name": report.name,
        "kind": report.kind,
        "path": report.path,
        "act": report.act,
        "attached": report.attached,
        "attach": offer and offer.command,
        "observed_at": iso(report.observed_at),
        "trouble": report.trouble,
        "sessions": whole,
        "open": report.open,
        "ended": whole - report.open,
        "open_share": _ratio(report.open, whole),
        "open_by": {each.value: report.open_by[each] for each in SAMPLED},
        "open_ages": [
            {"under": under, "sessions": count}
            for under, count in zip((*AGE_NAMES, None), report.ages(), strict=True)
        ],
        "messages": report.messages,
        "bytes": report.bytes,
        "oldest": iso(report.oldest),
        "newest": iso(report.newest),
        "end_reasons": [
            {"reason": reason, "sessions": count, "share": _ratio(count, whole)}
            for reason, count in _ordered(report.reasons())
        ],
        "sources": [
            {
                "source": source,
                "sessions": count,
                "share": _ratio(count, whole),
                "open": still_open[source],
            }
            for source, count in _ordered(report.sources())
        ],
        "biggest": [
            {
                "session": session.name,
                "source": session.source,
                "state": session.state.value,
                "bytes": session.byte_count,
                "messages": session.message_count,
                "active_at": iso(session.active_at),
            }
            for session in report.biggest
        ],
        "shadow": report.shadow and shadow_record(report.shadow),
        "disk": None if report.figures is None else _disk_shape(report.figures),
        **findings_view.shape(report),
    }


def _disk_shape(figures: HomeFigures) -> dict[str, Any]:
    return {
        "schema_version": figures.schema_version,
        "database_bytes": figures.database_bytes,
        "wal_bytes": figures.wal_bytes,
        "free_bytes": figures.free_bytes,
        "files": {
            "snapshots": _group(figures.snapshots),
            "request_dumps": _group(figures.request_dumps),
            "transcripts": _group(figures.transcripts),
            "other": _group(figures.other_files),
        },
    }


def _group(group: FileGroup) -> dict[str, int]:
    return {"files": group.files, "bytes": group.bytes}


def _ratio(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
