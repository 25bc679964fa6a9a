"""Sexton as a contender, through what an agent and a keeper use."""

from __future__ import annotations

import itertools
import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from bench import garbage
from bench.data import DUE, IDLE_MINUTES, NUMBERS, PAGE, SAID, TURN, places, population, texts
from bench.guarding import more_for_a_guard, tool_call
from bench.serving import bytes_below, seconds, seconds_each, seconds_together, serve
from sexton.cli.examination import examine
from sexton.core.clock import SystemClock
from sexton.core.plan import Result
from sexton.core.schedule import Schedule
from sexton.core.session import Relation
from sexton.finalizers.effects.memory_file import MemoryFile
from sexton.finalizers.job import Job
from sexton.finalizers.policy import Owing
from sexton.finalizers.runner import Duty, Runner
from sexton.keeper.apply import apply
from sexton.keeper.observe import observe_home
from sexton.keeper.propose import survey
from sexton.liveness.model import Worker
from sexton.liveness.reaper import bury
from sexton.resets.policy import Mode, ResetPolicy
from sexton.retention.garbage_collection import collect
from sexton.rules.rulebook import Rulebook
from sexton.sessions.agent_session import OpenSession
from sexton.sessions.agent_worker import AgentWorker
from sexton.sessions.model import Birth, Filter, Place
from sexton.settings.settings_values import HomeSetting, Settings
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from sexton.wiring.removal_wiring import garbage as garbage_of

HOME = Path(os.environ["HOME"])
LOAD = str(HOME / "load" / "ledger.db")
FAMILY = 25
FLUSH = "flush"
OWING = Settings(rulebook=Rulebook(finalizers=(Owing(name=FLUSH),)))
IDLE = Settings(rulebook=Rulebook(reset=ResetPolicy(mode=Mode.IDLE, idle_minutes=IDLE_MINUTES)))


class Waiting:
    """End-of-session work that takes its time and nothing else, as a model's endpoint does."""

    def __init__(self, milliseconds: int) -> None:
        self._seconds = milliseconds / 1000

    def carry_out(self, job: Job) -> str:
        time.sleep(self._seconds)
        return job.key


class Remembering(Waiting):
    """The same as kind memory does it: the answer is written down first, then added to a file."""

    def __init__(self, milliseconds: int, file: Path) -> None:
        super().__init__(milliseconds)
        self._file = MemoryFile(file, SystemClock())

    def carry_out(self, job: Job) -> str:
        assert not self._file.holds(job.key)
        answer = super().carry_out(job)
        job.memoise(answer.encode())
        assert self._file.append(job.key, answer, f"- {answer}")
        return answer


