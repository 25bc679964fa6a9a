"""How is everything, at a glance?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from markupsafe import Markup
from starlette.responses import Response

from sexton.core.plan import Plan
from sexton.core.record import record
from sexton.core.session import NATIVE
from sexton.core.wording import ago, counted, number, share, size
from sexton.finalizers.model import FinalizationState
from sexton.homes.home_ports import HomeRecord
from sexton.liveness.leaks import Leaks
from sexton.liveness.standing import Standing
from sexton.spending.budgets import shown
from sexton.spending.model import Unit
from sexton.web.desk import Desk
from sexton.web.drawing.daily import Series, daily
from sexton.web.drawing.shares import Part, shares
from sexton.web.drawing.sparkline import sparkline
from sexton.web.next_sweep import Next
from sexton.web.pages.glance import Glance, Room, Stand
from sexton.web.pages.plans_page import grouped
from sexton.web.pages.showing import show
from sexton.web.tones import short

FULL = 0.9
CENT = 10_000
GROUPS = 6


@record
class Tile:
    """One number, how it went, and where more of it is."""

    key: str
    name: str
    tone: str
    value: float
    shown: str
    say: str
    href: str
    spark: Markup
    unit: str = ""


def overview(desk: Desk, glance: Glance) -> Response:
    """The first page."""
    stand, ahead, room = glance.stand(), desk.next_sweep(), glance.room()
    tiles = list(_tiles(glance, stand, ahead.plan, room))
    return show(
        desk,
        "overview.html",
        page="overview",
        headline=_headline(stand, ahead),
        keeping=_keeping(stand),
        notices=list(_notices(desk, stand, room)),
        tiles=tiles,
        leaks=_leaks(glance.leaks()),
        next=_next(ahead, stand.now),
        open=_open(stand),
        homes=[_home(stand, home) for home in stand.homes],
        recent=stand.recent,
    )


def _headline(stand: Stand, ahead: Next) -> str:
    """The one sentence to read."""
    found = stand.open
    wrong = [
        counted(found[Standing.LEAKED], "leaked session") if found[Standing.LEAKED] else "",
        counted(stand.work[FinalizationState.DEAD], "dead letter")
        if stand.work[FinalizationState.DEAD]
        else "",
    ]
    words = " and ".join(filter(None, wrong))
    if words:
        return f"{words[0].upper()}{words[1:]}"
    if ahead.will:
        return f"All is well; {counted(len(ahead.will), 'action')} due"
    return "All is well"


def _keeping(stand: Stand) -> str:
    last = stand.last_sweep
    if last is None:
        return "No keeper has swept this ledger yet."
    every = int(last.every.total_seconds())
    return f"Last swept {ago(last.at, stand.now)}, every {every} s."


def _notices(desk: Desk, stand: Stand, room: Room) -> Iterator[dict[str, str]]:
    last = stand.last_sweep
    if last.is_late(stand.now) if last else not desk.is_keeping:
        words = "No keeper is at work: nothing is ended, finalized or removed until one is."
        yield {"kind": "no_keeper", "tone": "", "words": f"{words} Start one with 'sexton keep'."}
    for each in stand.unreachable:
        yield {"kind": "home", "tone": "bad", "words": f"A home can not be reached. {each}"}
    if room.disk.total and 1 - room.disk.free / room.disk.total >= FULL:
        words = f"The disk is nearly full: {size(room.disk.free)} free."
        yield {"kind": "disk_full", "tone": "bad", "words": words}


def _tiles(glance: Glance, stand: Stand, plan: Plan, room: Room) -> Iterator[Tile]:
    found, dead = stand.open, stand.work[FinalizationState.DEAD]
    finalizing = stand.work[FinalizationState.PENDING] + stand.work[FinalizationState.RUNNING]
    past, whole = glance.lines(), found.total()
    spent = stand.spent

    def line(name: str, key: str, value: float) -> Markup:
        return sparkline(name, [*past.get(key, ()), value], "in the last day")

    def counted_tile(standing: Standing, say: str) -> Tile:
        value = found[standing]
        spark = line(standing, standing, value)
        return Tile(
            key=standing, name=standing.capitalize(), tone=standing, value=value,
            shown=number(value), say=say, href=f"/sessions?state={standing}", spark=spark,
        )  # fmt: skip

    def tile(key: str, name: str, tone: str, value: float, shown: str, **more: str) -> Tile:
        spark = line(name, more.get("line", key), value)
        return Tile(
            key=key, name=name, tone=tone, value=value, shown=shown, say=more["say"],
            href=more["href"], spark=spark, unit=more.get("unit", ""),
        )  # fmt: skip

    yield counted_tile(Standing.LIVE, "held by the living")
    yield tile(
        "suspect", "Suspect", "suspect", found[Standing.SUSPECT], number(found[Standing.SUSPECT]),
        say="look dead", href="/sessions?state=suspect",
    )  # fmt: skip
    yield counted_tile(
        Standing.LEAKED, f"{share(found[Standing.LEAKED], whole)} of {number(whole)} open"
    )
    yield counted_tile(Standing.UNPROVEN, "owner unknown")
    yield tile(
        "held", "Held", "held", len(plan.held), number(len(plan.held)),
        say="due, held back", href="/plan#held",
    )  # fmt: skip
    yield tile(
        "finalizing", "Finalizing", "busy", finalizing, number(finalizing),
        say=f"{number(stand.work[FinalizationState.RUNNING])} running now", href="/finalizers",
    )  # fmt: skip
    yield tile(
        "dead", "Dead letters", "dead", dead, number(dead), line="dead_letters",
        say="given up, wait for a person" if dead else "no work was given up",
        href="/finalizers?state=dead",
    )  # fmt: skip
    money = spent.usd.spent if spent.usd else spent.micros
    yield tile(
        "spend", "Spend today", "accent", money or spent.tokens, _spend(stand),
        line="spend_micros" if money else "tokens",
        say=_spend_says(stand), href="/sessions?sort=active",
        unit="" if money >= CENT else "tokens",
    )  # fmt: skip
    used = room.disk.total - room.disk.free
    yield tile(
        "disk", "Disk", "accent", room.ledger.bytes, share(used, room.disk.total), unit="used",
        line="ledger_bytes",
        say=f"{size(room.disk.free)} free; ledger {size(room.ledger.bytes)}", href="/vault",
    )  # fmt: skip


def _spend(stand: Stand) -> str:
    """Money where any is known, else tokens."""
    spent = stand.spent
    money = spent.usd.spent if spent.usd else spent.micros
    return f"${money / 1e6:,.2f}" if money >= CENT else short(spent.tokens)


def _spend_says(stand: Stand) -> str:
    spent = stand.spent
    if spent.usd is not None:
        limit = spent.usd.bound.limit()
        if limit is not None:
            return f"of {shown(Unit.USD, limit.limit)} for the day"
    if spent.micros:
        return f"{short(spent.tokens)} tokens, by sessions active today"
    return "by sessions active today (UTC)"


def _leaks(leaks: Leaks) -> dict[str, Any]:
    series = (
        Series(
            name="did not end by itself, of those started that day",
            tone="leaked",
            shares=[each.share for each in leaks.before],
        ),
        Series(
            name="leaked, of those open when a sweep counted",
            tone="held",
            shares=[each.share for each in leaks.after],
        ),
        Series(
            name="unproven, of those open when a sweep counted",
            tone="unproven",
            shares=[each.unproven_share for each in leaks.after],
            dashed=True,
        ),
    )
    days = [each.day for each in leaks.before]
    return {"chart": daily("Leak rate by day", days, series), "series": series}


def _next(ahead: Next, now: datetime) -> dict[str, Any]:
    plan, groups = ahead.plan, grouped(ahead.will, shown=0)
    held = f"; {number(len(plan.held))} held back" if plan.held else ""
    more = f"; {len(groups) - GROUPS} further kinds" if len(groups) > GROUPS else ""
    return {
        "groups": groups[:GROUPS],
        "says": f"as of {ago(plan.made_at, now)}{held}{more}",
        "if_allowed": grouped(ahead.if_allowed, shown=0)[:GROUPS],
    }


def _open(stand: Stand) -> dict[str, Any]:
    found = stand.open
    parts = [Part(each.value, each.value, found[each]) for each in Standing]
    return {"count": found.total(), "bar": shares("Open sessions", parts), "parts": parts}


def _home(stand: Stand, home: HomeRecord) -> dict[str, Any]:
    found = stand.tallies[home.name]
    says = "sessions of this ledger" if home.name == NATIVE else f"{home.kind}, {home.path}"
    observed = "" if home.name == NATIVE or home.act else ", only observed"
    return {
        "name": home.name,
        "says": says + observed,
        "observed_at": home.observed_at,
        "open": found.total(),
        "live": found[Standing.LIVE],
        "leaked": found[Standing.LEAKED],
        "unproven": found[Standing.UNPROVEN] + found[Standing.SUSPECT],
    }
