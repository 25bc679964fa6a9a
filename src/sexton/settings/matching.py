"""Which sessions do rules have in common, as far as their texts tell?

Every answer is on the safe side: a rule is called useless only if it is for every session.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import product
from math import prod

from sexton.core.record import replace
from sexton.resets.policy import ResetPolicy
from sexton.rules.rulebook import ResetRule

_MOST_PARTS = 64


def matches_all(rule: ResetRule) -> bool:
    """Whether the rule matches every session there can be."""
    return not rule.sources and not rule.chat_types and _any_key(rule)


def shadows(rules: Sequence[ResetRule], place: int) -> list[int]:
    """The rules that together win every session of the rule at a place; none if they do not."""
    winners: list[int] = []
    for part in _parts(rules[place]):
        by = next(
            (
                other
                for other, rule in enumerate(rules)
                if other != place and _wins(rule, part, later=other > place)
            ),
            None,
        )
        if by is None:
            return []
        winners += [by] if by not in winners else []
    return winners


def fallbacks(
    rules: Sequence[ResetRule],
    place: int,
    default: ResetPolicy,
    gone: Collection[int] = (),
) -> Iterator[ResetPolicy]:
    """The policies that sessions of a rule may get if it, and those that are gone, are removed."""
    rule = rules[place]
    left = [other for at, other in enumerate(rules) if at != place and at not in gone]
    if not any(_covers(other, rule) for other in left):
        yield default
    yield from (other.policy for other in left if _may_meet(rule, other))


def _parts(rule: ResetRule) -> Iterator[ResetRule]:
    """The rule as rules of one source, one chat type and one pattern each, while those are few."""
    lists = (rule.sources, rule.chat_types, rule.keys)
    if prod(len(names) or 1 for names in lists) > _MOST_PARTS:
        yield rule
        return
    singles = [[names[at : at + 1] for at in range(len(names) or 1)] for names in lists]
    for sources, chat_types, keys in product(*singles):
        yield replace(rule, sources=sources, chat_types=chat_types, keys=keys)


def _wins(rule: ResetRule, over: ResetRule, *, later: bool) -> bool:
    """Whether a rule takes every session another one matches."""
    outranks = bool(rule.keys) and not over.keys
    # what covers the other rule is never more specific, so only an equal and later one wins
    equal = later and _shape(rule) == _shape(over) and _includes(rule.keys, over.keys)
    return (outranks or equal) and _covers(rule, over)


def _covers(rule: ResetRule, other: ResetRule) -> bool:
    """Whether a rule matches whatever the other one matches."""
    return (
        _includes(rule.sources, other.sources)
        and _includes(rule.chat_types, other.chat_types)
        and (_any_key(rule) or _includes(rule.keys, other.keys))
    )


def _includes(names: tuple[str, ...], others: tuple[str, ...]) -> bool:
    return not names or (bool(others) and all(name in names for name in others))


def _any_key(rule: ResetRule) -> bool:
    return any(not pattern.strip("*") for pattern in rule.keys)


def _shape(rule: ResetRule) -> tuple[bool, bool, bool]:
    return bool(rule.keys), bool(rule.sources), bool(rule.chat_types)


def _may_meet(rule: ResetRule, other: ResetRule) -> bool:
    """Whether a session may match both; two patterns are taken to meet."""
    pairs = ((rule.sources, other.sources), (rule.chat_types, other.chat_types))
    return all(
        not mine or not theirs or any(name in theirs for name in mine) for mine, theirs in pairs
    )
