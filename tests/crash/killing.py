"""Kill workers in every way and sweep once: `python -m tests.crash.killing`.

N is the number of kills on each engine. After one sweep nothing is leaked, nothing has ended
twice, and whoever was not hurt has noticed nothing.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Sequence
from contextlib import closing, suppress

import psycopg

from sexton.core.session import Session
from sexton.liveness.evidence import Sight
from sexton.liveness.policy import LivenessPolicy
from sexton.liveness.process_identity import SystemProcesses
from sexton.settings.settings_values import Settings
from sexton.store.ledger import Ledger
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.crash.checking import Promises, check
from tests.crash.holding import HOLD, publish
from tests.crash.running import Place, Tally, order, places, verdict
from tests.crash.victims import Victim, assert_go_on, holders_of
from tests.kit.aftermath import (
    assert_ended_once,
    assert_lives_on,
    assert_nobody_dead_holds_anything,
)
from tests.kit.hurting import FATAL, HANG_UP, REUSE, STARVE, may_choose_pids, reuse_pid
from tests.kit.nursery import Child, Nursery, PidTaken

WORKERS = 22
REST = "0.01"
LONGEST_LIFE = 0.01
KILLS = "kills"
BUSY = "killed in a turn"
SHARED = "killed beside another holder who lives"
ALONE = "all holders of a session killed"
ZOMBIE = "swept before it was collected"
TWO = "swept by two keepers at once"
STRANGER = "swept while a stranger had its pid"
CLOSED = "left by itself for want of memory"
RARE = (BUSY, SHARED, ALONE, ZOMBIE, TWO)


class Killing:
    """Rounds on one engine."""

    def __init__(self, nursery: Nursery, place: Place, tally: Tally, blows: Sequence[str]) -> None:
        self._nursery = nursery
        self._place = place
        self._tally = tally
        self._blows = blows
        self._strangers: list[Child] = []

    def round(self, chance: random.Random, number: int) -> None:
        """Start workers, hurt all but a few, sweep once and look."""
        url = self._place.fresh()
        publish(url, LivenessPolicy())
        victims = self._start(url, chance)
        try:
            for each in victims:
                each.introduce()
            self._strike(victims, chance)
            self._settle(url, victims, chance)
            with closing(open_ledger(url)) as ledger:
                self._note(ledger, victims)
                self._sweep(url, keepers=1 + number % 2)
                self._check(ledger, victims)
            self._check_messages(url, victims)
        finally:
            for child in (*(each.child for each in victims), *self._strangers):
                child.kill()
            self._strangers.clear()

    def _start(self, url: str, chance: random.Random) -> list[Victim]:
        started = []
        for number in range(min(WORKERS, self._tally.left + 2)):
            blow = None if number < 2 else chance.choice(self._blows)
            shared = f"shared {chance.randrange(WORKERS // 2)}"
            tag = f"worker{number}"
            child = self._nursery.start(
                HOLD, url, tag, shared, REST, environ={"PGAPPNAME": tag}, terminal=blow == HANG_UP
            )
            started.append(Victim(child=child, blow=blow))
        return started

    def _strike(self, victims: list[Victim], chance: random.Random) -> None:
        """Every blow at a moment of its own."""
        for each in victims:
            if each.blow is not None:
                threading.Event().wait(chance.uniform(0, LONGEST_LIFE))
                FATAL[each.blow](each.child)
                self._tally.events[KILLS] += 1
                self._tally.events[f"by {each.blow}"] += 1

    def _settle(self, url: str, victims: list[Victim], chance: random.Random) -> None:
        """All are dead, some not collected; no server works for the dead any more."""
        dead = [each for each in victims if each.blow is not None]
        for each in dead:
            each.child.fall()
            assert each.blow == STARVE or each.was_well, "it ended before it was hurt"
            if each.blow == REUSE or chance.random() < 0.7:
                each.child.wait()
            else:
                self._tally.events[ZOMBIE] += 1
            if each.blow == REUSE:
                with suppress(PidTaken):  # by somebody on this machine, who is a stranger too
                    self._strangers.append(reuse_pid(self._nursery, each.child.pid))
                    self._tally.events[STRANGER] += 1
        if not url.startswith("sqlite"):
            _wait_for_servants(url, [f"worker{victims.index(each)}" for each in dead])

    def _note(self, ledger: Ledger, victims: list[Victim]) -> None:
        table = SystemProcesses()
        known = {each.id: each for each in ledger.reaping.suspects()}
        for each in victims:
            if each.child.pid in {stranger.pid for stranger in self._strangers}:
                assert table.look(known[each.worker].identity) is Sight.REUSED
            for session in ledger.reaping.sessions_of(each.worker) if each.blow else ():
                holders = {holder.worker.id: holder for holder in session.holders}
                self._tally.events[BUSY] += holders[each.worker].busy_since is not None

    def _sweep(self, url: str, keepers: int) -> None:
        self._tally.events[TWO] += keepers == 2
        troubles: list[BaseException] = []

        def once() -> None:
            try:
                with Sexton(open_ledger(url), Settings()) as house:
                    house.sweep()
            except BaseException as trouble:
                troubles.append(trouble)
                raise

        threads = [threading.Thread(target=once) for _ in range(keepers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(240)
        assert not troubles
        assert not any(thread.is_alive() for thread in threads)

    def _check(self, ledger: Ledger, victims: list[Victim]) -> None:
        living = {each.worker for each in victims if each.blow is None}
        dead = {each.worker for each in victims} - living
        assert_nobody_dead_holds_anything(ledger, dead)
        for (kind, id), workers in holders_of(victims).items():
            [session] = ledger.index.find(None, id)
            if kind == "talk" or workers & living:
                assert_lives_on(ledger, session, workers & living)
                self._tally.events[SHARED] += kind == "shared" and bool(workers & dead)
            else:
                assert_ended_once(ledger, session)
                self._check_end(session, victims)
                self._tally.events[ALONE] += kind == "shared" and len(workers) > 1
        assert_go_on([each for each in victims if each.blow is None])
        assert all(stranger.is_alive for stranger in self._strangers)

    def _check_end(self, session: Session, victims: list[Victim]) -> None:
        if session.end_reason == "closed":
            self._tally.events[CLOSED] += 1
            starved = [each for each in victims if each.blow == STARVE]
            assert any(session.id in each.sessions.values() for each in starved)
        else:
            assert session.end_reason == "reaped:process_gone"
            assert session.ended_at == session.active_at

    def _check_messages(self, url: str, victims: list[Victim]) -> None:
        promises = Promises()
        for each in victims:
            each.child.kill()
            promises.hear(each.child.lines())
        check(url, promises)


def _wait_for_servants(url: str, tags: Sequence[str]) -> None:
    """Wait until the server has noticed which clients are gone.

    It may carry out the last call of a dead client; a worker is gone once that is done.
    """
    with psycopg.connect(url, autocommit=True) as server:
        for _ in range(48_000):
            row = server.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = ANY(%s)", [tags]
            ).fetchone()
            if row == (0,):
                return
            threading.Event().wait(0.005)
    raise AssertionError("the server still works for the dead")


def blows() -> tuple[list[str], list[str]]:
    """The ways to kill that this machine allows, and those it does not."""
    possible = [each for each in FATAL if each != REUSE or may_choose_pids()]
    return possible, [each for each in FATAL if each not in possible]


def main() -> int:
    """Run what the environment asks for; what a shell takes for success or failure."""
    wanted = order(full=2000, ci=100)
    possible, forbidden = blows()
    rare = [*RARE, *(f"by {blow}" for blow in possible)]
    rare += [STRANGER] if REUSE in possible else []
    tallies = []
    with places(in_memory=True) as found, Nursery("tests.crash.holding") as nursery:
        for engine in wanted.engines:
            tally = Tally(
                module="tests.crash.killing",
                engine=engine,
                seed=wanted.seed,
                number=wanted.number,
                counted=KILLS,
                rare=rare,
            )
            killing = Killing(nursery, found[engine], tally, possible)
            tally.run(wanted.only, killing.round)
            tally.tell()
            tallies.append(tally)
    return verdict(tallies, wanted, forbidden)


if __name__ == "__main__":
    sys.exit(main())
