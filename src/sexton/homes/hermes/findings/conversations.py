"""Which conversations should have been reset, and what holds them back?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sexton.core.record import record
from sexton.core.session import Session
from sexton.homes.hermes.condition import Condition
from sexton.homes.hermes.config_files import Configuration, mapping
from sexton.homes.hermes.findings.finding import Finding, Level, Names, Rules, many
from sexton.homes.hermes.generations import GUARD, usual_guard
from sexton.homes.hermes.routing import Route
from sexton.homes.hermes.running import Background
from sexton.processes.model import Doing
from sexton.processes.policy import may_hold_until
from sexton.resets.policy import due_since, span

LATE = timedelta(minutes=10)
"""A gateway looks every five minutes; what is due for longer was missed."""
EXAMPLES = 5


@record
class Overdue:
    """A conversation that is over by the home's own rules, and its processes.

    Those that work hold its reset back; for the others it is Hermes that waits.
    """

    route: Route
    since: datetime
    held_by: tuple[Background, ...]
    working: tuple[Background, ...] = ()


def conversation_findings(
    seen: Condition, said: Configuration, rules: Rules, names: Names
) -> Iterator[Finding]:
    """Resets that are held back, resets that nobody made, and processes that were forgotten."""
    found = list(overdue(seen, rules, guard_of(said, seen.storage.schema)))
    waiting = [each for each in found if each.working]
    held = [each for each in found if each.held_by and not each.working]
    missed = [each for each in found if not each.held_by and not each.working]
    if waiting:
        yield _waiting(waiting, seen.now)
    if held:
        yield _held(held, seen.now)
    if missed:
        yield _missed(missed, seen, names)
    holding = {process.pid for each in found for process in (*each.held_by, *each.working)}
    left = [
        each
        for each in seen.processes
        if each.pid not in holding and each.doing is not Doing.WORKING and _old(each, seen.now)
    ]
    if left:
        yield _forgotten(left, seen.now)


def overdue(seen: Condition, rules: Rules, guard: timedelta | None) -> Iterator[Overdue]:
    """The conversations that are over, were not finalized, and have not ended."""
    for route in seen.routes:
        if route.finalized or route.session in seen.ended:
            continue
        session = Session(
            ref=0, home="", id=route.session, key=route.key, source=route.platform,
            chat_type=route.chat_type, started_at=route.used_at, active_at=route.used_at,
        )  # fmt: skip
        policy = rules.own.reset_policy(session)
        since = due_since(session, policy)
        if since is None or seen.now - since <= LATE:
            continue
        mine = [each for each in seen.processes if each.session in (route.key, route.session)]
        working = [
            each
            for each in mine
            if each.doing is Doing.WORKING
            and seen.now < may_hold_until(_began(each), session, policy, rules.ours.processes)
        ]
        others = [each for each in mine if each not in working and _waits(each, seen, guard)]
        yield Overdue(route=route, since=since, held_by=tuple(others), working=tuple(working))


def guard_of(said: Configuration, schema: int) -> timedelta | None:
    """How old a process may be and still hold a reset back; None for any age."""
    values: Mapping[Any, Any] = said.config.values
    nested = mapping(values.get("gateway")).get("session_reset")
    policy = mapping(values.get("session_reset", nested)) or mapping(
        said.gateway.values.get("default_reset_policy")
    )
    hours = policy.get("bg_process_max_age_hours")
    usual = usual_guard(schema)
    if usual is None or not isinstance(hours, int | float) or not 0 <= hours < 1_000_000:
        return usual
    return timedelta(hours=hours) if hours else None


def _waits(process: Background, seen: Condition, guard: timedelta | None) -> bool:
    """Whether Hermes itself waits for a process before it resets a conversation."""
    return guard is None or seen.now - _began(process) < guard


def _began(process: Background) -> datetime:
    return datetime.fromtimestamp(process.started_at, UTC)


def _waiting(waiting: list[Overdue], now: datetime) -> Finding:
    processes = {process.pid: process for each in waiting for process in each.working}
    longest = max(now - each.since for each in waiting)
    return Finding(
        code="waiting",
        level=Level.HINT,
        words=f"{many(len(waiting), 'reset waits', 'resets wait')} for up to {span(longest)} for "
        f"{many(len(processes), 'process', 'processes')} at work",
        cost="none while they work; once they do not, or their time is over, it is reset",
        repair="sexton processes list",
        count=len(waiting),
        details=_described(processes.values(), now),
    )


def _held(held: list[Overdue], now: datetime) -> Finding:
    processes = {process.pid: process for each in held for process in each.held_by}
    longest = max(now - each.since for each in held)
    return Finding(
        code="held",
        level=Level.COSTLY,
        words=f"{many(len(held), 'reset is', 'resets are')} held back for up to {span(longest)} "
        f"by {many(len(processes), 'process', 'processes')} that Hermes started and forgot",
        cost="the conversation grows, and every message pays for all of it again",
        repair=_stop(processes.values()),
        count=len(held),
        details=_described(processes.values(), now),
    )


def _missed(missed: list[Overdue], seen: Condition, names: Names) -> Finding:
    oldest = max(missed, key=lambda each: seen.now - each.since)
    running = "a gateway runs" if seen.gateway else "no gateway runs"
    return Finding(
        code="expired",
        level=Level.COSTLY,
        words=f"{many(len(missed), 'conversation')} expired without being finalized, the oldest "
        f"{span(seen.now - oldest.since)} ago; {running}",
        cost="what was to be remembered of them is not remembered yet",
        repair="sexton keep" if seen.gateway else names.hermes("gateway", "start"),
        count=len(missed),
        details=tuple(
            f"{each.route.session} ({each.route.platform})" for each in missed[:EXAMPLES]
        ),
    )


def _forgotten(left: list[Background], now: datetime) -> Finding:
    return Finding(
        code="processes",
        level=Level.COSTLY,
        words=f"{many(len(left), 'background process', 'background processes')} "
        "of sessions run for more than a day",
        cost="memory and ports; no list of the agent's shows them",
        repair=_stop(left),
        count=len(left),
        details=_described(left, now),
    )


def _old(process: Background, now: datetime) -> bool:
    return now.timestamp() - process.started_at >= GUARD.total_seconds()


def _described(processes: Any, now: datetime) -> tuple[str, ...]:
    return tuple(
        f"pid {each.pid}, {span(timedelta(seconds=max(0, now.timestamp() - each.started_at)))}: "
        f"{each.command}"
        for each in list(processes)[:EXAMPLES]
    )


def _stop(processes: Any) -> str:
    return " && ".join(f"sexton processes stop {each.pid}" for each in processes)
