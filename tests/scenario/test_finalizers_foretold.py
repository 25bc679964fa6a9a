"""Do `why` and the outlook of a plan foretell the jobs that an end starts?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sexton.core.message import Message
from sexton.keeper.propose import survey
from sexton.operations.outlook import outlook
from sexton.rules.rulebook import Rulebook
from sexton.sessions.agent_worker import AgentWorker
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from sexton.wiring.choosing_ledger import load_settings
from tests.scenario.finalizers_scene import configure, open_house, owed, talk

IDLE = {"mode": "idle", "idle_minutes": 60}
COMMAND = {"kind": "command", "command": ["true"]}
ALL = {"name": "all", **COMMAND}
LONG = {"name": "long", "min_messages": 6, **COMMAND}
TIMERS = {"name": "timers", "sources": ["cron"], **COMMAND}


@pytest.fixture
def house(engine_url: str, tmp_path: Path, manual_clock: ManualClock) -> Iterator[Sexton]:
    config = configure(tmp_path, ALL, LONG, TIMERS, reset=IDLE)
    with open_house(engine_url, config, manual_clock) as opened:
        yield opened


def failing(messages: list[Message]) -> str:
    raise ConnectionError


def answers(house: Sexton, id: str) -> dict[str, str]:
    """How the job of each finalizer stands, in one word."""
    told = ((each.question, each.answer) for each in house.why(id).answers)
    return {name[10:]: answer for name, answer in told if name.startswith("finalizer.")}


def jobs(house: Sexton, wanted: Rulebook | None = None) -> dict[str, tuple[int, int]]:
    """How many jobs of each finalizer the plan says it starts, over how many messages."""
    plan = survey(house.estate(), None, wanted).plan
    found = outlook(house, plan, wanted)["will"]["jobs"]
    return {each["finalizer"]: (each["jobs"], each["messages"]) for each in found}


def queued(house: Sexton) -> dict[str, tuple[int, int]]:
    """The same of the jobs that are pending."""
    pending = [job for job in owed(house) if job.state == "pending"]
    return {
        name: (
            sum(job.finalizer == name for job in pending),
            sum(job.through - job.since for job in pending if job.finalizer == name),
        )
        for name in {job.finalizer for job in pending}
    }


def begun(worker: AgentWorker) -> list[str]:
    """Sessions that are open: short, long, empty, from a timer, and compressed; their ids."""
    ids = []
    for key, source, count in (("a", "cli", 2), ("b", "cli", 6), ("c", "cli", 0), ("d", "cron", 1)):
        session = worker.session(key, source=source)
        session.append_many({"role": "user", "content": f"{n}"} for n in range(count))
        ids.append(session.id)
    session = worker.session("e", source="cli")
    session.append_many({"role": "user", "content": f"{n}"} for n in range(10))
    assert session.compress(failing, attempts=1, on_failure="fallback", keep_head=1, keep_tail=2)
    return [*ids, session.id]


def test_the_outlook_of_a_plan_is_what_its_ends_queue_and_why_says_it_before_and_after(
    house: Sexton, manual_clock: ManualClock
) -> None:
    worker = house.worker()
    ids = begun(worker)
    before = queued(house)
    manual_clock.advance(timedelta(hours=2))
    foretold = jobs(house)
    said = {id: answers(house, id) for id in ids}
    plan = survey(house.estate()).plan
    for action in plan.actions:
        assert house.ledger.book.end_now(house.find(action.seen.id), "closed", house.clock.now())
    after = queued(house)
    gained = {
        name: (after[name][0] - many, after[name][1] - size)
        for name, (many, size) in {**dict.fromkeys(after, (0, 0)), **before}.items()
    }
    assert {name: each for name, each in gained.items() if each[0]} == foretold
    assert foretold["all"][0] == 4, "the empty one owes nothing"
    for id, answer in said.items():
        now = {"owed at its end": "pending", "nothing owed": "nothing owed"}
        expected = {name: now[word] for name, word in answer.items()}
        assert answers(house, id) == expected


def test_rules_that_are_not_in_force_yet_foretell_what_they_queue_once_they_are(
    house: Sexton, tmp_path: Path, engine_url: str, manual_clock: ManualClock
) -> None:
    worker = house.worker()
    begun(worker)
    manual_clock.advance(timedelta(hours=2))
    settings = load_settings(configure(tmp_path, TIMERS, {**LONG, "name": "new"}, reset=IDLE), {})
    assert settings is not None
    in_force = jobs(house)
    foretold = jobs(house, settings.rulebook)
    assert jobs(house) == in_force
    assert set(foretold) == {"new", "timers"}
    with open_house(engine_url, tmp_path / "sexton.yaml", manual_clock) as other:
        assert jobs(other) == foretold


def test_why_of_a_session_compressed_without_a_summary_names_what_it_holds_alone(
    engine_url: str, tmp_path: Path, manual_clock: ManualClock
) -> None:
    with open_house(engine_url, configure(tmp_path), manual_clock) as house:
        session = house.worker().session("k", source="cli")
        old = session.id
        session.append_many({"role": "user", "content": f"{n}"} for n in range(5))
        terms = {"keep_head": 1, "keep_tail": 2}
        assert session.compress(failing, attempts=1, on_failure="fallback", **terms)  # type: ignore[arg-type]
        ids = [old, session.id, *talk(house, "plain")]
    with open_house(engine_url, configure(tmp_path, ALL, LONG), manual_clock) as house:
        details = {
            (id, each.question): "backfill" in each.detail
            for id in ids
            for each in house.why(id).answers
            if each.question.startswith("finalizer.")
        }
        now = manual_clock.now()
        for name in ("all", "long"):
            house.ledger.backfill.owe(name, now - timedelta(days=9), 9, now)
        made_up_for = {(job.session, f"finalizer.{job.finalizer}") for job in owed(house)}
    assert {place for place, owes in details.items() if owes} == made_up_for
    assert (old, "finalizer.long") in made_up_for
