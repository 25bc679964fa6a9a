"""How many end-of-session jobs does a plan start, and what may they cost?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from sexton.model.plan import Action, EndSession, ReapSession
from sexton.model.record import record, replace
from sexton.model.session import Session, State
from sexton.model.spend import Unit
from sexton.policies.finalizing import OWES, Owing, why
from sexton.policies.pricing import own_tariff
from sexton.settings.values import FinalizerKind, FinalizerSetting
from sexton.system.effects.memory import part_bytes
from sexton.system.prices import listed_tariff

if TYPE_CHECKING:
    from sexton.bootstrap import Sexton
    from sexton.policies.rulebook import Rulebook

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

    What was covered before a session was opened again is counted once more. Other rules than those
    in force may be `wanted`.
    """
    rules = (wanted or opened.rules(None).rules).finalizers
    ending = [each for each in actions if isinstance(each, EndSession | ReapSession)]
    if not rules or not ending:
        return []
    sessions = list(_sessions(opened, ending))
    found = (_prospect(opened, rule, sessions) for rule in rules)
    return [each for each in found if each.jobs]


def calls_of(opened: Sexton, setting: FinalizerSetting, jobs: int, size: int) -> Calls | None:
    """What a model is asked for so many jobs over so many bytes; None if none is known."""
    if setting.context_tokens is None or setting.model is None:
        return None
    tokens = size // BYTES_PER_TOKEN
    calls = jobs + size // part_bytes(setting.context_tokens)
    prices = opened.rules(None).rules.spend.prices
    tariff = own_tariff(prices, setting.model) or listed_tariff(setting.model)
    if tariff is None or not calls:
        return Calls(calls=calls, tokens=tokens, cost_micros=None)
    each = {Unit.INPUT: tokens // calls + QUESTION_TOKENS, Unit.OUTPUT: ANSWER_TOKENS}
    return Calls(calls=calls, tokens=tokens, cost_micros=calls * tariff(each))


def _prospect(opened: Sexton, rule: Owing, sessions: Sequence[Session]) -> Prospect:
    owing = [each for each in sessions if why(each, rule).code == OWES]
    settings = {each.name: each for each in opened.settings.finalizers}
    setting, size = settings.get(rule.name), sum(each.byte_count for each in owing)
    return Prospect(
        finalizer=rule.name,
        kind=None if setting is None else setting.kind,
        jobs=len(owing),
        messages=sum(each.message_count for each in owing),
        bytes=size,
        calls=None if setting is None else calls_of(opened, setting, len(owing), size),
    )


def _sessions(opened: Sexton, ending: Sequence[EndSession | ReapSession]) -> Iterator[Session]:
    """The sessions as they are once they have ended."""
    by_home = sorted(ending, key=lambda each: each.seen.home)
    for home, group in groupby(by_home, key=lambda each: each.seen.home):
        ids = [each.seen.id for each in group]
        for start in range(0, len(ids), PAGE):
            for found in opened.ledger.retained.named(home, ids[start : start + PAGE]):
                yield replace(found.session, state=State.ENDED, end_reason=None)
