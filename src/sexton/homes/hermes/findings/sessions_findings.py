"""Which sessions of a home should not be as they are: left open, empty, trivial?"""

from __future__ import annotations

from collections.abc import Iterator

from sexton.core.record import record
from sexton.homes.hermes.condition import TRIVIAL, Compression, Small
from sexton.homes.hermes.findings.finding import Finding, Level, Names, many, number, share

FEW = 20
"""So many trivial sessions are no burden to anybody."""
WORTH_TELLING = 0.25
EXAMPLES = 3
FALLBACKS = 2
"""After so many summaries that failed in a row Hermes stops compressing a session."""


@record
class Totals:
    """The sessions of a home in numbers, as the ledger knows them."""

    sessions: int = 0
    open: int = 0
    leaked: int = 0
    unproven: int = 0
    silent: int = 0
    cron: int = 0
    api: int = 0


def leak_findings(totals: Totals, names: Names) -> Iterator[Finding]:
    """Sessions that are open although nobody has them."""
    if totals.leaked:
        yield Finding(
            code="leaked",
            level=Level.COSTLY,
            words=f"{many(totals.leaked, 'session')} of {number(totals.sessions)} "
            f"({share(totals.leaked, totals.sessions)}) are open although nobody holds them",
            cost="Hermes never ends, prunes or finalizes them, and every list shows them as live",
            repair=names.sexton("apply"),
            count=totals.leaked,
        )
    if totals.silent:
        yield Finding(
            code="unproven",
            level=Level.COSTLY,
            words=f"{many(totals.silent, 'session')} of {number(totals.sessions)} "
            f"({share(totals.silent, totals.sessions)}) are open and silent for a week, and "
            "nothing shows whether anybody holds them",
            cost="Hermes prunes only what has ended, so they stay for ever",
            repair=names.sexton("plan"),
            count=totals.silent,
            details=("'liveness.inactivity_bound' in the settings says when silence is death",),
        )
    if totals.api:
        yield Finding(
            code="api_open",
            level=Level.COSTLY,
            words=f"{many(totals.api, 'session')} of the API server are open; nothing ends them",
            cost="one more for every client and every day",
            repair=names.sexton("apply"),
            count=totals.api,
        )


def garbage_findings(small: Small, totals: Totals, names: Names) -> Iterator[Finding]:
    """Sessions in which hardly anything was said."""
    if small.ended < FEW or small.trivial < WORTH_TELLING * totals.sessions:
        return
    yield Finding(
        code="trivial",
        level=Level.COSTLY,
        words=f"{many(small.trivial, 'session')} of {number(totals.sessions)} "
        f"({share(small.trivial, totals.sessions)}) have at most {TRIVIAL} messages, "
        f"{number(small.empty)} of them none",
        cost="most of every list, search and backup is noise",
        repair=names.sexton("gc"),
        count=small.trivial,
        details=(f"{number(small.ended)} of them have ended, so they can go",),
    )


def compression_findings(failed: tuple[Compression, ...], names: Names) -> Iterator[Finding]:
    """Open sessions whose compression fails."""
    stuck = [each for each in failed if each.streak >= FALLBACKS]
    if not failed:
        return
    shown = sorted(failed, key=lambda each: -each.streak)[:EXAMPLES]
    yield Finding(
        code="compression",
        level=Level.COSTLY,
        words=f"in {many(len(failed), 'open session')} the summary of a compression failed"
        + (f", in {number(len(stuck))} so often that Hermes gave up compressing" if stuck else ""),
        cost="what was said is replaced by a stopgap, or the context grows until calls fail",
        repair=names.hermes("config", "set", "compression.abort_on_summary_failure", "true"),
        count=len(failed),
        details=tuple(
            f"{each.session}: {many(each.streak, 'fallback')} in a row, {each.error or 'no error'}"
            for each in shown
        ),
    )