class SextonLedgers:
    """A ledger under load, and big ones that are only asked."""

    def __init__(self) -> None:
        self._names = map(str, itertools.count())
        self._ledgers: dict[str, Sexton] = {}
        self._workers: dict[str, AgentWorker] = {}
        self._places: dict[tuple[str, int], Place] = {}
        self._writing: OpenSession | None = None

    def append_one(self, count: int, ledger: str = LOAD) -> float:
        """Each message by itself, durable when the call returns."""
        return seconds(partial(_append, self._session(ledger), texts(count)))

    def append_turns(self, turns: int, ledger: str = LOAD) -> float:
        """Each turn in one call, all or none."""
        session = self._session(ledger)
        said = [{"role": "user", "content": text} for text in texts(turns * TURN)]

        def run() -> None:
            for at in range(0, len(said), TURN):
                session.append_many(said[at : at + TURN])

        return seconds(run)

    def append_parallel(self, threads: int, each: int, ledger: str = LOAD) -> float:
        """Threads that write to sessions of their own in one process."""
        said = texts(each)
        sessions = [self._session(ledger) for _ in range(threads)]
        return seconds_together([partial(_append, session, said) for session in sessions])

    def stored(self) -> int:
        """Bytes on disk for what has been appended, once the log is folded in."""
        self.close(LOAD)
        return bytes_below(str(Path(LOAD).parent))

    def close(self, ledger: str) -> None:
        """Let go of a ledger."""
        if worker := self._workers.pop(ledger, None):
            worker.leave()
        self._ledgers.pop(ledger).close()

    def build_ledger(
        self, ledger: str, sessions: int, messages: int, now: int, due: int = DUE
    ) -> None:
        """A ledger as if all those sessions had been held in it by one living worker."""
        with Sexton(open_ledger(ledger), IDLE) as opened:
            opened.publish()
            holder = Worker(
                id="holder",
                identity=opened.processes.myself(),
                kind="agent",
                version="bench",
                beat=0,
                registered_at=opened.clock.now(),
            )
            opened.ledger.workers.register(holder)
            serial = opened.rules().serial
        values = population(sessions, now) | {"places": places(messages), "serial": serial}
        idle = IDLE_MINUTES * 60_000_000
        _populate(ledger, values | {"idle": idle, "holder": holder.id, "due": due})

    def list_page(self, ledger: str, skip: int, times: int) -> tuple[float, list[str]]:
        """The newest sessions by activity, or those that come after as many newer ones."""
        index = self._open(ledger).ledger.index
        page = partial(index.page, Filter(), self._place(ledger, skip), PAGE)
        return seconds_each(page, times), [session.id for session in page()]

    def find(self, ledger: str, id: str, times: int) -> float:
        """One session by its id."""
        return seconds_each(partial(self._open(ledger).find, id), times)

    def find_due(self, ledger: str, times: int) -> tuple[float, int]:
        """The sessions whose due time has come, as a keeper asks for them."""
        opened = self._open(ledger)
        due = partial(opened.ledger.index.due, datetime.now(UTC), None, 500)
        return seconds_each(due, times), len(due())

    def plan(self, ledger: str, times: int) -> tuple[float, int]:
        """A whole plan: find what is due, look at its holders, decide, give reasons."""
        opened = self._open(ledger)
        return seconds_each(opened.plan, times), len(opened.plan().actions)

    def touch(self, ledger: str, times: int) -> float:
        """A message that moves its session's due time, durable."""
        session = self._worker(ledger).session("telegram:1", source="telegram")
        return seconds_each(partial(session.append, role="user", content="one more"), times)

    def beat(self, ledger: str, times: int) -> float:
        """What the process of all those sessions does every few seconds, durable."""
        return seconds_each(partial(self._open(ledger).ledger.reaping.beat, "holder"), times)

    def guard(self, ledger: str, turns: int) -> float:
        """Processor time of asking before spending, beyond a durable write."""
        return more_for_a_guard(ledger, turns)

    def tool_call(self, calls: int) -> float:
        """Processor time of watching over one tool call."""
        return tool_call(calls)

    def reap(self, ledger: str, dead: int) -> tuple[float, int]:
        """Find the sessions of dead processes and end them, as a keeper does."""
        opened, done = self._open(ledger), Counter[str]()
        _kill(opened, next(self._names), dead)

        def run() -> None:
            estate = opened.estate()
            found = survey(estate)
            bury(estate, found.deaths)
            done.update(
                outcome.result for outcome in apply(estate, found.plan, "bench", just_made=True)
            )

        return seconds(run), done[Result.DONE]

    def flush(
        self, ledger: str, flushes: int, milliseconds: int, at_once: int, file: str | None = None
    ) -> tuple[float, int]:
        """Do what so many ended sessions owe, as a keeper does; each takes so long by itself.

        With a file, they are remembered there.
        """
        opened = self._open(ledger)
        opened.settings = OWING
        opened.publish()
        with opened.worker() as worker:
            for number in range(flushes):
                session = worker.session(f"flush {number}", source="cli")
                session.append(role="user", content="to be remembered")
                session.end()
            remembering = file and Remembering(milliseconds, Path(file))
            effect = remembering or Waiting(milliseconds)
            duties = {FLUSH: Duty(effect=effect, concurrency=at_once)}
            runner = Runner(
                opened.ledger, opened.clock, duties, lambda: worker.id, lambda *_: iter(()), at_once
            )
            done: list[int] = []
            return seconds(lambda: done.append(runner.drain())), sum(done)

    def observe(self, ledger: str, home: str) -> tuple[float, int]:
        """One look at a Hermes home; how many sessions it brought into the ledger."""
        opened = self._open(ledger)
        seen: list[int] = []

        def look() -> None:
            estate = opened.estate([HomeSetting(path=Path(home), name="hermes")])
            for name, record in estate.records.items():
                seen.append(observe_home(estate, estate.homes[name], record).seen)

        return seconds(look), sum(seen)

    def examine(self, ledger: str, home: str) -> tuple[float, int]:
        """All that `sexton doctor` finds out about a home; how many sessions that has."""
        opened = self._open(ledger)
        setting = HomeSetting(path=Path(home), name="hermes")
        seen: list[int] = []

        def look() -> None:
            seen.append(examine(opened, setting.name, setting, strict=True).sessions)

        return seconds(look), sum(seen)

    def build_garbage(self, store: str, sessions: int, now: int) -> None:
        """A ledger in which most sessions are trivial."""
        open_ledger(store).close()
        _fill(store, garbage.values(sessions, now), GARBAGE)

    def build_kept(self, ledger: str, sessions: int, now: int) -> None:
        """A ledger of which nothing is garbage; what was said is left out."""
        open_ledger(ledger).close()
        _fill(ledger, garbage.values(sessions, now, trivial=0), GARBAGE[:1])

    def add_garbage(self, ledger: str, sessions: int, now: int) -> None:
        """So many trivial sessions more."""
        values = garbage.values(sessions, now, trivial=100)
        _fill(ledger, values | {"name": next(self._names)}, MORE_GARBAGE)

    def collect(self, ledger: str) -> tuple[float, int]:
        """Find what is garbage and put it into the trash, as `sexton gc` does."""
        done: Counter[str] = Counter()
        opened = self._open(ledger)

        def run() -> None:
            plan = opened.plan(gc=True)
            done.update(outcome.result for outcome in opened.applying(plan))

        return seconds(run), done[Result.DONE]

    def remove(self, ledger: str, home: str) -> tuple[float, int]:
        """Put all that ended a week ago in a Hermes home into the trash, as `sexton gc` does."""
        done: Counter[str] = Counter()
        opened = self._open(ledger)
        estate = opened.estate([HomeSetting(path=Path(home), name="hermes")])
        observe_home(estate, estate.homes["hermes"], estate.records["hermes"])

        def run() -> None:
            plan = collect(estate, "hermes", garbage_of(opened, {"trivial_max": 1_000_000}))
            done.update(outcome.result for outcome in apply(estate, plan, "bench", observed=True))

        return seconds(run), done[Result.DONE]

    def begin_writing(self, store: str) -> None:
        """Open a session in a ledger that somebody else collects."""
        self._writing = self._session(store)

    def write_until(self, stopped: str, pause: float) -> list[float | None]:
        """Append again and again until a file appears."""
        session = self._writing
        assert session is not None
        return garbage.write_until(
            stopped, lambda said: session.append(role="user", content=said), pause
        )

    def _open(self, ledger: str) -> Sexton:
        if ledger not in self._ledgers:
            self._ledgers[ledger] = Sexton(open_ledger(ledger), Settings())
        return self._ledgers[ledger]

    def _place(self, ledger: str, skip: int) -> Place | None:
        """Where a reader who has paged that far goes on."""
        index = self._open(ledger).ledger.index
        place = self._places.get((ledger, skip))
        if place is None and skip:
            for _ in range(0, skip, 500):
                last = index.page(Filter(), place, min(500, skip))[-1]
                place = self._places[ledger, skip] = Place(last.active_at, last.ref)
        return place

    def _worker(self, ledger: str) -> AgentWorker:
        if ledger not in self._workers:
            self._workers[ledger] = self._open(ledger).worker()
        return self._workers[ledger]

    def _session(self, ledger: str) -> OpenSession:
        return self._worker(ledger).session(f"bench:{next(self._names)}", source="cli")


