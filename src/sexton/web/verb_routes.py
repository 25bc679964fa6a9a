"""How are verbs and questions asked for by a query? The same for the API and the pages."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Query

from sexton.core.session import NAME_LIMIT
from sexton.keeper.sealing import is_digest_of
from sexton.operations.changes.applying import from_text
from sexton.operations.registry import Verb, parameters_of, said_of
from sexton.operations.registry import plain as plain_type
from sexton.operations.verb_proposal import Proposal
from sexton.web.api.inputs import LARGEST, Limit, Span, Storable, StorableOrNone
from sexton.web.desk import Desk
from sexton.web.proposals import Written

_QUERY: Mapping[Any, Any] = {
    str: Annotated[str, Query(min_length=1, max_length=2 * NAME_LIMIT), Storable],
    int: Annotated[int, Query(ge=0, le=LARGEST)],
    timedelta: Span,
}


def propose(desk: Desk, verb: Verb, given: Mapping[str, Any]) -> Proposal:
    """What a verb would do, remembered under its digest; what was not given is as usual."""
    proposal = verb.propose(desk.asker, **said_of(verb.propose, given))
    desk.proposals.add(proposal)
    return proposal


def confirmed(desk: Desk, digest: str) -> Proposal:
    """What was shown under a digest; PlanInvalid if that is too long ago."""
    found = desk.proposals.of(digest)
    if isinstance(found, Written):
        return from_text(desk.asker, found.text, verb=found.verb, shown=True)
    return found


def confirmed_document(desk: Desk, content: Mapping[str, Any]) -> Proposal:
    """A plan that comes along as a whole, as `sexton plan` writes it."""
    ledger, digest = desk.house.ledger, str(content["digest"])
    rest = {name: value for name, value in content.items() if name != "digest"}
    if digest in desk.proposals and is_digest_of(rest, ledger.plan_key(), digest):
        return confirmed(desk, digest)
    return from_text(desk.asker, json.dumps(content))


def with_query(
    asked: Callable[..., Any],
    answer: Callable[[dict[str, Any]], Any],
    gives: Any,
    *,
    is_page: bool = False,
) -> Callable[..., Any]:
    """A route that takes the parameters of a verb or a question from its query."""

    def route(**given: Any) -> Any:
        # The fields of a form that were left empty are not given.
        return answer({name: None if value == "" else value for name, value in given.items()})

    route.__name__ = asked.__name__
    route.__doc__ = inspect.getdoc(asked)
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_usual(default, is_page=is_page),
            annotation=Limit if name == "limit" else _asked(hint, may_be_empty=is_page),
        )
        for name, (hint, default) in parameters_of(asked).items()
    ]
    vars(route)["__signature__"] = inspect.Signature(parameters, return_annotation=gives)
    return route


def _usual(default: Any, *, is_page: bool) -> Any:
    if default is ...:
        return None if is_page else inspect.Parameter.empty
    return None if isinstance(default, timedelta) else default


def _asked(hint: Any, *, may_be_empty: bool) -> Any:
    """How a parameter is asked for in a query."""
    plain = plain_type(hint)
    if plain is bool:
        return bool
    if plain is str and may_be_empty:
        return Annotated[str | None, Query(max_length=2 * NAME_LIMIT), StorableOrNone]
    return _QUERY.get(plain, plain) | None


def choices_of(hint: Any) -> list[str]:
    """The members of a closed set; none of any other type."""
    plain = plain_type(hint)
    is_set = isinstance(plain, type) and issubclass(plain, StrEnum)
    return [each.value for each in plain] if is_set else []
