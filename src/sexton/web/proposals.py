"""What was shown to a person and waits for a word?"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sexton.engine.sealing import digest_of
from sexton.errors import PlanInvalid
from sexton.model.plan import Plan, Reason
from sexton.model.record import record
from sexton.ports import Ledger
from sexton.shapes import planned

MOST = 100
"""Proposals that are remembered; of more the oldest is forgotten, and has to be made anew."""


@record
class Step:
    """One thing that would be done, to what, and why."""

    kind: str
    verb: str
    what: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of one action that is not a plan's: done or not, and why."""

    is_done: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """One action that is not a plan's, with its reason; `carry_out` looks again before it acts.

    `undo` is the query of the proposal that undoes it, if there is one. `steps` are what it would
    do to what, and what it spares.
    """

    kind: str
    home: str | None
    session: str | None
    target: str
    reason: Reason
    reversible: bool
    carry_out: Callable[[str], Done]
    undo: Mapping[str, str] | None = None
    steps: Sequence[Step] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A plan or an errand as it was shown, and the digest by which it is confirmed."""

    digest: str
    shown: planned.Plan
    work: Plan | Errand


class Proposals:
    """What was shown lately, by digest: what is confirmed is exactly what was shown."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, Proposal] = {}

    def add(self, proposal: Proposal) -> Proposal:
        """Remember what is shown."""
        with self._lock:
            self._waiting.pop(proposal.digest, None)
            while len(self._waiting) >= MOST:
                self._waiting.pop(next(iter(self._waiting)))
            self._waiting[proposal.digest] = proposal
        return proposal

    def __contains__(self, digest: str) -> bool:
        """Whether it is remembered."""
        with self._lock:
            return digest in self._waiting

    def of(self, digest: str) -> Proposal:
        """What was shown under that digest; PlanInvalid if that is too long ago."""
        with self._lock:
            found = self._waiting.get(digest)
        if found is None:
            raise PlanInvalid(
                "nothing is known that was shown under this digest",
                hint="Ask for the plan again, look at it, and confirm that one.",
            )
        return found


def of_errand(errand: Errand, ledger: Ledger, made_at: str) -> Proposal:
    """An errand in the form in which plans are shown."""
    named: planned.Seen = {"home": errand.home, "id": errand.session}
    shown: planned.Plan = {
        "format": "sexton-errand",
        "version": 1,
        "id": uuid.uuid4().hex,
        "ledger": ledger.id,
        "made_at": made_at,
        "actions": [
            {
                "kind": errand.kind,
                "session": named,
                "target": errand.target,
                "steps": [
                    {"verb": each.verb, "what": each.what, "why": each.why} for each in errand.steps
                ],
                "reason": {"code": errand.reason.code, "text": errand.reason.text},
                "reversible": errand.reversible,
            }
        ],
        "held": [],
        "digest": "",
    }
    content = {name: value for name, value in shown.items() if name != "digest"}
    shown["digest"] = digest_of(content, ledger.plan_key())
    return Proposal(digest=shown["digest"], shown=shown, work=errand)
