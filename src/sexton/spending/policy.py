"""What may be spent, and what counts as a loop? The rules; what follows from them is elsewhere."""

from __future__ import annotations

from datetime import timedelta

from sexton.core.record import made, record
from sexton.core.setting import setting
from sexton.spending.model import Budget, Scope, Unit


def usual_name(scope: str, unit: str, per: timedelta | None = None) -> str:
    """What a budget is called that was given no name."""
    return f"{scope}.{unit}" + (f"/{span(per)}" if per else "")


def span(length: timedelta) -> str:
    """A length of time in the largest unit that fits: 90s, 5m, 1h."""
    seconds = int(length.total_seconds())
    for size, unit in ((3600, "h"), (60, "m")):
        if seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _default(scope: Scope, unit: Unit, limit: int, per: timedelta | None = None) -> Budget:
    name = usual_name(scope, unit, per)
    return Budget(name=name, scope=scope, unit=unit, limit=limit, per=per)


DEFAULTS = (
    _default(Scope.TURN, Unit.ITERATIONS, 200),
    _default(Scope.TREE, Unit.TOKENS, 5_000_000, timedelta(hours=1)),
)
"""In force unless a budget of the same name takes the place of one."""


@record
class BreakerPolicy:
    """After how many failures or repetitions in a row the model is told; at the last, stopped."""

    warn_at: tuple[int, ...] = setting(
        default=(3, 6, 9),
        kind="steps",
        about="The numbers of failures in a row, or of repetitions of the same call, result or "
        "cycle, after which the model gets a warning. At the last number, tools stop. Three may "
        "be bad luck, nine are not.",
        change="Lower the numbers where each call of a tool is expensive; raise them for tools "
        "that often fail for a while.",
    )
    cool_down: timedelta = setting(
        default=timedelta(seconds=60),
        about="How long tools stay stopped; then one call may try again. A minute is long enough "
        "for a person to answer, and short enough to use a server soon after it is back.",
        change="Raise it where a failing server recovers slowly.",
    )


@record
class RunawayPolicy:
    """How much of each in one minute is a loop rather than a conversation; None: any is fine.

    Streams and imports write many messages, so those stop nothing unless that was set: from
    `warn_messages` on, the journal says so.
    """

    messages: int | None = setting(
        default=None,
        unit="messages",
        null="no limit",
        about="The number of messages in any minute, in one session, that counts as a loop and "
        "stops it. No limit by default, because streams and imports write many messages and are "
        "no loop.",
        change="Set it where every message of an agent is an answer to somebody.",
    )
    tokens: int | None = setting(
        default=1_000_000,
        kind="amount",
        unit="tokens",
        null="no limit",
        about="The number of tokens in any minute, in one session, that counts as a loop and "
        "stops it. The default is a fifth of what the default budget allows in an hour.",
        change="Raise it for agents that read large documents in one go.",
    )
    tool_calls: int | None = setting(
        default=120,
        unit="calls",
        null="no limit",
        about="The number of tool calls in any minute, in one session, that counts as a loop and "
        "stops it. The default is two calls per second.",
        change="Raise it for agents that call many fast tools at the same time.",
    )
    warn_messages: int | None = setting(
        default=150,
        unit="messages",
        null="no limit",
        about="The number of messages in any minute that the journal warns of, where `messages` "
        "is not set. People and models that take turns stay far below; a session in a loop had "
        "337. Inside another program, such as Hermes, it ends a session in which no person "
        "writes.",
        change="Raise it for agents that stream their output as single messages.",
    )


@record
class Price:
    """Dollars for a million tokens of each kind; cached ones cost as much as input if not said."""

    per_input: float = setting(
        kind="price",
        name="input",
        about="Dollars per million tokens that the model reads.",
        change="Set it to the price your provider charges.",
    )
    per_output: float = setting(
        kind="price",
        name="output",
        about="Dollars per million tokens that the model writes.",
        change="Set it to the price your provider charges.",
    )
    per_cached: float | None = setting(
        default=None,
        kind="price",
        null="the price of input",
        name="cached",
        about="Dollars per million tokens that the model reads from a cache. As much as `input` "
        "by default.",
        change="Set it where your provider charges less for them.",
    )


@record
class Prices:
    """Prices of one's own by model, before any table, and what a model in neither costs."""

    models: tuple[tuple[str, Price], ...] = setting(
        default=(),
        otherwise="none",
        about="Your own prices by model. They come before the table of genai-prices, which others "
        "maintain and which comes with `sexton[prices]`.",
        change="Add a model that the table does not know, or for which you pay another price.",
    )
    unknown: Price | None = setting(
        default=None,
        null="an error",
        about="The price of a model that is in neither table. Without it, counting money for such "
        "a model is an error: no model is free because nobody knows its price.",
        change="Set it to the price of your most expensive model to go on with models that have "
        "no price yet.",
    )


@record
class SpendRules:
    """Everything that bounds what agents spend."""

    budgets: tuple[Budget, ...] = DEFAULTS
    breaker: BreakerPolicy = made(BreakerPolicy)
    runaway: RunawayPolicy = made(RunawayPolicy)
    prices: Prices = made(Prices)

    @property
    def counts_messages(self) -> bool:
        """Whether a budget counts messages; a session counts its own by itself."""
        own = (Scope.TURN, Scope.SESSION)
        return any(
            each.unit is Unit.MESSAGES and (each.scope not in own or each.per)
            for each in self.budgets
        )
