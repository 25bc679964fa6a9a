"""Kill keepers in the middle of end-of-session work: `python -m tests.crash.finalizing`.

N is the number of kills on each engine, among ten times as many sessions. Every session is
remembered once, and only a kill during a call makes the model answer again. Then a restart finds
ten thousand finished works, and leaves them alone.
"""

from __future__ import annotations

import logging
import random
import re
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.crash.checking import ask, tell
from tests.crash.running import Place, Tally, order, places, verdict
from tests.kit.hurting import stopped
from tests.kit.nursery import Child, Nursery
from tests.scenario.effects_server import Server
from tests.scenario.finalizers_keepers import KEEP, MODULE
from tests.scenario.finalizers_scene import (
    FILE,
    Thinking,
    configure,
    memory,
    open_house,
    remembered,
    states,
    talk,
    wait_until,
)

KEEPERS = 3
SESSIONS_PER_KILL = 10
KILLS_PER_LEDGER = 100
THINKING = 0.03
FINISHED = 10_000
KEY = "MODEL_KEY"
"""Each keeper has a key of its own, so that the model knows who asks."""

TROUBLE = ("log WARNING", "log ERROR")

KILLS = "kills"
DURING = "killed during a call"
BETWEEN = "killed between the answer and the end of the work"
SESSIONS = "sessions remembered once"
CALLS = "calls"


@dataclass(kw_only=True)
class Blow:
    """A keeper that was killed, and the sessions for which it had no answer yet."""

    keeper: str
    unanswered: frozenset[str]


@dataclass
class Crew:
    """Keepers at work on one ledger; whoever is killed is replaced."""

    nursery: Nursery
    url: str
    config: Path
    children: dict[str, Child] = field(default_factory=dict)
    hired: int = 0

    def hire(self) -> None:
        """One more keeper."""
        self.hired += 1
        name = f"keeper{self.hired}"
        environ = {KEY: name}
        self.children[name] = self.nursery.start(KEEP, self.url, str(self.config), environ=environ)

    def kill(self, name: str, tally: Tally) -> Blow:
        """Stop one at this very moment, look what it has in hand, and kill it."""
        child = self.children.pop(name)
        with stopped(child):
            worker = next((line.split()[1] for line in child.lines() if "worker" in line), "")
            rows = ask(
                self.url,
                "SELECT s.key, f.memo IS NULL FROM finalizations AS f "
                "JOIN sessions AS s ON s.ref = f.session "
                f"WHERE f.state = 'running' AND f.worker = '{worker}'",
            )
            child.kill()
        assert not [line for line in child.lines() if line.startswith(TROUBLE)], child.lines()
        tally.events[KILLS] += 1
        tally.events[BETWEEN] += any(not unanswered for _, unanswered in rows)
        return Blow(keeper=name, unanswered=frozenset(key for key, is_open in rows if is_open))

    def dismiss(self) -> None:
        """End them all."""
        for child in self.children.values():
            child.kill()


class Finalizing:
    """Rounds on one engine, each on a ledger and a memory file of its own."""

    def __init__(self, nursery: Nursery, place: Place, tally: Tally) -> None:
        self._nursery = nursery
        self._place = place
        self._tally = tally

    def round(self, chance: random.Random, _: int) -> None:
        """End sessions, kill keepers meanwhile, let the last ones finish, and count."""
        kills = min(KILLS_PER_LEDGER, self._tally.left)
        url = self._place.fresh()
        with (
            tempfile.TemporaryDirectory(prefix="sexton-memories-") as directory,
            Server([Thinking(THINKING)]) as model,
        ):
            config = configure(
                Path(directory), memory(model.url, concurrency=1, api_key_env=KEY, daily_calls=None)
            )
            with open_house(url, config) as house:
                crew = Crew(self._nursery, url, config)
                try:
                    for _ in range(KEEPERS):
                        crew.hire()
                    blows, keys = [], []
                    for number in range(kills):
                        wave = [f"talk-{number}-{each}" for each in range(SESSIONS_PER_KILL)]
                        asked = len(model.requests)
                        talk(house, *wave)
                        keys += wave
                        model.wait_for(asked + chance.randrange(1, SESSIONS_PER_KILL))
                        blows.append(self._strike(crew, chance))
                    wait_until(lambda: states(house) == {"done": len(keys)}, 240 + len(keys))
                finally:
                    crew.dismiss()
            self._check(Path(directory), keys, blows, model)

    def _strike(self, crew: Crew, chance: random.Random) -> Blow:
        """Kill one at any moment, and let another take its place."""
        threading.Event().wait(chance.uniform(0, 2 * THINKING))
        blow = crew.kill(chance.choice(sorted(crew.children)), self._tally)
        crew.hire()
        return blow

    def _check(self, place: Path, keys: list[str], blows: list[Blow], model: Server) -> None:
        """Nothing was lost, nothing is there twice, and no answer was asked for in vain."""
        found = remembered(place)
        assert len(found) == len(set(found)) == len(keys)
        assert (place / FILE).read_text(encoding="utf-8").count("likes the sea") == len(keys)
        calls = _callers(model)
        asked = Counter(key for _, key in calls.elements())
        hit = Counter(
            key for blow in blows for key in blow.unanswered if (blow.keeper, key) in calls
        )
        assert asked.keys() == set(keys)
        for key, times in asked.items():
            assert times <= 1 + hit[key], f"{key}: asked {times} times, {hit[key]} kills"
        assert asked.total() <= len(keys) + hit.total() <= len(keys) + len(blows)
        self._tally.events[DURING] += hit.total()
        self._tally.events[CALLS] += asked.total()
        self._tally.events[SESSIONS] += len(keys)


