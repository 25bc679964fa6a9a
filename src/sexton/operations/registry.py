"""Every verb, and on which surfaces it is: all of them, but for what an agent may not do.

A verb is one function in `changes`. Its parameters are the query of `/v1/plan/VERB` and of the page
`/act/VERB`, and the arguments of the MCP tool; its docstring is what all of them say about it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import UnionType
from typing import Any, TypeAlias, get_args, get_type_hints

from sexton.errors import InputInvalid
from sexton.operations.changes import (
    applying,
    budget_changes,
    clearing,
    ending,
    job_changes,
    pinning,
    process_changes,
    restoring,
)
from sexton.operations.verb_proposal import Proposal
from sexton.settings.quantities import parse_duration

Parameters: TypeAlias = Mapping[str, tuple[Any, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb: how it is proposed, and by which command.

    `noun` is the page that lists what it is about. `is_grave` marks on a page what destroys
    something. `for_agents` says that an agent may use it, on its own sessions and processes.
    """

    propose: Callable[..., Proposal]
    command: tuple[str, ...]
    noun: str
    is_grave: bool = False
    for_agents: bool = False

    @property
    def name(self) -> str:
        """What the API, the pages and the journal call it."""
        return self.propose.__name__

    @property
    def summary(self) -> str:
        """What it does, for people and for models."""
        return inspect.getdoc(self.propose) or ""

    def parameters(self) -> Parameters:
        """What a caller says."""
        return parameters_of(self.propose)


def plain(hint: Any) -> Any:
    """A type without None beside it."""
    if isinstance(hint, UnionType):
        (hint,) = (each for each in get_args(hint) if each is not type(None))
    return hint


def said_of(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, in the types that are asked for; lengths of time come as text."""
    hints = {name: plain(hint) for name, (hint, _) in parameters_of(function).items()}
    return {
        name: _span(name, value) if hints[name] is timedelta else value
        for name, value in given.items()
        if value is not None
    }


def _span(name: str, text: str) -> timedelta:
    span = parse_duration(text)
    if not span:
        raise InputInvalid(
            f"{name}: {text!r} is no length of time", hint="Write it like 12h or 7d."
        )
    return span


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """The type and the default of each thing that a caller says; no default is `...`."""
    hints = get_type_hints(function)
    return {
        name: (hints[name], ... if each.default is each.empty else each.default)
        for name, each in inspect.signature(function).parameters.items()
        if name not in ("asker", "estate")
    }


VERBS: Mapping[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb(propose=applying.apply, command=("apply",), noun="plan"),
        Verb(propose=ending.end, command=("sessions", "end"), noun="sessions"),
        Verb(propose=ending.reset, command=("sessions", "reset"), noun="sessions"),
        Verb(propose=pinning.pin, command=("sessions", "pin"), noun="sessions"),
        Verb(propose=pinning.unpin, command=("sessions", "unpin"), noun="sessions"),
        Verb(
            propose=process_changes.stop_process,
            command=("processes", "stop"),
            noun="processes",
            is_grave=True,
            for_agents=True,
        ),
        Verb(
            propose=process_changes.keep_process,
            command=("processes", "keep"),
            noun="processes",
            for_agents=True,
        ),
        Verb(
            propose=process_changes.release_process,
            command=("processes", "release"),
            noun="processes",
            for_agents=True,
        ),
        Verb(
            propose=job_changes.retry_finalizer, command=("finalizers", "retry"), noun="finalizers"
        ),
        Verb(
            propose=job_changes.discard_finalizer,
            command=("finalizers", "discard"),
            noun="finalizers",
        ),
        Verb(
            propose=job_changes.backfill_finalizer,
            command=("finalizers", "backfill"),
            noun="finalizers",
        ),
        Verb(propose=budget_changes.set_budget, command=("budget", "set"), noun="sessions"),
        Verb(propose=budget_changes.clear_budget, command=("budget", "clear"), noun="sessions"),
        Verb(propose=budget_changes.raise_budget, command=("budget", "raise"), noun="sessions"),
        Verb(propose=clearing.gc, command=("gc",), noun="plan"),
        Verb(propose=clearing.empty_trash, command=("trash", "empty"), noun="vault", is_grave=True),
        Verb(propose=restoring.restore, command=("archive", "restore"), noun="vault"),
        Verb(propose=restoring.undo, command=("undo",), noun="journal"),
    )
}