def _kill(opened: Sexton, name: str, sessions: int) -> None:
    """So many sessions of processes that are gone: of each a terminal and its subagents."""
    now, myself, serial = opened.clock.now(), opened.processes.myself(), opened.rules(None).serial
    for number in range(0, sessions, FAMILY):
        worker = Worker(
            id=f"{name} {number}",
            identity=replace(myself, started=myself.started + 1, inode=None),
            kind="agent",
            version="bench",
            beat=0,
            registered_at=now,
        )
        opened.ledger.workers.register(worker)
        for child in range(min(FAMILY, sessions - number)):
            birth = Birth(
                id=f"{worker.id} {child}",
                key=None,
                source="subagent" if child else "cli",
                parent=f"{worker.id} 0" if child else None,
                relation=Relation.SUBAGENT if child else None,
                worker=worker.id,
                schedule=Schedule(serial),
            )
            opened.ledger.book.begin(birth, now)


def _append(session: OpenSession, said: Sequence[str]) -> None:
    for text in said:
        session.append(role="user", content=text)


def _fill(path: str, values: dict[str, Any], statements: Sequence[str]) -> None:
    connection = apsw.Connection(path)
    connection.set_busy_timeout(60_000)
    connection.execute("PRAGMA cache_size = -400000").fetchall()
    with connection:
        for statement in statements:
            connection.execute(statement, values)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()


