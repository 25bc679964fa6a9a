"""Live through days of misfortune: `python -m tests.crash.days`.

N is the number of simulated days, from SEED on, in lives of at most ten. On the same host nobody
is reaped alive. Whoever is given up alive by another host lives through it on a real ledger too:
its write is refused, and it revives its session with all that was acknowledged.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback
from collections import Counter
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.pool import Pool

import pytest

from sexton.core.plan import ReapSession, Reason
from sexton.errors import SessionEnded, SessionFenced
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.agent_worker import AgentWorker
from tests.contract.ledger_contract_samples import entry, seen
from tests.crash.running import ENGINES, order, places
from tests.kit.simulation import SOMETIMES, simulate
from tests.scenario.fleet import Site

LIFE = 10
SILENT = Reason("reaped:lease_expired", "on another host; no beat seen for 105 s")
REVIVED = "fenced, told and revived with everything"
GOING_ON = "its conversation went on without it, and it was told"


@dataclass
class Lost:
    """Somebody who was given up alive, and what it had had acknowledged."""

    worker: AgentWorker
    session: OpenSession
    twin: OpenSession
    before: list[str]


class RealWitness:
    """Lets whoever is given up alive suffer the same on a real ledger."""

    def __init__(self, url: str) -> None:
        self._here, self._there = Site(url, "here"), Site(url, "there")
        self._rival = self._here.house.worker()
        self._lost: dict[str, Lost] = {}
        self.events: Counter[str] = Counter()

    def lost(self, id: str) -> None:
        """Reap it as a keeper of another host does."""
        worker = self._there.house.worker()
        session, twin = (worker.session(id, source="cli") for _ in range(2))
        before = [f"{id} {number}" for number in range(3)]
        for text in before:
            session.append(role="user", content=text)
        found = self._here.find(session.id)
        [holder] = found.holders
        action = ReapSession(
            seen=seen(found), reason=SILENT, dead=((holder.worker.id, holder.worker.beat),)
        )
        noted = entry(found, action="reap", reason=SILENT)
        assert self._here.ledger.reaping.reap([(action, noted)], self._here.clock.now()) == [True]
        self._lost[id] = Lost(worker, session, twin, before)
        # Sometimes somebody else opens its key before it is back.
        if len(self._lost) % 5 == 0:
            self._rival.session(id, source="cli").append(role="user", content="new")

    def told(self, id: str) -> None:
        """It writes, is refused, and goes on by reviving unless others went on already."""
        known = self._lost.pop(id)
        self._there.clock.advance(timedelta(minutes=5))
        with pytest.raises(SessionEnded):
            known.session.append(role="user", content="not known to be over")
        if self._here.ledger.book.current(id) is not None:
            with pytest.raises(SessionEnded):
                known.session.revive()
            self.events[GOING_ON] += 1
        else:
            self._revive(known)
        told = [each.content for each in known.session.messages()]
        assert told[: len(known.before)] == known.before
        known.worker.leave()

    def _revive(self, known: Lost) -> None:
        session = known.session
        session.revive()
        assert session.epoch == known.twin.epoch + 1
        assert session.append(role="user", content="back again") == len(known.before) + 1
        with pytest.raises(SessionFenced):
            known.twin.append(role="user", content="under the old epoch")
        found = self._here.find(session.id)
        assert (found.is_open, found.message_count) == (True, len(known.before) + 1)
        assert [each.worker.id for each in found.holders] == [known.worker.id]
        self.events[REVIVED] += 1

    def close(self) -> None:
        for site in (self._here, self._there):
            site.close()


def live(seed: int, days: float, url: str) -> tuple[Counter[str], tuple[str, ...]]:
    """One life; what came up in it, and what was wrong."""
    witness = RealWitness(url)
    try:
        outcome = simulate(seed, days, witness)
    finally:
        witness.close()
    return outcome.counts + witness.events, outcome.wrongs


def _live(order: tuple[int, float, str]) -> tuple[int, Counter[str], list[str]]:
    """The same for another process, which tells what it met."""
    seed, days, url = order
    try:
        counts, wrongs = live(seed, days, url)
    except AssertionError:
        return seed, Counter(), [traceback.format_exc()]
    return seed, counts, list(wrongs)


def main() -> int:
    """Run what the environment asks for; what a shell takes for success or failure."""
    wanted = order(full=1000, ci=12)
    # At least one for each engine.
    life = min(LIFE, max(1, wanted.number // 2))
    lives = [min(life, wanted.number - begun) for begun in range(0, wanted.number, life)]
    counts: Counter[str] = Counter()
    wrongs: list[str] = []
    with places(in_memory=True) as found, _cores() as cores:
        orders = [
            (wanted.seed * 1000 + number, days, found[ENGINES[number % 2]].another())
            for number, days in enumerate(lives)
        ]
        for done, (seed, events, problems) in enumerate(cores.imap_unordered(_live, orders), 1):
            counts += events
            again = f"N={life} SEED={seed} python -m tests.kit.simulation"
            wrongs += [f"{each}\nagain, without a ledger, with: {again}" for each in problems]
            print(f"  {done} of {len(lives)} lives", file=sys.stderr, flush=True)
    for event, times in sorted(counts.items()):
        print(f"  {times:8} {event}")
    never = [each for each in (*SOMETIMES, REVIVED, GOING_ON) if not counts[each]]
    for words in (*(f"FAILED {each}" for each in wrongs), *(f"never came up: {e}" for e in never)):
        print(words)
    print(f"SEED={wanted.seed}\n{wanted.number} days, {len(wrongs)} wrong", flush=True)
    return 1 if wrongs or never else 0


def _cores() -> Pool:
    """A process for each processor; spawned, since the campaign has threads."""
    return multiprocessing.get_context("spawn").Pool(os.cpu_count())


if __name__ == "__main__":
    sys.exit(main())
