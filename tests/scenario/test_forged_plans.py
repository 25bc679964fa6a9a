"""Plans that somebody wrote by hand: what they claim is decided again before anything is done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sexton.core.plan import (
    Action,
    EndSession,
    Outcome,
    Plan,
    ReapSession,
    Reason,
    RemoveFiles,
    Result,
    TrashSession,
    WarnSession,
)
from sexton.core.record import replace
from sexton.core.session import Limit, Session
from sexton.keeper.plan_file import read_plan, write_plan
from sexton.keeper.preconditions import as_seen
from sexton.liveness.model import Worker
from sexton.liveness.policy import SILENT, SUSPECT
from sexton.sessions.agent_session import OpenSession
from tests.keeping import kept
from tests.scenario.fleet import Site
from tests.scenario.hermes_home import HermesScene
from tests.scenario.hermes_house import DAY, House, ends, make_older

DEAD = Reason("reaped:process_gone", "no process has its pid")


@pytest.fixture
def here(engine_url: str) -> Iterator[Site]:
    site = Site(engine_url, "here")
    yield site
    site.close()


def forged(site: Site, *actions: Action, policies: str | None = None) -> list[Outcome]:
    """What comes of a plan that was written with the key of the ledger."""
    ledger = site.ledger
    plan = Plan(
        id="forged",
        ledger=ledger.id,
        policies=site.house.rules(None).digest if policies is None else policies,
        made_at=site.clock.now(),
        actions=actions,
    )
    text = write_plan(plan, ledger.plan_key())
    return site.house.apply(read_plan(text, ledger.id, ledger.plan_key()))


def dead_of(session: Session) -> tuple[tuple[str, int], ...]:
    return tuple((each.worker.id, each.worker.beat) for each in session.holders)


def held(site: Site, source: str = "cli") -> OpenSession:
    """A session that a living worker has open."""
    session = kept(site.house.worker().session(source=source))
    session.append(role="user", content="hello")
    return session


def waiting(site: Site) -> Session:
    """A conversation that nobody holds and that waits for its next message."""
    with site.house.worker() as worker:
        session = worker.session("talk", source="telegram")
        session.append(role="user", content="hello")
    return site.find(session.id)


def over(site: Site, *, pinned: bool = False) -> Session:
    """A session that has ended."""
    session = held(site)
    session.end("closed")
    site.ledger.book.mark(site.find(session.id).ref, pinned=pinned)
    return site.find(session.id)


def test_a_forged_reap_leaves_a_living_session_and_its_worker_alone(here: Site) -> None:
    session = held(here)
    found = here.find(session.id)
    (done,) = forged(here, ReapSession(seen=as_seen(found), reason=DEAD, dead=dead_of(found)))
    assert done.result is Result.SKIPPED
    assert here.find(session.id).is_open
    assert all(each.dead_at is None for each in here.ledger.reaping.suspects())
    session.append(role="user", content="still here")


def test_a_reap_of_a_dead_worker_is_done_with_the_reason_that_holds_now(here: Site) -> None:
    worker = here.house.worker()
    session = worker.session(source="cli")
    found = here.find(session.id)
    here.dies(worker)
    false = Reason("reaped:host_rebooted", "a false reason")
    (done,) = forged(here, ReapSession(seen=as_seen(found), reason=false, dead=dead_of(found)))
    assert (done.result, done.action.reason.code) == (Result.DONE, "reaped:process_gone")
    assert here.find(session.id).end_reason == "reaped:process_gone"


@pytest.mark.parametrize("code", [DEAD.code, SILENT, SUSPECT])
def test_a_conversation_that_waits_is_not_reaped_by_a_forged_plan(here: Site, code: str) -> None:
    found = waiting(here)
    (done,) = forged(here, ReapSession(seen=as_seen(found), reason=Reason(code, "forged")))
    assert done.result is Result.SKIPPED
    assert here.find(found.id).is_open


@pytest.mark.parametrize("policies", [None, ""])
def test_a_session_that_no_policy_ends_is_not_ended_by_a_forged_plan(
    here: Site, policies: str | None
) -> None:
    seen = as_seen(here.find(held(here).id))
    done = forged(
        here,
        EndSession(seen=seen, reason=Reason("closed", "ended by an operator")),
        WarnSession(seen=seen, reason=Reason("near_max_bytes", "80 %"), limit=Limit.BYTES),
        policies=policies,
    )
    assert [each.result for each in done] == [Result.SKIPPED] * 2
    found = here.find(seen.id)
    assert (found.is_open, found.warned) == (True, Limit(0))


def test_a_forged_plan_puts_nothing_open_held_or_pinned_into_the_trash(here: Site) -> None:
    open_one, pinned = here.find(held(here).id), over(here, pinned=True)
    seen = [replace(as_seen(each), pinned=False) for each in (open_one, pinned)]
    done = forged(
        here, *(TrashSession(seen=each, reason=DEAD, source="cli", size=1) for each in seen)
    )
    assert [each.result for each in done] == [Result.SKIPPED] * 2
    assert here.find(open_one.id).is_open
    assert here.find(pinned.id).state == pinned.state


def test_a_forged_plan_does_not_join_the_row_of_one_session_to_the_files_of_another(
    here: Site,
) -> None:
    living = held(here)
    file = living.directory / "work.txt"
    file.write_text("precious")
    mixed = replace(as_seen(over(here)), id=living.id)
    done = forged(
        here,
        TrashSession(seen=mixed, reason=DEAD, source="cli", size=8),
        RemoveFiles(seen=mixed, reason=DEAD, source="cli", size=8),
    )
    assert [each.result for each in done] == [Result.SKIPPED] * 2
    assert file.read_text() == "precious"


def test_files_that_a_forged_plan_calls_nobody_s_stay_with_their_session(here: Site) -> None:
    living = held(here)
    file = living.directory / "work.txt"
    file.write_text("precious")
    estate = here.house.estate()
    assert estate.removing is not None
    owner = estate.removing.files["native"].owner(living.id)
    nobodys = replace(as_seen(here.find(living.id)), ref=0, id=owner)
    (done,) = forged(here, RemoveFiles(seen=nobodys, reason=DEAD, source="files", size=8))
    assert done.result is Result.SKIPPED
    assert file.read_text() == "precious"


@pytest.mark.parametrize("code", [SILENT, SUSPECT, DEAD.code])
@pytest.mark.parametrize("names_holder", [True, False])
def test_a_forged_plan_ends_no_session_of_another_agent_that_a_living_worker_holds(
    tmp_path: Path, scene: HermesScene, code: str, names_holder: bool
) -> None:
    scene.start("held")
    make_older(scene, DAY)
    house = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path)
    house.observe()
    worker = Worker(
        id="alive", identity=house.sexton.processes.myself(), kind="hermes", version="1", beat=0,
        registered_at=house.clock.now(),
    )  # fmt: skip
    house.ledger.workers.register(worker)
    assert house.ledger.book.join(house.session("held"), "alive", [], house.clock.now())
    found = house.session("held")
    reap = ReapSession(
        seen=as_seen(found),
        reason=Reason(code, "forged"),
        dead=dead_of(found) if names_holder else (),
    )
    plan = replace(house.plan(), actions=(reap,))
    assert house.apply(plan) == {"held": "skipped"}
    assert ends(scene) == {"held": None}
    house.sexton.close()
