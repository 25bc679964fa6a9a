"""What does an agent's process work with?"""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from sexton.core.session import Session, check_name
from sexton.liveness.membership import Membership
from sexton.sessions.agent_worker import AgentWorker
from sexton.sessions.worker_context import Desk

if TYPE_CHECKING:
    from pathlib import Path

    from sexton.spending.pricing import Tariff
    from sexton.wiring import Sexton

_LIVENESS = attrgetter("rules.known.rules.liveness")  # asked before every write


def enrol(opened: Sexton, kind: str) -> AgentWorker:
    """Register this process as a holder of sessions."""
    return AgentWorker(desk_for(opened, kind))


def desk_for(opened: Sexton, kind: str) -> Desk:
    """What a worker of this process works with; it is registered by that."""
    opened.rules()  # how often it beats is a rule, and this thread may load what reading one takes
    membership = Membership(
        opened.ledger,
        opened.clock,
        opened.processes,
        partial(_LIVENESS, opened),
        check_name("worker kind", kind),
    )
    return Desk(
        ledger=opened.ledger,
        clock=opened.clock,
        processes=opened.processes,
        rules=opened.rules,
        membership=membership,
        actor=opened.actor,
        overseer=lambda: opened.overseer,
        tariff=_tariff,
        stop_processes=partial(_see_to_processes, opened),
        directory=partial(_directory, opened),
    )


def _tariff(model: str) -> Tariff | None:
    from sexton.spending.price_table import listed_tariff  # noqa: PLC0415  # only budgets of money ask

    return listed_tariff(model)


def _directory(opened: Sexton, id: str) -> Path:
    from sexton.wiring.home_files import own_files  # noqa: PLC0415  # few have files

    return own_files(opened.ledger).directory(id)


def _see_to_processes(opened: Sexton, session: Session) -> None:
    """A session that a budget ends leaves running what the policies say for its end."""
    from sexton.processes.after_session import handle_processes  # noqa: PLC0415  # few are killed
    from sexton.processes.handling import Occasion  # noqa: PLC0415

    handle_processes(opened.estate(), session, Occasion.END)
