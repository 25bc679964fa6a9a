"""How many end-of-session jobs does a plan start, and what may they cost?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sexton.core.plan import Action, EndSession, ReapSession
from sexton.core.record import record
from sexton.core.session import State
from sexton.finalizers.effects.memory_effect import part_bytes
from sexton.finalizers.model import Due
from sexton.rules.rulebook import Rulebook, encode
from sexton.settings.settings_values import FinalizerKind, FinalizerSetting
from sexton.spending.model import Unit
from sexton.spending.policy import Prices
from sexton.spending.price_table import listed_tariff
from sexton.spending.pricing import own_tariff

if TYPE_CHECKING:
    from sexton.wiring import Sexton

PAGE = 500
BYTES_PER_TOKEN = 4
QUESTION_TOKENS = 250
ANSWER_TOKENS = 250
"""What is asked beside the text, and what a model usually answers."""


@record
class Calls:
    """About how often a model is asked, with how many tokens, and for how much money.

    `cost_micros` is None where the price of the model is unknown.
    """

    calls: int
    tokens: int
    cost_micros: int | None


@record
class Prospect:
    """The jobs of one finalizer that a plan starts at most, and how much is said in them.

    `kind` is None if the settings of this process do not have the finalizer. `calls` is None for
    kinds that ask no model that we know of: what they cost is unknown.
    """

    finalizer: str
    kind: FinalizerKind | None
    jobs: int
    messages: int
    bytes: int
    calls: Calls | None


def prospects(
    opened: Sexton, actions: Sequence[Action], wanted: Rulebook | None = None
) -> list[Prospect]:
    """The jobs that these actions start at most, by finalizer. Changes nothing.

    The ledger says for each session what it would owe. Other rules than those in force may be
    `wanted`, and then their prices hold. The bytes are those of whole sessions, also where a job
    covers a part.
    """
    in_force = opened.rules(None).rules
    rules = in_force if wanted is None else wanted
    ending = [each.seen.ref for each in actions if isinstance(each, EndSession | ReapSession)]
    if not rules.finalizers or not ending:
        return []
    other = None if rules.finalizers == in_force.finalizers else encode(rules)
    owing: dict[str, list[Due]] = {rule.name: [] for rule in rules.finalizers}
    for start in range(0, len(ending), PAGE):
        for due in opened.ledger.dues.of(ending[start : start + PAGE], other):
            if due.owes and due.state is State.OPEN:
                owing.setdefault(due.finalizer, []).append(due)
    prices = rules.spend.prices
    return [_prospect(opened, name, dues, prices) for name, dues in owing.items() if dues]


def calls_of(setting: FinalizerSetting, jobs: int, size: int, prices: Prices) -> Calls | None:
    """What a model is asked for a number of jobs over a number of bytes; None if none is known."""
    if setting.context_tokens is None or setting.model is None:
        return None
    tokens = size // BYTES_PER_TOKEN
    calls = jobs + size // part_bytes(setting.context_tokens)
    tariff = own_tariff(prices, setting.model) or listed_tariff(setting.model)
    if tariff is None or not calls:
        return Calls(calls=calls, tokens=tokens, cost_micros=None)
    each = {Unit.INPUT: tokens // calls + QUESTION_TOKENS, Unit.OUTPUT: ANSWER_TOKENS}
    return Calls(calls=calls, tokens=tokens, cost_micros=calls * tariff(each))


def _prospect(opened: Sexton, finalizer: str, dues: Sequence[Due], prices: Prices) -> Prospect:
    settings = {each.name: each for each in opened.settings.finalizers}
    setting, size = settings.get(finalizer), sum(due.byte_count for due in dues)
    return Prospect(
        finalizer=finalizer,
        kind=None if setting is None else setting.kind,
        jobs=len(dues),
        messages=sum(due.through - due.since for due in dues),
        bytes=size,
        calls=None if setting is None else calls_of(setting, len(dues), size, prices),
    )
