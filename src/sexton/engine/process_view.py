"""Which processes are there, and what does each hold back? The same for every surface."""

from __future__ import annotations

from collections.abc import Sequence

from sexton.engine.estate import Estate, rules_now
from sexton.model.process import Doing, Figures, Process, Watched
from sexton.model.record import replace
from sexton.model.session import NATIVE, Session, State
from sexton.policies.processes import Judgement, watched
from sexton.policies.reset import ResetPolicy
from sexton.ports import Filter


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
    """What foreign homes say of processes beside those that are known: told, never acted on."""
    here = estate.processes.myself()
    registered = {(each.identity.pid, each.identity.started) for each in known}
    found = [
        _attributed(estate, each)
        for home in estate.homes.values()
        for each in home.background(here)
        if (each.identity.pid, each.identity.started) not in registered
    ]
    return [replace(each, holds=False) for each in view(estate, found)]


def _attributed(estate: Estate, process: Process) -> Process:
    """The process with its session: a home names that by its id or by its key, or not at all."""
    index, name = estate.ledger.index, process.session
    by_key = Filter(home=process.home, key=name, state=State.OPEN)
    found = index.find(process.home, name) or index.page(by_key, None, 1)
    if not found:
        return process
    return replace(process, session=found[0].id, session_state=found[0].state)


def _ended(estate: Estate, process: Process) -> Watched:
    over = Judgement(doing=Doing.DEAD, figures=Figures(), because=process.ended_how or "")
    rules = (None, estate.overseer.policy)
    return watched(process, over, None, rules, estate.clock.now())
