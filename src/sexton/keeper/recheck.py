"""Decides each action on an open session again when it is applied.

A plan may be old, or written by somebody who knows the key of the ledger. What it claims is
therefore no proof: the policies that make plans are asked again.
"""

from __future__ import annotations

from functools import cached_property
from typing import assert_never

from sexton.core.plan import EndSession, Held, ReapSession, Reason, Seen, Tending, WarnSession
from sexton.core.record import replace
from sexton.core.session import NATIVE, Session
from sexton.keeper.keeper_context import Estate, Rules, rules_now
from sexton.keeper.propose import decide_one
from sexton.liveness.policy import HOME, SILENT, orphan_reason, reap_reason
from sexton.liveness.reaper import Deaths, find_deaths
from sexton.processes.overseer import Guard
from sexton.resets.policy import PINNED

GONE = "it is gone"
ALIVE = "its holder is not proved dead now"
TAKEN_UP = "somebody may have it again"
UNASKED = "no policy asks for it now"


class Recheck:
    """Asks the policies about single sessions, after one look at workers and processes."""

    def __init__(self, estate: Estate) -> None:
        self._estate = estate

    def __call__(self, action: Tending) -> Tending | str:
        """The action with the reason that holds now, or why it is not carried out."""
        match action:
            case ReapSession():
                return self._reap(action)
            case EndSession():
                decision = self._decide(action.seen)
                if isinstance(decision, EndSession):
                    return replace(action, reason=decision.reason)
            case WarnSession(limit=limit):
                decision = self._decide(action.seen)
                if isinstance(decision, WarnSession) and decision.limit == limit:
                    return replace(action, reason=decision.reason)
            case _:
                assert_never(action)
        return decision if isinstance(decision, str) else UNASKED

    def _reap(self, reap: ReapSession) -> ReapSession | str:
        reason = self._death(reap) if reap.dead else self._desertion(reap.seen)
        return reason if isinstance(reason, str) else replace(reap, reason=reason)

    def _death(self, reap: ReapSession) -> Reason | str:
        """Why a session with holders is dead, by what is known of them now."""
        seen = reap.seen
        proved = self._proved.get(seen.ref)
        if proved is None or (proved.seen.home, proved.seen.id) != (seen.home, seen.id):
            return ALIVE
        if set(proved.dead) != set(reap.dead):
            return ALIVE
        doubt = self._deaths.held.get(seen.ref)
        return proved.reason if doubt is None else doubt.text

    def _desertion(self, seen: Seen) -> Reason | str:
        """Why a session that nobody holds is dead, by its home or by its silence."""
        session = self._find(seen)
        if session is None:
            return GONE
        if session.holders or not session.is_open or session.is_spared:
            return TAKEN_UP
        estate, evidence = self._estate, self._estate.of_holders(session)
        liveness = self._rules.in_force.rules.liveness
        reason = reap_reason(session, evidence, liveness, estate.clock.now())
        if reason is None and HOME in evidence:
            reason = orphan_reason(evidence[HOME], attended=not estate.unattended)
        if reason is None:
            return UNASKED if seen.home == NATIVE else TAKEN_UP
        return PINNED.text if reason.code == SILENT and session.pinned else reason

    def _decide(self, seen: Seen) -> Tending | str | None:
        session = self._find(seen)
        if session is None:
            return GONE
        if not session.is_open:
            return UNASKED
        decision = decide_one(self._estate, self._rules, session, self._deaths, self._guard)
        return decision.holding.text if isinstance(decision, Held) else decision

    def _find(self, seen: Seen) -> Session | None:
        """The session that is meant, if its row and its name belong together."""
        found = self._estate.ledger.index.find(seen.home, seen.id)
        return next((each for each in found if each.ref == seen.ref), None)

    @cached_property
    def _rules(self) -> Rules:
        return rules_now(self._estate)

    @cached_property
    def _deaths(self) -> Deaths:
        return find_deaths(self._estate, self._rules.in_force.rules.liveness)

    @cached_property
    def _proved(self) -> dict[int, ReapSession]:
        return {each.seen.ref: each for each in self._deaths.reaps}

    @cached_property
    def _guard(self) -> Guard:
        return self._estate.guard()
