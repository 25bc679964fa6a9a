"""Which processes are there, and what does each hold back? The same for every surface."""

from __future__ import annotations

from collections.abc import Sequence

from sexton.core.session import NATIVE, Session
from sexton.keeper.keeper_context import Estate, rules_now
from sexton.processes.model import Doing, Figures, Process, Watched
from sexton.processes.policy import Judgement, watched
from sexton.resets.policy import ResetPolicy


def view(estate: Estate, processes: Sequence[Process]) -> list[Watched]:
    """Processes of any sessions, in their order; of one that ended, how."""
    rules = rules_now(estate)
    known: dict[tuple[str, str], tuple[Session | None, ResetPolicy | None]] = {}

    def of(process: Process) -> tuple[Session | None, ResetPolicy | None]:
        name = (process.home, process.session)
        if name not in known:
            found = estate.ledger.index.find(*name)
            known[name] = (found[0], rules.reset_policy(found[0])) if found else (None, None)
        return known[name]

    running = [each for each in processes if each.ended_at is None]
    seen = {each.process.ref: each for each in estate.overseer.view(running, of)}
    return [seen.get(each.ref) or _ended(estate, each) for each in processes]


def of_session(estate: Estate, session: Session) -> list[Watched]:
    """The running processes of one session, and what its home says of others."""
    registry = estate.ledger.registry
    mine = view(estate, registry.of_session(session.ref))
    if session.home == NATIVE:
        return mine
    name = (session.home, session.id)
    told = hints(estate, registry.running())
    return [*mine, *(each for each in told if (each.process.home, each.process.session) == name)]


def hints(estate: Estate, known: Sequence[Process]) -> list[Watched]:
    """What foreign homes say of processes beside those that are known, judged like those."""
    return view(estate, estate.named(known))


def _ended(estate: Estate, process: Process) -> Watched:
    over = Judgement(doing=Doing.DEAD, figures=Figures(), because=process.ended_how or "")
    rules = (None, estate.overseer.policy)
    return watched(process, over, None, rules, estate.clock.now())
