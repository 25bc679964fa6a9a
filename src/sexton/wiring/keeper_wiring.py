"""What does a keeper work with, by this process's own settings?"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import sexton.wiring.loaded  # noqa: F401  # the threads of a keeper load nothing themselves
from sexton.core.message import Message
from sexton.core.session import Session
from sexton.errors import HomeNotFound
from sexton.keeper.keeper import Keeper
from sexton.keeper.keeper_context import Estate
from sexton.liveness.death_watch import PidfdWatch
from sexton.retention.model import AWAY
from sexton.wiring.removal_wiring import read_removed

if TYPE_CHECKING:
    from sexton.finalizers.runner import Runner
    from sexton.notifications.sender import Messenger
    from sexton.sessions.agent_worker import AgentWorker
    from sexton.wiring import Sexton


log = logging.getLogger("sexton.finalizers")


def keeper(opened: Sexton, worker: AgentWorker, *, watchful: bool) -> Keeper:
    """A keeper that is not running yet."""
    every = opened.settings.keeper.sweep_every.total_seconds()
    deaths = PidfdWatch() if watchful and hasattr(os, "pidfd_open") else None
    return Keeper(
        lambda: _unattended(opened.estate()),
        lambda: worker.id,
        every,
        deaths,
        _runner(opened, worker),
        _messenger(opened, worker),
    )


def _unattended(estate: Estate) -> Estate:
    """What nobody confirms is bounded by day."""
    assert estate.removing is not None
    return replace(estate, removing=replace(estate.removing, unattended=True))


def _messenger(opened: Sexton, worker: AgentWorker) -> Messenger | None:
    """Who tells people what happened, if the settings say where."""
    if not (opened.settings.notify.has_target or opened.settings.homes):
        return None
    from sexton.wiring.channel_wiring import messenger  # noqa: PLC0415  # most keepers tell nobody

    return messenger(opened, lambda: worker.id)


def _runner(opened: Sexton, worker: AgentWorker) -> Runner | None:
    """Who does end-of-session work here, if the settings name any."""
    if not opened.settings.finalizers:
        return None
    from sexton.finalizers.runner import Runner  # noqa: PLC0415
    from sexton.wiring.duties import duties, unready  # noqa: PLC0415  # not every keeper does

    def transcript(session: Session, since: int, through: int) -> Iterator[Message]:
        if session.state in AWAY:  # work that was given up, and is done again
            return read_removed(opened, session, since, through)
        home = opened.estate().homes.get(session.home)
        if home is None:
            raise HomeNotFound(f"the home '{session.home}' is not attached here")
        return home.transcript(session, since, through)

    for name, why in unready(opened.settings, opened.clock, os.environ):
        log.warning("the finalizer %s can not work here: %s", name, why)
    ready = duties(opened.settings, opened.clock, os.environ)
    most = opened.settings.keeper.finalizers_at_once
    return Runner(opened.ledger, opened.clock, ready, lambda: worker.id, transcript, most)
