"""Which settings bound what agents spend?"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, Final

from pydantic import Field

from sexton.settings import vocabulary
from sexton.settings.fields import Duration, Limit, Names, Section, Strict
from sexton.settings.kinds import Kind, Refused, only, whole_guess, within
from sexton.settings.settings_problems import did_you_mean
from sexton.settings.work_vocabulary import FINALIZER_NAME
from sexton.spending.model import Act, Scope
from sexton.spending.policy import BreakerPolicy, RunawayPolicy

MOST_COUNTED: Final = 10**12
MOST_USD: Final = 1_000_000
MOST_STEPS: Final = 10

_BREAKER: Final = BreakerPolicy()
_RUNAWAY: Final = RunawayPolicy()


def _one_of(kind: type[Scope] | type[Act]) -> Kind:
    def read(value: object) -> Scope | Act:
        text = only(str, value)
        if text not in set(kind):
            near = did_you_mean(text.lower(), map(str, kind))
            raise Refused(f"did you mean '{near}'?" if near else "")
        return kind(text)

    names = [str(each) for each in kind]
    schema = {"type": "string", "enum": names}
    return Kind(words=f"one of {', '.join(names)}", read=read, schema=schema, show=str)


def _amount(value: object) -> int:
    guess = whole_guess(value)
    return within(only(int, value, f"write {guess}" if guess else ""), 1, MOST_COUNTED)


def _dollars(value: object, least: Decimal) -> float:
    if type(value) not in (int, float):
        raise Refused("write a number of dollars, like 5 or 0.25")
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        raise Refused from None
    if not least <= amount <= MOST_USD:
        raise Refused(f"from {least} to {MOST_USD}")
    return float(amount)


def _steps(value: object) -> tuple[int, ...]:
    steps = [within(only(int, step), 1, MOST_COUNTED) for step in only(list, value)]
    if not steps or len(steps) > MOST_STEPS or sorted(set(steps)) != steps:
        raise Refused("each step must be higher than the one before")
    return tuple(steps)


AMOUNT = Kind(
    words="a whole number, at least 1",
    read=_amount,
    schema={"type": "integer", "minimum": 1, "maximum": MOST_COUNTED},
)
MONEY = Kind(
    words="dollars, at least 0.01",
    read=lambda value: _dollars(value, Decimal("0.01")),
    schema={"type": "number", "minimum": 0.01, "maximum": MOST_USD},
)
PRICE = Kind(
    words="dollars for a million tokens",
    read=lambda value: _dollars(value, Decimal(0)),
    schema={"type": "number", "minimum": 0, "maximum": MOST_USD},
)
STEPS = Kind(
    words="a list of rising whole numbers",
    read=_steps,
    schema={"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1},
    show=list,
)

Amount = Annotated[int | None, AMOUNT.or_null()]


class BudgetFields(Strict):
    """What may be spent, and what happens when it is."""

    scope: Annotated[Scope, _one_of(Scope)] = Field(
        description="What the budget is for: each turn, session, tree of sessions with its "
        "subagents and compressions, or source; or a whole day, of all together."
    )
    tokens: Amount = Field(
        default=None, description="Tokens of all kinds; what no budget names is not bounded."
    )
    input_tokens: Amount = Field(default=None, description="Tokens a model reads, not cached.")
    output_tokens: Amount = Field(default=None, description="Tokens a model writes.")
    cached_tokens: Amount = Field(default=None, description="Tokens read from a cache.")
    reasoning_tokens: Amount = Field(default=None, description="Tokens a model thinks in.")
    usd: Annotated[float | None, MONEY.or_null()] = Field(
        default=None,
        description="Dollars, by the prices below; a model whose price nobody knows is refused "
        "where money is counted, since it would be free otherwise.",
    )
    iterations: Amount = Field(
        default=None, description="Calls of a model; entering a turn is the first."
    )
    tool_calls: Amount = Field(default=None, description="Calls of tools.")
    messages: Amount = Field(
        default=None, description="Messages stored. They are stored beyond the limit, too."
    )
    wall: Annotated[timedelta | None, vocabulary.DURATION.or_null()] = Field(
        default=None, description="Time during which turns run."
    )
    action: Annotated[Act, _one_of(Act)] = Field(
        default=Act.PAUSE,
        description="At the limit. A pause can be undone by raising the limit or by waiting; "
        "where nobody is there to do so (cron, subagent, batch), it kills.",
    )
    sources: Names = Field(
        default_factory=list,
        min_length=1,
        description="Only sessions of these sources are bounded, and only they count.",
    )
    per: Annotated[timedelta | None, vocabulary.DURATION.or_null("ever")] = Field(
        default=None,
        description="In any span of this length, wherever it begins, instead of for ever.",
    )
    name: Annotated[str | None, FINALIZER_NAME] = Field(
        default=None,
        description="What the end reason and messages call it, like budget:NAME; two of one name "
        "are one, and the later one counts.",
    )


class PriceFields(Strict):
    """What a million tokens cost, in dollars."""

    input: Annotated[float, PRICE]
    output: Annotated[float, PRICE]
    cached: Annotated[float | None, PRICE.or_null("the price of input")] = None


class PricesFields(Strict):
    """What models cost."""

    models: Section[dict[Annotated[str, vocabulary.NAME], PriceFields]] = Field(
        default_factory=dict,
        description="Prices of one's own by model, before those of genai-prices, whose table is "
        "maintained by others and comes with 'sexton[prices]'.",
    )
    unknown: PriceFields | None = Field(
        default=None,
        description="What a model costs that is in neither. Null makes it an error: nothing is "
        "free because nobody knows its price.",
    )


class BreakerFields(Strict):
    """When tools that fail or repeat themselves are stopped."""

    warn_at: Annotated[tuple[int, ...], STEPS] = Field(
        default=_BREAKER.warn_at,
        description="After so many failures in a row, or repetitions of the same call, result or "
        "cycle, the model is told; at the last, tools stop. Three may be bad luck, nine are not.",
    )
    cool_down: Duration = Field(
        default=_BREAKER.cool_down,
        description="For so long they are stopped; then one call may try. Long enough for a "
        "person to answer, short enough that a server that was down is not waited for.",
    )


class RunawayFields(Strict):
    """How much of each in one minute is a loop rather than a conversation."""

    messages: Limit = Field(
        default=_RUNAWAY.messages,
        description="In any minute, in one session. Streams and imports write many messages "
        "and are no loop, so nothing is stopped for them unless a limit is set.",
    )
    tokens: Amount = Field(
        default=_RUNAWAY.tokens,
        description="A fifth of what the default budget allows in an hour.",
    )
    tool_calls: Limit = Field(
        default=_RUNAWAY.tool_calls,
        description="Two calls in every second, for a minute.",
    )
    warn_messages: Limit = Field(
        default=_RUNAWAY.warn_messages,
        description="Where no limit on messages is set: how many in a minute the journal warns "
        "of. People and models that take turns stay far below; a session that burned had 337. "
        "Inside another program such as Hermes they end a session in which no person writes.",
    )
