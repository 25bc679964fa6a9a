"""A budget as an entry of the settings, and what becomes of it.

An entry may bound several things at once; each becomes a budget of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from sexton.core.record import record, replace
from sexton.core.setting import setting
from sexton.settings.quantities import parse_duration
from sexton.settings.settings_problems import Complaint, entries
from sexton.spending.model import Act, Budget, Scope, Unit
from sexton.spending.policy import usual_name

LONGEST = timedelta(days=31)
"""What is spent in a rolling span is remembered for not much longer."""
_MILLISECOND = timedelta(milliseconds=1)


@record
class BudgetEntry:
    """What may be spent, and what happens when it is."""

    scope: Scope = setting(
        about="What the budget is for: each `turn`, `session`, `tree` of sessions with its "
        "subagents and compressions, or `source`; or a whole `day`, of all sessions together.",
        change="Choose the smallest scope that a runaway agent cannot leave.",
    )
    tokens: int | None = setting(
        default=None,
        kind="amount",
        unit="tokens",
        null="no limit",
        about="How many tokens of all kinds may be spent.",
        change="Set it where the price of a session depends on its length.",
    )
    input_tokens: int | None = setting(
        default=None,
        kind="amount",
        unit="tokens",
        null="no limit",
        about="How many tokens a model may read that come from no cache.",
        change="Set it for agents that read large documents.",
    )
    output_tokens: int | None = setting(
        default=None,
        kind="amount",
        unit="tokens",
        null="no limit",
        about="How many tokens a model may write.",
        change="Set it for agents that write without end.",
    )
    cached_tokens: int | None = setting(
        default=None,
        kind="amount",
        unit="tokens",
        null="no limit",
        about="How many tokens a model may read from a cache.",
        change="Set it where your provider charges for them.",
    )
    reasoning_tokens: int | None = setting(
        default=None,
        kind="amount",
        unit="tokens",
        null="no limit",
        about="How many tokens a model may think in.",
        change="Set it for models that think long about little.",
    )
    usd: float | None = setting(
        default=None,
        kind="money",
        null="no limit",
        about="How many dollars may be spent, by the prices in `prices`. A model without a price "
        "is refused where money is counted, because it would be free otherwise.",
        change="Set it where the bill matters more than the work.",
    )
    iterations: int | None = setting(
        default=None,
        kind="amount",
        unit="calls",
        null="no limit",
        about="How many calls of a model may be made; entering a turn is the first.",
        change="Set it to bound agents that call a model again and again.",
    )
    tool_calls: int | None = setting(
        default=None,
        kind="amount",
        unit="calls",
        null="no limit",
        about="How many calls of tools may be made.",
        change="Set it where tools cost money or act on the world.",
    )
    messages: int | None = setting(
        default=None,
        kind="amount",
        unit="messages",
        null="no limit",
        about="How many messages may be stored. Beyond the limit they are stored as well, so that "
        "none is lost. Not for the scope `turn`.",
        change="Set it where each message reaches a person.",
    )
    wall: timedelta | None = setting(
        default=None,
        null="no limit",
        about="For how long turns may run.",
        change="Set it where agents occupy a machine.",
    )
    action: Act = setting(
        default=Act.PAUSE,
        about="What happens at the limit: `warn`, `pause`, `reset` or `kill`. A pause ends when "
        "somebody raises the limit or the time is over; where nobody is there to do so (cron, "
        "subagent, batch), it kills.",
        change="Choose `warn` to try a limit out, `kill` where nothing may be spent beyond it.",
    )
    sources: tuple[str, ...] = setting(
        default=(),
        match=True,
        about="The sources whose sessions the budget is for; only they count.",
        change="Name the sources that need a smaller or larger budget than others.",
    )
    per: timedelta | None = setting(
        default=None,
        null="ever",
        about="The budget is for any span of this length, wherever it begins, at most 31 days. Not "
        "for the scopes `turn` and `day`.",
        change="Set it where a budget is to last for an hour or a week rather than for ever.",
    )
    name: str | None = setting(
        default=None,
        kind="plain_name",
        otherwise="its scope and what it bounds",
        about="The name of the budget in the end reason and in messages, as in `budget:NAME`. Of "
        "two budgets with one name, the later one counts.",
        change="Set it to have two budgets for the same thing side by side.",
    )

    def budgets(self) -> Iterator[Budget]:
        """One budget for each thing that the entry bounds."""
        per = None if self.scope is Scope.DAY else self.per
        bounded = {unit: getattr(self, unit) for unit in Unit}
        several = sum(limit is not None for limit in bounded.values()) > 1
        for unit, limit in bounded.items():
            if limit is None:
                continue
            budget = Budget(
                name=(f"{self.name}.{unit}" if several else self.name) or "",
                scope=self.scope,
                unit=unit,
                limit=_stored(unit, limit),
                action=self.action,
                sources=tuple(sorted(self.sources)),
                per=per,
            )
            yield budget if self.name else replace(budget, name=_usual(budget))


def as_entry(budget: Budget) -> dict[str, Any]:
    """A budget as an entry of the settings."""
    limit: Any = budget.limit
    if budget.unit is Unit.USD:
        limit = budget.limit / 1_000_000
    elif budget.unit is Unit.WALL:
        limit = timedelta(milliseconds=budget.limit)
    facts = {"scope": budget.scope, budget.unit: limit, "action": budget.action}
    facts |= {"sources": budget.sources} if budget.sources else {}
    facts |= {"per": budget.per} if budget.per else {}
    return facts if budget.name == _usual(budget) else facts | {"name": budget.name}


def wrong_budgets(values: Any) -> Iterator[Complaint]:
    """Budgets that bound nothing, or what their scope can not count."""
    seen: set[str] = set()
    for place, entry in entries(values, "budgets"):
        where = ("budgets", place)
        scope, per = entry.get("scope"), entry.get("per")
        bounded = [unit for unit in Unit if entry.get(unit) is not None]
        if not bounded:
            yield Complaint(where, f"it bounds nothing; set one of {', '.join(Unit)}")
        if scope == Scope.TURN and Unit.MESSAGES in bounded:
            yield Complaint((*where, "messages"), "a turn does not count messages", at_key=True)
        if scope in (Scope.TURN, Scope.DAY) and per is not None:
            yield Complaint((*where, "per"), f"a budget of a {scope} has no span", at_key=True)
        span = parse_duration(per) if isinstance(per, str) else None
        if span is not None and span > LONGEST:
            yield Complaint((*where, "per"), f"at most {LONGEST.days}d", at_key=True)
        for unit in () if entry.get("name") else bounded:
            about = f"{scope} {unit} {per} {entry.get('sources')}"
            if about in seen:  # two without a name would be one, and silently the later
                words = "an entry above bounds the same; give this one a name of its own"
                yield Complaint((*where, unit.value), words, at_key=True)
            seen.add(about)


def _usual(budget: Budget) -> str:
    """What a budget is called that was given no name."""
    named = usual_name(budget.scope, budget.unit, budget.per)
    return f"{named}@{','.join(budget.sources)}" if budget.sources else named


def _stored(unit: Unit, limit: Any) -> int:
    if unit is Unit.USD:
        limit = round(limit * 1_000_000)
    stored: int = limit // _MILLISECOND if unit is Unit.WALL else limit
    return stored
