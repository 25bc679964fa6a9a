"""What an agent's sessions are opened with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sexton.core.plan import Reason
from sexton.core.record import made, record
from sexton.core.session import NATIVE, Session, State
from sexton.errors import (
    SessionEnded,
    SessionError,
    SessionFenced,
    SessionNotFound,
    SessionRewound,
)
from sexton.liveness.evidence import Evidence, Verdict
from sexton.liveness.membership import Membership
from sexton.liveness.missed_heartbeats import Watch
from sexton.liveness.policy import judge, kept_proof
from sexton.rules.rulebook import InForce
from sexton.sessions.turns import Turns
from sexton.spending.guards import Guards
from sexton.spending.slots import Slots
from sexton.store.journal import Entry

if TYPE_CHECKING:
    from pathlib import Path

    from sexton.core.machine_ports import Clock, ProcessTable
    from sexton.processes.overseer import Overseer
    from sexton.sessions.watermarks import Watermark
    from sexton.spending.pricing import Tariff
    from sexton.store.ledger import Ledger


@record
class Desk:
    """The ledger, the clocks and the rules, as one worker uses them.

    `tariff` knows what models cost; `stop_processes` stops what a session that is killed runs;
    `directory` is where a session keeps its files; `guards` watch over what its sessions spend, and
    `slots` name its grants;
    `held` is what was last said of each reset that is held back.
    """

    ledger: Ledger
    clock: Clock
    processes: ProcessTable
    rules: Callable[[int | None], InForce]
    membership: Membership
    actor: str
    overseer: Callable[[], Overseer]
    tariff: Callable[[str], Tariff | None] = lambda _: None
    stop_processes: Callable[[Session], object] = lambda _: None
    directory: Callable[[str], Path]
    turns: Turns = made(Turns)
    guards: Guards = made(Guards)
    slots: Slots = made(Slots)
    held: dict[str, str] = made(dict)

    @property
    def worker(self) -> str:
        """The worker this process is."""
        return self.membership.id

    def evidence(self, session: Session) -> dict[str, Evidence]:
        """What the kernel says about each holder; an agent keeps no watch over other hosts."""
        policy = self.rules(None).rules.liveness
        return {
            holder.worker.id: judge(
                holder.worker, self.processes.look(holder.worker.identity), policy, Watch()
            )
            for holder in session.holders
        }

    def reclaim(self) -> bool:
        """Give back what the dead hold of budgets, also where no keeper runs; whether that is any.

        Who is dead by the kernel's word is recorded as such; what else is left is seen to as ever.
        """
        policy, others = self.rules(None).rules.liveness, self.ledger.reaping.suspects()
        judged = [
            (each, judge(each, self.processes.look(each.identity), policy, Watch()))
            for each in others
            if each.dead_at is None and each.id != self.worker
        ]
        dead = [
            (each, kept_proof(proof)) for each, proof in judged if proof.verdict is Verdict.DEAD
        ]
        now = self.clock.now()
        self.ledger.reaping.declare(dead, now)
        return bool(self.ledger.spending.free(now))

    def entry(self, session: Session, action: str, reason: Reason) -> Entry:
        """A line of the journal about what this worker does to the session."""
        return Entry(
            actor=self.actor,
            receipt=None,
            home=session.home,
            session=session.id,
            action=action,
            result="done",
            reason=reason,
        )

    def refusal(self, session: Session, mark: Watermark | None = None) -> SessionError:
        """Why the ledger refused a write to the session; `mark` says what its writer has seen."""
        mark = mark or self.membership.watermarks.of_id(session.id)
        timeline = mark.timeline if mark else self.membership.timeline
        seen = mark.count if mark and mark.ref == session.ref else 0  # before the ledger is asked
        found = self.ledger.index.find(session.home, session.id)
        if self.membership.notices_rewind():
            return self.rewound(session)
        if session.home == NATIVE and _is_set_back(found, session, seen):
            self.membership.fall_back(timeline)
            return self.rewound(session)
        if not found:
            return SessionNotFound(f"the session {session.id} does not exist any more")
        now = found[0]
        if not now.is_open:
            return self.over(now)
        return SessionFenced(
            f"the session {session.id} was taken over: its epoch is {now.epoch}, "
            f"this writer has {session.epoch}"
        )

    @staticmethod
    def rewound(session: Session) -> SessionError:
        """What whoever opened the session before the ledger was set back is told."""
        return SessionRewound(
            f"the ledger was set back to an earlier state since the session {session.id} was "
            "opened: it was restored from a backup, or a standby without its last commits took over"
        )

    def over(self, session: Session) -> SessionError:
        """Why a session that is not open can not be used: it has ended, or was even removed."""
        if session.state in (State.ENDED, State.FINALIZED):
            return SessionEnded(f"the session {session.id} has ended: {session.end_reason}")
        from sexton.retention.model import removed  # noqa: PLC0415  # agents seldom meet it

        file = self.ledger.vault.of_session(session.ref)
        return removed(session.id, session.state, file.receipt if file else None)


def _is_set_back(found: Sequence[Session], session: Session, seen: int) -> bool:
    """Whether less of a native session is there than was: its row, its epoch and counts stay."""
    return not found or found[0].epoch < session.epoch or found[0].message_count < seen
