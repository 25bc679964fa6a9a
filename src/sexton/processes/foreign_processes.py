"""The background processes that foreign homes name, each with the session that started it.

A home's file is no proof of whose a process is. It is judged as a registered one is; it is stopped
only at somebody's word, and only if it started when the home says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from operator import attrgetter

from sexton.core.endings import EndKind, end_kind
from sexton.core.machine_ports import Clock
from sexton.core.record import replace
from sexton.core.session import Session, State
from sexton.homes.home_ports import Home
from sexton.liveness.model import Identity
from sexton.processes.model import Process
from sexton.processes.overseer import Overseer
from sexton.sessions.index import LedgerIndex
from sexton.sessions.model import Filter

AMONG = 50
"""Among so many of a key's newest sessions the one is looked for that started a process."""
LEEWAY = timedelta(seconds=5)
"""By which the times that a home and the kernel have of one start may differ."""
GOES_ON = (EndKind.COMPRESSION, EndKind.BRANCH)


def hinted(
    index: LedgerIndex, homes: Mapping[str, Home], here: Identity, known: Sequence[Process]
) -> list[Process]:
    """What the homes name beside the processes that are known, each once."""
    seen = {(each.identity.pid, each.identity.started) for each in known}
    found = []
    for home in homes.values():
        for each in home.background(here):
            who = (each.identity.pid, each.identity.started)
            if who not in seen:
                seen.add(who)
                found.append(_attributed(index, each))
    return found


def proved(overseer: Overseer, clock: Clock, process: Process) -> Process:
    """A named process with the kernel's own number for it, if it started when its home says.

    A number and a start tick alone may come again after the machine was started anew.
    """
    found = overseer.describe(process.identity.pid)
    if found is None or found.identity.started != process.identity.started:
        return process
    began = clock.now() - timedelta(seconds=found.age)
    if abs(began - process.started_at) > LEEWAY:
        return process
    return replace(process, identity=found.identity)


def _attributed(index: LedgerIndex, process: Process) -> Process:
    """The process with its session: a home names that by its id or by its key, or not at all."""
    named = index.find(process.home, process.session) or _of_key(index, process)
    if not named:
        return process
    of = named[0]
    return replace(
        process, session=of.id, session_ref=of.ref, session_state=of.state, end_reason=of.end_reason
    )


def _of_key(index: LedgerIndex, process: Process) -> list[Session]:
    """The session of a key that ran when the process was started, or in which that goes on."""
    found = index.page(Filter(home=process.home, key=process.session), None, AMONG)
    found.sort(key=attrgetter("started_at"), reverse=True)
    before = [each for each in found if each.started_at <= process.started_at + LEEWAY]
    ran = (before or found[-1:])[:1]
    if ran and not ran[0].is_open and end_kind(ran[0].end_reason, ran[0].home) in GOES_ON:
        return [each for each in found if each.state is State.OPEN][:1] or ran
    return ran