def _callers(model: Server) -> Counter[tuple[str, str]]:
    """Who asked about which session, and how often; half a question is none."""
    found: Counter[tuple[str, str]] = Counter()
    for request in model.requests:
        if len(request.body) < int(request.headers["content-length"]):
            continue
        [key] = set(re.findall(r"talk-\d+-\d+", request.body.decode()))
        found[request.headers["authorization"].removeprefix("Bearer "), key] += 1
    return found


NUMBERS = f"""WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {FINISHED})
"""
OLD_SESSIONS = f"""{NUMBERS}
INSERT INTO sessions (home, id, key, source, state, started_at, active_at, ended_at, end_reason,
                      last_seq, message_count)
SELECT 1, 'old ' || i, 'old ' || i, 'telegram', 'finalized', i, i, i, 'idle', 4, 4 FROM n"""
OLD_WORK = """
INSERT INTO finalizations (home, session, finalizer, since, through, state, attempts, claim,
                           owed_at, not_before, finished_at)
SELECT 1, ref, 'memories', 0, 4, 'done', 1, 1, ended_at, ended_at, ended_at FROM sessions"""


class Listening(logging.Handler):
    """Keeps every line of the log."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def restart(url: str) -> None:
    """A keeper that starts among finished works does nothing, and the next end is not missed."""
    listener, log = Listening(), logging.getLogger("sexton")
    with (
        tempfile.TemporaryDirectory(prefix="sexton-memories-") as directory,
        Server([Thinking()]) as model,
    ):
        config = configure(Path(directory), memory(model.url), reset={"max_messages": 4})
        with open_house(url, config):
            tell(url, OLD_SESSIONS)
            tell(url, OLD_WORK)
        level = log.level
        log.addHandler(listener)
        log.setLevel(logging.INFO)
        try:
            with open_house(url, config) as house, house.worker() as worker:
                assert house.sweep().finalizing == 0
                assert (model.requests, listener.lines) == ([], [])
                session = worker.session("new", source="telegram")
                session.append_many([{"role": "user", "content": "x"}] * 4)
                assert house.sweep().finalizing == 1
                assert len(model.requests) == len(remembered(Path(directory))) == 1
                assert states(house) == {"done": FINISHED + 1}
        finally:
            log.removeHandler(listener)
            log.setLevel(level)


def main() -> int:
    """Run what the environment asks for; what a shell takes for success or failure."""
    wanted = order(full=100, ci=8)
    tallies = []
    with places() as found, Nursery(MODULE) as nursery:
        for engine in wanted.engines:
            tally = Tally(
                module="tests.crash.finalizing",
                engine=engine,
                seed=wanted.seed,
                number=wanted.number,
                counted=KILLS,
                rare=[DURING],
            )
            finalizing = Finalizing(nursery, found[engine], tally)
            tally.run(wanted.only, finalizing.round)
            restart(found[engine].fresh())
            tally.events["finished works left alone"] += FINISHED
            tally.tell()
            tallies.append(tally)
    return verdict(tallies, wanted)


if __name__ == "__main__":
    sys.exit(main())
