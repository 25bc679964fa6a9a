"""How do budgets stand?"""

from __future__ import annotations

from typing_extensions import TypedDict

from sexton.core.session import Session
from sexton.errors import InputInvalid
from sexton.operations import said
from sexton.operations import thing_records as things
from sexton.operations.asker import Asker
from sexton.operations.changes.ending import newest
from sexton.spending.budget_standing import NOWHERE, explained, standings, unpriced, who
from sexton.spending.budgets import action_of
from sexton.spending.model import Budget, Scope, Who


class BudgetInWords(said.Budget):
    """How a budget stands, and that in words."""

    words: str


class Budgets(TypedDict):
    """How budgets stand."""

    items: list[BudgetInWords]
    next: None


def budgets(
    asker: Asker, *, session: str | None = None, source: str | None = None, tree: bool = False
) -> Budgets:
    """How budgets stand.

    Of a `session` all that bound it, with `tree` what is counted for its tree; of a `source` what
    is counted there; without either the budgets of the day.
    """
    if session is not None and source is not None:
        raise InputInvalid("a budget is of a session or of a source", hint="Name one of them.")
    if tree and session is None:
        raise InputInvalid("a source has no tree", hint="Name a session: the tree is of one.")
    asked = None if session is None else newest(asker.house.ledger, asker.find(session))
    return {"items": _standing(asker, asked, source, tree=tree), "next": None}


def budgets_of(asker: Asker, session: Session) -> list[BudgetInWords]:
    """How the budgets stand that bound one session."""
    return _standing(asker, session, None, tree=False)


def _standing(
    asker: Asker, asked: Session | None, source: str | None, *, tree: bool
) -> list[BudgetInWords]:
    estate = asker.look()
    spender = who(estate, asked) if asked else Who(NOWHERE, NOWHERE, source or "")
    found = [
        each
        for each in standings(estate, spender)
        if (not tree or each.bound.meter.scope is Scope.TREE)
        and (asked or source or each.bound.meter.scope is Scope.DAY)
    ]
    ended, blind = asked.end_reason if asked else None, unpriced(estate, asked)
    return [
        {
            **things.budget(each, budget, _word(budget, word, ended, spender.source)),
            "words": words,
        }
        for each in found
        for budget, word, words in explained(each, spender.source, blind)
    ]


def _word(budget: Budget, word: str, ended: str | None, source: str) -> str:
    """What a budget does now, or did: it may end a session before all is spent."""
    return action_of(budget, source).value if ended == f"budget:{budget.name}" else word
