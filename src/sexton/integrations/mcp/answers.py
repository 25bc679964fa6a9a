"""What can an agent ask, and what may it do about its own processes?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from sexton.errors import PlanInvalid
from sexton.integrations.mcp.scope import Scope
from sexton.keeper.explain import explain
from sexton.operations import planned, values
from sexton.operations import thing_records as things
from sexton.operations.asker import Asker
from sexton.operations.question_registry import QUESTIONS
from sexton.operations.questions.budget_questions import budgets
from sexton.operations.registry import VERBS, parameters_of, plain, said_of
from sexton.operations.verb_proposal import Going, Proposal
from sexton.processes.watched_processes import view
from sexton.wiring import Sexton
from sexton.wiring.reaching import everywhere

REMEMBERED = 100
"""Proposals that wait to be confirmed."""


class Answers:
    """The tools of the server; each docstring is what the agent reads about it."""

    def __init__(self, house: Sexton, scope: Scope) -> None:
        self._house = house
        self._scope = scope
        self._proposals: dict[str, Proposal] = {}
        self._asker = Asker(
            house=house,
            sessions=scope.session,
            processes=scope.processes,
            is_agent=scope.is_agent,
            is_confirming=False,
        )

    def my_sessions(self) -> dict[str, Any]:
        """List your session and everything that came of it, with its state and what it used.

        That is subagents and conversations that were compressed.
        """
        shown = map(self._house.content.session, self._scope.sessions())
        return {"sessions": [values.session(each) for each in shown]}

    def why(self, session: str | None = None) -> dict[str, Any]:
        """Say why a session is as it is: why it is not reset or when it will be, who holds it.

        Also what holds a reset back and how its budgets stand. Without a name it is about your own.
        """
        found = self._scope.session(session)
        return dict(values.explanation(explain(everywhere(self._house), found)))

    def my_processes(self) -> dict[str, Any]:
        """List the background processes of your sessions that really run, and what each does.

        It may work, idle or listen on ports, and hold a reset back. Ask this before you start a
        server again.
        """
        found = view(everywhere(self._house), self._scope.processes())
        return {"processes": [things.process(each) for each in found]}

    def my_budget(self, session: str | None = None) -> dict[str, Any]:
        """Show what a session may spend and has spent: tokens, money, iterations, calls, time.

        Without a name it is about your own session.
        """
        found = self._scope.session(session)
        return {"budgets": budgets(self._asker, session=f"{found.home}/{found.id}")["items"]}

    def more(self) -> Iterator[Callable[..., dict[str, Any]]]:
        """The tools that come from the registries.

        What an agent asks for is carried out at once. An operator may ask every question, is shown
        a proposal first, and confirms it by its digest.
        """
        is_agent = self._scope.is_agent
        for question in () if is_agent else QUESTIONS.values():
            yield self._tool(question, dict)
        for verb in VERBS.values():
            if is_agent and verb.for_agents:
                yield self._tool(verb.propose, lambda asked: asked.carry_out().shown)
            elif not is_agent:
                yield self._tool(verb.propose, self._shown)
        if not is_agent:
            yield self.confirm

    def confirm(self, digest: str, allow_observed: bool = False) -> dict[str, Any]:
        """Carry out what another tool has shown under this digest.

        What has moved on since is skipped. With allow_observed also in homes that are only
        observed.
        """
        shown = self._proposals.pop(digest, None)
        if shown is None:
            raise PlanInvalid(
                "nothing is known that was shown under this digest",
                hint="Ask for the proposal again, look at it, and confirm that one.",
            )
        return dict(shown.carry_out(Going(observed=allow_observed)).shown)

    def _shown(self, proposal: Proposal) -> planned.Plan:
        self._proposals[proposal.digest] = proposal
        while len(self._proposals) > REMEMBERED:
            del self._proposals[next(iter(self._proposals))]
        return proposal.shown

    def _tool(
        self, asked: Callable[..., Any], answer: Callable[[Any], Mapping[str, Any]]
    ) -> Callable[..., dict[str, Any]]:
        """A verb or a question with its parameters; lengths of time are texts like 30d."""
        parameters = parameters_of(asked)

        def tool(**given: Any) -> dict[str, Any]:
            return dict(answer(asked(self._asker, **said_of(asked, given))))

        signature = inspect.Signature(
            [
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=_usual(default),
                    annotation=str | None if plain(hint) is timedelta else hint,
                )
                for name, (hint, default) in parameters.items()
            ],
            return_annotation=dict[str, Any],
        )
        tool.__name__ = asked.__name__
        tool.__doc__ = inspect.getdoc(asked)
        vars(tool)["__signature__"] = signature
        return tool


def _usual(default: Any) -> Any:
    if default is ...:
        return inspect.Parameter.empty
    return None if isinstance(default, timedelta) else default
