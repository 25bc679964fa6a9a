"""`apply`: carry out what the policies ask for, as it was shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from sexton.core.plan import EndSession, Outcome, Plan, Result
from sexton.core.record import replace as changed
from sexton.errors import ProcessesRunning, SextonError
from sexton.keeper.apply import apply as carry_out
from sexton.keeper.keeper_context import Estate
from sexton.keeper.narrowing import of_source
from sexton.keeper.observe import observe_home
from sexton.keeper.plan_file import plan_document, read_plan
from sexton.keeper.propose import survey
from sexton.operations import planned, values
from sexton.operations.asker import Asker
from sexton.operations.outlook import outlook
from sexton.operations.questions.home_questions import check_home
from sexton.operations.verb_proposal import Done, Going, Proposal, Step
from sexton.processes.policy import listed, running
from sexton.processes.watched_processes import of_session
from sexton.retention.proposal import with_retention
from sexton.retention.recover import recover
from sexton.rules.rulebook import Rulebook

RESET = "reset"
"""The reason of an end that an operator asks for so that the key begins anew."""
REMOVING = "What is removed goes to the trash or the archive first and can be brought back."


def apply(
    asker: Asker,
    *,
    home: str | None = None,
    source: str | None = None,
    allow_remove_all: bool = False,
) -> Proposal:
    """Carry out what is due now, by the policies in force.

    With `home` or `source` only there. `allow_remove_all` also removes what leaves no session of a
    home.
    """
    plan, troubles = due(asker, home, source, allow_remove_all=allow_remove_all)
    return foretold(asker, of_plan(asker, plan, verb="apply", title="Plan"), troubles)


def foretold(asker: Asker, proposal: Proposal, troubles: list[str]) -> Proposal:
    """A plan with what it will do and would do if allowed, and the homes that were not read."""
    assert proposal.plan is not None
    ahead = outlook(asker.house, proposal.plan)
    shown: planned.Plan = {**proposal.shown, "outlook": ahead, "troubles": troubles}
    return replace(proposal, shown=shown)


def due(
    asker: Asker,
    home: str | None = None,
    source: str | None = None,
    *,
    allow_remove_all: bool = False,
    rules: Rulebook | None = None,
    estate: Estate | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[Plan, list[str]]:
    """What should be done now, and the homes that could not be looked at. Changes no session."""
    check_home(asker, home)
    troubles = []
    if estate is None:
        estate = asker.estate()
        troubles = look_at_homes(estate)
    plan = with_retention(
        estate,
        survey(estate, home, rules).plan,
        home,
        rules,
        allow_remove_all=allow_remove_all,
        tell=tell,
    )
    return of_source(estate.ledger, plan, source), troubles


def look_at_homes(estate: Estate) -> list[str]:
    """Look at every home; those that could not be read, each with why."""
    troubles = list(estate.unreachable)
    for name, record in estate.records.items():
        try:
            observe_home(estate, estate.homes[name], record)
        except SextonError as trouble:
            troubles.append(f"{name}: {trouble}")
    return troubles


def of_plan(  # each says one thing about how it is shown or carried out
    asker: Asker,
    plan: Plan,
    *,
    verb: str,
    title: str,
    says: str = "",
    undoing: str | None = None,
    just_made: bool = False,
    estate: Callable[[], Estate] | None = None,
) -> Proposal:
    """A plan as a proposal.

    With `just_made` no policy decides again, as none asks for what a person asked for. `estate`
    reaches homes that nobody listed.
    """
    return Proposal(
        verb=verb,
        title=title,
        says=says,
        steps=_Steps(plan),
        undoing=REMOVING if undoing is None else undoing,
        shown=cast("planned.Plan", plan_document(plan, asker.house.ledger.plan_key())),
        work=lambda receipt, going: _apply(asker, plan, receipt, going, just_made, estate),
        plan=plan,
    )


def from_text(asker: Asker, text: str, *, verb: str = "apply", shown: bool = False) -> Proposal:
    """The proposal of a plan that is written down.

    An end that a person asked for is carried out as it was decided only if it was `shown` here.
    """
    ledger = asker.house.ledger
    plan = read_plan(text, ledger.id, ledger.plan_key())
    just_made = shown and not plan.policies
    return of_plan(asker, plan, verb=verb, title="Plan", just_made=just_made)


class _Steps(Sequence[Step]):
    """The steps of a plan, made when they are looked at: there may be very many."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def __len__(self) -> int:
        return len(self._plan.actions)

    def __getitem__(self, place: int | slice) -> Step | Sequence[Step]:  # type: ignore[override]
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]  # type: ignore[misc]
        action = self._plan.actions[place]
        what = f"{action.seen.home}/{action.seen.id}"
        return Step(verb=action.kind, what=what, why=action.reason.text)


def _apply(
    asker: Asker,
    plan: Plan,
    receipt: str,
    going: Going,
    just_made: bool,
    reach: Callable[[], Estate] | None,
) -> Done:
    """Carry it out, after what somebody began who died at it; a stop leaves a plan of the rest."""
    estate = reach() if reach else asker.estate({each.seen.home for each in plan.actions})
    assert estate.removing is not None
    if just_made:
        _check_as_shown(estate, plan)
    mend(asker, receipt)
    estate = replace(estate, removing=replace(estate.removing, stopping=going.stopping))
    outcomes: list[Outcome] = []
    for each in carry_out(estate, plan, receipt, observed=going.observed, just_made=just_made):
        outcomes.append(each)
        going.tell(values.outcome(each))
    undone = any(each.result is Result.DONE and each.action.reversible for each in outcomes)
    left = len(plan.actions) - len(outcomes)
    return Done(
        outcomes=[values.outcome(each) for each in outcomes],
        undo={"verb": "undo", "receipt": receipt} if undone else None,
        left=left,
        rest=changed(plan, actions=plan.actions[len(outcomes) :]) if left else None,
        held=plan.held,
    )


def mend(asker: Asker, receipt: str) -> None:
    """Complete what somebody began who died while removing or restoring, in whatever home."""
    means = asker.estate().removing
    assert means is not None
    begun = asker.house.ledger.vault.unfinished(means.host)
    estate = asker.estate({each.home for each in begun})
    assert estate.removing is not None
    recover(estate.removing, estate.evidence, receipt)


def _check_as_shown(estate: Estate, plan: Plan) -> None:
    """Raise ProcessesRunning if a reset that was shown would leave processes that began since."""
    for action in plan.actions:
        if not isinstance(action, EndSession) or action.reason.code != RESET:
            continue
        for session in estate.ledger.index.find(action.seen.home, action.seen.id):
            left = running(of_session(estate, session))
            late = [each for each in left if each.process.started_at > plan.made_at]
            if late:
                words = f"processes of the session {session.name} began since: {listed(late)}"
                raise ProcessesRunning(words)
