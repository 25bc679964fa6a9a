"""Programs that hold sessions and write to them, and keepers, until they are killed."""

from __future__ import annotations

import logging
import os
import threading
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

from sexton.core.clock import SystemClock
from sexton.core.machine_ports import Clock
from sexton.errors import LedgerUnreachable
from sexton.keeper.keeper import Keeper
from sexton.keeper.swept import Sweep
from sexton.liveness.evidence import Sight
from sexton.liveness.model import Identity
from sexton.liveness.policy import LivenessPolicy
from sexton.liveness.process_identity import SystemProcesses
from sexton.resets.policy import Mode, ResetPolicy
from sexton.rules.rulebook import Rulebook
from sexton.sessions.agent_session import OpenSession
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.store.statements import statements
from sexton.wiring import Sexton
from tests.crash.appending import Token
from tests.kit.jumping import FILE, ShiftedClock
from tests.kit.nursery import Report

for dialect in ("sqlite", "postgres"):
    statements(dialect)

# What a starved process still has to say would only hide what matters.
logging.getLogger("psycopg").setLevel(logging.CRITICAL)

HOLD = "tests.crash.holding:hold"
KEEP = "tests.crash.holding:keep"
HASTY = LivenessPolicy(
    beat_every=timedelta(seconds=0.2),
    ttl=timedelta(seconds=0.5),
    lock_delay=timedelta(seconds=0.1),
)
"""Rules under which a short pause is longer than any silence that is waited for."""
SWEEP_EVERY = 0.3
PATIENCE = 600.0
HOST = "SEXTON_CRASH_HOST"


class FarProcesses:
    """Processes that say they run on another host, where nobody can see any of ours."""

    def __init__(self, host: str) -> None:
        self._host = host

    def myself(self) -> Identity:
        return replace(SystemProcesses().myself(), host=self._host)

    def look(self, identity: Identity) -> Sight:
        here = identity.host == self._host
        return Sight.PRESENT if here else Sight.ELSEWHERE


def publish(url: str, liveness: LivenessPolicy) -> None:
    """Make a ledger in which only death ends a session, under these rules."""
    endless = ResetPolicy(mode=Mode.NONE, max_messages=None, max_bytes=None)
    rules = Rulebook(reset=endless, liveness=liveness)
    with Sexton(open_ledger(url, patience=PATIENCE), Settings(rulebook=rules)) as opened:
        opened.publish()


def hold(report: Report, url: str, tag: str, shared: str, pause: str) -> None:
    """Hold sessions of every kind and write to them in turns, with a pause in and after each."""
    with _open(url) as house, house.worker() as worker:
        own = worker.session(f"own {tag}", source="cli")
        sessions = {
            "own": own,
            "child": worker.session(source="subagent", parent=own),
            "shared": worker.session(shared, source="cron"),
            "talk": worker.session(f"talk {tag}", source="telegram"),
        }
        report.tell("holds", worker.id, *(f"{kind}={s.id}" for kind, s in sessions.items()))
        try:
            for turn in count():
                session = list(sessions.values())[turn % len(sessions)]
                try:
                    _work(report, session, Token(tag, turn, 1), pause)
                except LedgerUnreachable:
                    report.tell("refused")  # as a patient agent does, it tries again later
                threading.Event().wait(float(pause))
        finally:  # not reached by a kill
            report.tell("gave-up", tag)


def keep(report: Report, url: str) -> None:
    """Sweep again and again, and tell what was done."""
    logging.getLogger("sexton").setLevel(logging.CRITICAL)
    with _open(url) as house, house.worker(kind="keeper") as own:

        def tell(sweep: Sweep) -> None:
            for outcome in sweep.outcomes:
                report.tell("did", outcome.action.kind, outcome.action.seen.id, outcome.detail)
            for held in sweep.held:
                report.tell("held", held.seen.id, held.holding.text)
            report.tell("swept")

        Keeper(house.estate, lambda: own.id, SWEEP_EVERY).run(tell)


def hold_many(report: Report, url: str, number: str) -> None:
    """Hold so many sessions, and do nothing."""
    with _open(url) as house, house.worker() as worker:
        for each in range(int(number)):
            worker.session(f"job {each}", source="cli")
        report.tell("holds", worker.id)
        threading.Event().wait(PATIENCE)


def sweep_slowly(report: Report, url: str) -> None:
    """Begin a sweep, tell the first action, and stay in the middle of it."""
    with _open(url) as house:
        for outcome in house.applying(house.plan()):
            report.tell("did", outcome.action.seen.id)
            threading.Event().wait(PATIENCE)


def _work(report: Report, session: OpenSession, token: Token, pause: str) -> None:
    with session.turn():
        report.tell("busy", session.id)
        threading.Event().wait(float(pause))
        last = session.append_many({"role": "user", "content": text} for text in token.texts())
        report.tell("done", session.id, last, token.who, token.turn, token.size)
    report.tell("idle", session.id)


def _open(url: str) -> Sexton:
    """A Sexton that lives by the clock and on the host of its environment."""
    file, host = os.environ.get(FILE), os.environ.get(HOST)
    clock: Clock = SystemClock()
    if file and "libfaketime" not in os.environ.get("LD_PRELOAD", ""):
        clock = ShiftedClock(clock, Path(file))
    table = SystemProcesses() if host is None else FarProcesses(host)
    return Sexton(open_ledger(url), Settings(), clock=clock, processes=table)