def _populate(path: str, values: dict[str, int | str]) -> None:
    connection = apsw.Connection(path)
    connection.execute("PRAGMA cache_size = -400000; PRAGMA journal_mode = OFF").fetchall()
    with connection:
        for statement in (INSERT_SESSIONS, INSERT_MESSAGES, INSERT_HOLDERS):
            connection.execute(statement, values)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.close()


GARBAGE = (
    f"""INSERT INTO sessions (
    home, id, key, source, state, started_at, active_at, ended_at, end_reason, last_seq,
    message_count, byte_count, preview)
{garbage.SESSIONS}SELECT 1, id, 'telegram:' || id, 'telegram', 'ended', active - 3600000000, active,
    active, 'idle', said, said, 200 * said, substr(:prose, 1, 120)
FROM garbage""",
    f"""INSERT INTO messages (session, seq, at, role, is_text, content)
WITH RECURSIVE {garbage.PLACES}, said (i, session, active, count) AS (
    SELECT ref, ref, active_at, message_count FROM sessions
)
SELECT session, place, active - 60000000 * (count - place),
       CASE WHEN place % 2 = 0 THEN 'user' ELSE 'assistant' END, 1, CAST({garbage.SAID} AS BLOB)
FROM said JOIN places ON place <= count""",
)

MORE_GARBAGE = (
    GARBAGE[0].replace("'g%07d'", "'more ' || :name || ' %07d'"),
    GARBAGE[1].replace(
        "FROM sessions",
        "FROM sessions WHERE home = 1 AND id >= 'more ' || :name"
        " || ' ' AND id < 'more ' || :name || '!'",
    ),
)

INSERT_SESSIONS = f"""INSERT INTO sessions (
    home, id, key, source, started_at, active_at, due_at, policy_serial,
    last_seq, message_count, byte_count, preview, human_touched)
{NUMBERS}SELECT 1, id, printf('telegram:%d', i), 'telegram', active - 3600000000, active,
    active + :idle, :serial, json_array_length(:places), json_array_length(:places),
    200 * json_array_length(:places), substr({SAID.replace("place", "0")}, 1, 120), 1
FROM population"""

INSERT_MESSAGES = f"""INSERT INTO messages (session, seq, at, role, is_text, content)
WITH said (ref, i, active, place) AS (
    SELECT ref, ref - 1, active_at, value FROM sessions, json_each(:places)
)
SELECT ref, place + 1, active - 60000000 * (json_array_length(:places) - 1 - place),
       CASE WHEN place % 2 = 0 THEN 'user' ELSE 'assistant' END, 1, CAST({SAID} AS BLOB)
FROM said"""

INSERT_HOLDERS = """INSERT INTO holders (session, worker, joined_at)
SELECT ref, :holder, started_at FROM sessions"""


if __name__ == "__main__":
    serve(SextonLedgers())
