"""Workers that die, pause, return or only seem to, on both engines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NoReturn

import pytest

from sexton.core.plan import Action, Plan, ReapSession, Result
from sexton.core.session import NATIVE, State
from sexton.errors import SessionEnded, SessionFenced, WorkerLeft
from sexton.homes.native import NativeHome
from sexton.keeper.apply import apply
from sexton.keeper.propose import survey
from sexton.liveness.evidence import Sight
from sexton.liveness.model import Identity
from sexton.liveness.policy import LivenessPolicy
from sexton.liveness.worker_view import look_at_workers
from sexton.sessions.agent_worker import AgentWorker
from sexton.store.journal import Entry
from tests.golden import golden
from tests.scenario.fleet import INTERVAL, Site, beat, codes, pass_time

TTL = LivenessPolicy().ttl.total_seconds()
DAYS = [timedelta(days=2), timedelta(days=-2)]


@pytest.fixture
def site(engine_url: str) -> Iterator[Callable[[str], Site]]:
    """Machines by name, all on one ledger."""
    sites: dict[str, Site] = {}

    def named(host: str) -> Site:
        if host not in sites:
            sites[host] = Site(engine_url, host)
        return sites[host]

    yield named
    for each in sites.values():
        each.close()


@pytest.fixture
def here(site: Callable[[str], Site]) -> Site:
    """The machine of the keeper."""
    return site("here")


@pytest.fixture
def there(site: Callable[[str], Site]) -> Site:
    """Another machine."""
    return site("there")


def crowd(site: Site, number: int = 9) -> list[AgentWorker]:
    """Workers with a conversation each: enough that one silent is no mass death."""
    workers = [site.house.worker() for _ in range(number)]
    for each in workers:
        each.session(source="telegram")
    return workers


def test_the_sessions_of_a_killed_worker_end_when_they_were_last_active_children_first(
    here: Site,
) -> None:
    worker, other = here.house.worker(), here.house.worker()
    parent = worker.session("job", source="cli")
    child = worker.session(source="subagent", parent=parent)
    kept = other.session("other", source="cli")
    parent.append(role="user", content="x")
    spoken_at = here.clock.now()
    here.clock.advance(timedelta(minutes=5))
    child.append(role="user", content="y")
    here.clock.advance(timedelta(hours=3))
    assert here.sweep().outcomes == ()
    here.dies(worker)
    sweep = here.sweep()
    assert [outcome.action.seen.id for outcome in sweep.outcomes] == [child.id, parent.id]
    for id, at in ((parent.id, spoken_at), (child.id, spoken_at + timedelta(minutes=5))):
        ended = here.find(id)
        assert (ended.state, ended.end_reason) == (State.ENDED, "reaped:process_gone")
        assert (ended.ended_at, ended.holders) == (at, ())
        [line] = here.ledger.journal.page(ended, None, None, 9)
        assert (line.action, line.receipt) == ("reap", sweep.receipt)
        assert line.reason.code == "reaped:process_gone"
    assert here.find(kept.id).is_open
    assert here.sweep().outcomes == ()
    assert worker.id not in [each.id for each in here.ledger.reaping.suspects()]


def test_what_ran_before_the_machine_was_started_again_is_reaped_within_another_sweep(
    here: Site,
) -> None:
    session = here.house.worker().session("job", source="cron")
    here.machine.boot += 1
    if not here.ledger.is_shared:  # a file has no other users: the first look is enough
        assert codes(here.sweep()) == ["reaped:host_rebooted"]
        return
    assert codes(here.sweep()) == []
    here.clock.advance(timedelta(seconds=INTERVAL))
    assert codes(here.sweep()) == ["reaped:host_rebooted"]
    assert here.find(session.id).end_reason == "reaped:host_rebooted"


def test_a_copy_of_the_machine_under_the_same_name_is_not_taken_for_its_past(
    postgres_url: str,
) -> None:
    here, copy = Site(postgres_url, "here"), Site(postgres_url, "here")
    copy.machine.boot += 1
    worker = here.house.worker()
    session = worker.session("job", source="cli")
    assert codes(*pass_time(copy, 600, worker)) == []
    assert here.find(session.id).is_open
    assert codes(*pass_time(copy, 600)) == ["reaped:lease_expired"]
    copy.close()
    here.close()


def test_sweeps_on_call_remember_what_they_heard_and_reap_across_hosts(
    here: Site, there: Site
) -> None:
    lost, others = there.house.worker(), crowd(there)
    session = lost.session("job", source="cli")
    found = []
    for _ in range(5):
        found += codes(here.house.sweep())
        here.clock.advance(timedelta(seconds=30))
        beat(*others)
    assert found == ["reaped:lease_expired"]
    assert here.find(session.id).end_reason == "reaped:lease_expired"


def test_another_host_is_given_up_after_a_ttl_and_the_lock_delay_of_silence_and_not_before(
    here: Site, there: Site
) -> None:
    lost, others = there.house.worker(), crowd(there)
    session = lost.session("job", source="cli")
    beat(lost)
    assert codes(*pass_time(here, 120, lost, *others)) == []
    assert codes(*pass_time(here, 90, *others)) == []
    assert here.find(session.id).is_open
    assert codes(*pass_time(here, 30, *others)) == ["reaped:lease_expired"]
    assert here.find(session.id).end_reason == "reaped:lease_expired"


def test_a_keeper_that_starts_now_knows_nothing_about_other_hosts(here: Site, there: Site) -> None:
    session = there.house.worker().session("job", source="cli")
    there.clock.advance(timedelta(days=30))
    here.clock.advance(timedelta(days=30))
    assert here.sweep().outcomes == ()
    assert here.find(session.id).is_open


def suspend(site: Site) -> None:
    site.clock.suspend(timedelta(hours=8))


def stop(site: Site) -> None:
    site.clock.advance(timedelta(hours=8))


def jump(site: Site) -> None:
    site.clock.set(site.clock.now() + timedelta(days=2))


@pytest.mark.parametrize("pause", [suspend, stop, jump])
def test_a_keeper_that_paused_reaps_nobody_for_it(
    here: Site, there: Site, pause: Callable[[Site], None]
) -> None:
    local, remote, others = here.house.worker(), there.house.worker(), crowd(there)
    sessions = [
        local.session("local", source="cli"),
        remote.session("remote", source="cli"),
    ]
    pass_time(here, 120, local, remote, *others)
    for _ in range(5):
        pass_time(here, 60, *others)  # the worker has just missed some beats
        pause(here)
        assert codes(here.sweep()) == []
        beat(remote)
        assert codes(*pass_time(here, 60, local, remote, *others)) == []
    assert all(here.find(each.id).is_open for each in sessions)


@pytest.mark.parametrize("all_freeze", [True, False])
def test_a_freeze_of_the_keeper_and_a_worker_elsewhere_reaps_nobody(
    here: Site, there: Site, all_freeze: bool
) -> None:
    remote, others = there.house.worker(), crowd(there)
    session = remote.session("remote", source="cli")
    for frozen in (30, 60, 75, 90, 105, 120, 150, 178, 181, 600):
        pass_time(here, 60, remote, *others)
        here.clock.advance(timedelta(seconds=frozen))
        beat(*[] if all_freeze else others)
        assert codes(here.sweep()) == []
    assert here.find(session.id).is_open


def test_a_wall_clock_that_goes_two_days_forth_and_back_reaps_nobody(
    here: Site, there: Site
) -> None:
    local, remote, others = here.house.worker(), there.house.worker(), crowd(there)
    sessions = [local.session("a", source="cli"), remote.session("b", source="cli")]
    for site in (here, there):
        for step in DAYS:
            site.clock.set(site.clock.now() + step)
            assert codes(*pass_time(here, 180, local, remote, *others)) == []
    assert all(here.find(each.id).is_open for each in sessions)


def test_a_conversation_outlives_its_owner_and_is_adopted_by_the_next_opener(here: Site) -> None:
    worker = here.house.worker()
    session = worker.session("chat:1", source="telegram")
    session.append(role="user", content="before")
    here.dies(worker)
    assert codes(here.sweep()) == []
    assert (here.find(session.id).is_open, here.find(session.id).holders) == (True, ())
    adopted = here.house.worker().session("chat:1")
    assert (adopted.id, adopted.epoch) == (session.id, session.epoch + 1)
    assert [message.content for message in adopted.messages()] == ["before"]
    with pytest.raises(SessionFenced):
        session.append(role="user", content="from the grave")


def test_a_joint_session_lives_while_one_holder_does(here: Site) -> None:
    one, two = here.house.worker(), here.house.worker()
    session = one.session("job", source="cli")
    two.session("job")
    here.dies(one)
    assert codes(here.sweep()) == []
    assert [each.worker.id for each in here.find(session.id).holders] == [two.id]
    here.dies(two)
    assert codes(here.sweep()) == ["reaped:process_gone"]


def test_the_end_of_a_joint_session_states_the_evidence_of_all_and_each_dead_its_own(
    here: Site, there: Site
) -> None:
    local, remote, others = here.house.worker(), there.house.worker(), crowd(there)
    session = local.session("job", source="cli")
    remote.session("job")
    buried: dict[str, str] = {}

    class Watched(NativeHome):
        def reap(self, reaps: Sequence[tuple[ReapSession, Entry]], now: datetime) -> list[bool]:
            dead = [each for each in here.ledger.reaping.suspects() if each.dead_at is not None]
            buried.update({each.id: str(each.evidence).partition(":")[0] for each in dead})
            return super().reap(reaps, now)

    keeper = here.keeper()
    home = Watched(here.ledger)
    keeper._estate = lambda: replace(here.house.estate(), homes={NATIVE: home})
    pass_time(here, 60, remote, *others)
    pass_time(here, 90, *others)
    here.dies(local)
    assert codes(*pass_time(here, 30, *others)) == ["reaped:lease_expired"]
    assert buried == {remote.id: "lease_expired", local.id: "process_gone"}
    found = here.find(session.id)
    assert found.end_reason == "reaped:lease_expired"
    [line] = here.ledger.journal.page(found, None, None, 9)
    assert line.reason.code == "reaped:lease_expired"
    told = re.sub(r"\b\d+ s\b", "<seconds> s", line.reason.text)
    for each in (local, remote):
        told = told.replace(each.id, "<worker>")
    golden("why", "journal: two dead owners", told)


def lose(here: Site, there: Site, lost: AgentWorker, *others: AgentWorker) -> None:
    """The worker is silent until the keeper has given it up."""
    pass_time(here, 60, lost, *others)
    pass_time(here, 120, *others)
    there.clock.advance(timedelta(seconds=180))


def test_a_worker_that_was_given_up_is_told_and_goes_on_by_reviving(
    here: Site, there: Site
) -> None:
    lost, others = there.house.worker(), crowd(there)
    session = lost.session("job", source="cli")
    session.append(role="user", content="before")
    before = lost.id
    lose(here, there, lost, *others)
    with pytest.raises(SessionEnded):
        session.append(role="user", content="lost?")
    assert here.find(session.id).end_reason == "reaped:lease_expired"
    assert lost.id != before, "it goes on as somebody else"
    session.revive()
    session.append(role="user", content="after")
    assert session.epoch == 2
    found = here.find(session.id)
    assert [each.worker.id for each in found.holders] == [lost.id]
    assert [message.content for message in session.messages()] == ["before", "after"]
    assert here.ledger.journal.page(found, None, None, 1)[0].action == "revive"
    assert codes(*pass_time(here, 180, lost, *others)) == []
    with session.turn():
        assert here.find(session.id).holders[0].busy_since is not None


def test_a_worker_that_was_given_up_opens_further_sessions_as_somebody_alive(
    here: Site, there: Site
) -> None:
    lost, others = there.house.worker(), crowd(there)
    lost.session("job", source="cli")
    lose(here, there, lost, *others)
    fresh = lost.session("next", source="cli")
    assert codes(here.sweep()) == []
    assert here.find(fresh.id).is_open


def test_a_joint_holder_that_was_given_up_holds_again_with_its_next_word(
    here: Site, there: Site
) -> None:
    lost, kept, others = there.house.worker(), here.house.worker(), crowd(there)
    session, alone = lost.session("job", source="cli"), lost.session("chat", source="telegram")
    kept.session("job")
    before = lost.id
    lose(here, there, lost, kept, *others)
    assert [each.worker.id for each in here.find(session.id).holders] == [kept.id]
    session.append(role="user", content="still here")
    assert lost.id != before
    assert {each.worker.id for each in here.find(session.id).holders} == {kept.id, lost.id}
    assert (session.epoch, here.find(session.id).epoch) == (1, 1)
    alone.append(role="user", content="and here")
    assert (here.find(alone.id).holders, here.find(alone.id).epoch) == ((), 1)
    here.dies(kept)
    assert codes(*pass_time(here, 60, lost, *others)) == []
    assert here.find(session.id).is_open


def test_a_holder_that_was_given_up_does_not_return_to_what_was_taken_over(
    here: Site, there: Site
) -> None:
    lost, others = there.house.worker(), crowd(there)
    session = lost.session("chat", source="telegram")
    lose(here, there, lost, *others)
    heir = here.house.worker()
    assert heir.session("chat").epoch == 2
    with pytest.raises(SessionFenced):
        session.append(role="user", content="from the grave")
    assert [each.worker.id for each in here.find(session.id).holders] == [heir.id]


def test_what_ended_otherwise_is_not_revived(here: Site) -> None:
    worker = here.house.worker()
    session = worker.session("job", source="cli")
    session.end("done")
    with pytest.raises(SessionEnded):
        session.revive()
    assert here.find(session.id).end_reason == "done"


def test_a_session_whose_key_went_on_without_it_is_not_revived(here: Site, there: Site) -> None:
    lost, others = there.house.worker(), crowd(there)
    session = lost.session("job", source="cli")
    lose(here, there, lost, *others)
    newer = others[0].session("job", source="cli")
    assert newer.id != session.id
    with pytest.raises(SessionEnded) as refused:
        session.revive()
    golden("sessions", "refused: revive, its key went on", str(refused.value))
    assert here.find(newer.id).is_open


def test_a_worker_that_could_not_renew_for_half_a_ttl_asks_once_and_goes_on(
    here: Site, there: Site
) -> None:
    worker = there.house.worker()
    session = worker.session("job", source="cli")
    [seen] = [each for each in there.ledger.reaping.suspects() if each.id == worker.id]
    for gap in (there.clock.advance, there.clock.suspend):
        gap(timedelta(seconds=TTL / 2 + 1))
        session.append(role="user", content="x")
    session.append(role="user", content="at once")
    [found] = [each for each in there.ledger.reaping.suspects() if each.id == worker.id]
    assert found.beat == seen.beat + 2
    assert (session.epoch, here.find(session.id).message_count) == (1, 3)


def test_a_worker_that_left_never_holds_anything_again(here: Site) -> None:
    worker = here.house.worker()
    session = worker.session("chat:1", source="telegram")
    worker.leave()
    here.clock.advance(timedelta(hours=1))
    beat(worker)
    assert here.ledger.workers.all() == [], "a late beat does not enrol it anew"
    with pytest.raises(WorkerLeft), session.turn():
        pass
    assert here.find(session.id).holders == ()


def test_a_mass_death_without_proof_is_held_for_three_ttls_and_then_carried_out(
    here: Site, there: Site
) -> None:
    alive, lost = crowd(there, 6), crowd(there, 3)
    sessions = [each.session(f"{n}", source="cli") for n, each in enumerate(lost)]
    pass_time(here, 60, *alive, *lost)
    sweeps = pass_time(here, 120, *alive)
    assert codes(*sweeps) == []
    assert {each.holding.code for each in sweeps[-1].held} == {"mass_death"}
    assert {each.wanted.code for each in sweeps[-1].held} == {"reaped:lease_expired"}
    assert len(sweeps[-1].held) == 3
    assert codes(*pass_time(here, 3 * TTL - 30, *alive)) == []
    assert codes(*pass_time(here, 60, *alive)) == ["reaped:lease_expired"] * 3
    assert not any(here.find(each.id).is_open for each in sessions)


def test_a_mass_is_counted_in_sessions_not_in_workers(here: Site, there: Site) -> None:
    alive, gateway, idle = (
        crowd(there, 9),
        there.house.worker(),
        [there.house.worker() for _ in range(9)],
    )
    sessions = [gateway.session(f"{number}", source="cli") for number in range(3)]
    pass_time(here, 60, *alive, gateway, *idle)
    sweeps = pass_time(here, 120, *alive, gateway)
    assert sweeps[-1].held == (), "those who hold nothing are no loss"
    assert not {each.id for each in idle} & {each.id for each in here.ledger.workers.all()}
    sweeps = pass_time(here, 150, *alive)
    assert codes(*sweeps) == []
    [words] = {each.holding.text for each in sweeps[-1].held}
    assert "3 of 12" in words
    assert all(here.find(each.id).is_open for each in sessions)


def test_what_the_kernel_proves_does_not_make_a_single_silence_a_mass(
    here: Site, there: Site
) -> None:
    lost, others, killed = there.house.worker(), crowd(there), here.house.worker()
    lost.session("remote", source="cli")
    for number in range(5):
        killed.session(f"{number}", source="cli")
    pass_time(here, 60, lost, *others)
    pass_time(here, 90, *others)
    here.dies(killed)
    found = codes(*pass_time(here, 30, *others))
    assert sorted(found) == ["reaped:lease_expired"] + ["reaped:process_gone"] * 5


def test_a_worker_is_judged_once_for_all_its_sessions_and_anew_with_another_beat(
    here: Site, there: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost, others = there.house.worker(), crowd(there, 20)
    for number in range(4):
        lost.session(f"{number}", source="cli")
    pass_time(here, 60, lost, *others)
    pass_time(here, 90, *others)
    here.clock.advance(timedelta(seconds=15))
    beat(*others)
    looks: list[Identity] = []
    real = here.machine.look

    def look(seen: Identity) -> Sight:
        looks.append(seen)
        return real(seen)

    monkeypatch.setattr(here.machine, "look", look)
    estate = here.keeper()._attentive(here.house.estate())
    assert len(survey(estate).plan.actions) == 4
    assert len(looks) == len(set(looks)) == len(here.ledger.workers.all())
    beat(lost)
    assert survey(estate).plan.actions == ()


def test_a_host_that_returns_while_its_death_is_doubted_has_lost_nothing(
    here: Site, there: Site
) -> None:
    alive, lost = crowd(there, 6), crowd(there, 3)
    sessions = [each.session(f"{n}", source="cli") for n, each in enumerate(lost)]
    pass_time(here, 60, *alive, *lost)
    pass_time(here, 120 + 3 * TTL - 60, *alive)
    assert codes(*pass_time(here, 600, *alive, *lost)) == []
    for session in sessions:
        assert session.append(role="user", content="x") == 1


def test_deaths_that_the_kernel_proves_are_carried_out_however_many(here: Site) -> None:
    workers = crowd(here, 20)
    for number, worker in enumerate(workers):
        worker.session(f"{number}", source="cli")
    for worker in workers:
        here.dies(worker)
    assert codes(here.sweep()) == ["reaped:process_gone"] * 20


def test_a_turn_without_progress_is_shown_as_stalled_and_is_not_dead(here: Site) -> None:
    session = here.house.worker().session("job", source="cli")

    def told() -> str:
        answers = here.house.why(session.id).answers
        return next(each.detail for each in answers if each.question == "holder")

    def stalls() -> list[float]:
        seen = look_at_workers(here.house.estate())
        return [stall.total_seconds() for each in seen for stall in each.stalls]

    with session.turn() as turn:
        seen = [told()]
        assert stalls() == []
        here.clock.advance(timedelta(minutes=11))
        seen.append(told())
        assert stalls() == [660.0]
        assert codes(here.sweep()) == []
        turn.progress()
        seen.append(told())
        assert stalls() == []
    seen.append(told())
    golden("why", "holder: in a turn, stalled, going on, at rest", "\n".join(seen))


@pytest.mark.parametrize("way", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_turn_clears_its_mark_however_it_ends(here: Site, way: type[BaseException]) -> None:
    session = here.house.worker().session("job", source="cli")
    with pytest.raises(way), session.turn():
        raise way
    assert here.find(session.id).holders[0].busy_since is None


def test_two_keepers_that_sweep_at_once_end_a_session_once(here: Site) -> None:
    worker = here.house.worker()
    sessions = [worker.session(f"{number}", source="cli") for number in range(5)]
    estates = [here.house.estate() for _ in range(2)]
    here.dies(worker)
    plans = [survey(estate).plan for estate in estates]
    results = [
        [outcome.result for outcome in apply(estate, plan, receipt)]
        for estate, plan, receipt in zip(estates, plans, ("one", "two"), strict=True)
    ]
    assert results == [[Result.DONE] * 5, [Result.SKIPPED] * 5]
    for session in sessions:
        assert len(here.ledger.journal.page(here.find(session.id), None, None, 9)) == 1


def test_a_keeper_remembers_only_the_dead_that_the_ledger_still_knows(here: Site) -> None:
    keeper = here.keeper()
    keeper.sweep()
    for _ in range(3):
        worker = here.house.worker()
        here.dies(worker)
        assert keeper._notices_death()
        assert not keeper._notices_death(), "each death is news once"
        here.ledger.book.leave(worker.id, (), here.clock.now())
    assert not keeper._notices_death()
    assert keeper._mourned == frozenset()


FIRE = "its disk is on fire"


class Sick(NativeHome):
    """A home that meets what nobody foresaw."""

    def rules(self) -> NoReturn:
        raise ZeroDivisionError(FIRE)


def test_a_home_that_breaks_costs_neither_the_sweep_nor_the_other_homes(
    here: Site, caplog: pytest.LogCaptureFixture
) -> None:
    worker = here.house.worker()
    session = worker.session("job", source="cli")
    here.dies(worker)
    names = ("sick", "well")
    records = {
        name: here.ledger.homes.attach(name, "hermes", f"/{name}", "here", False) for name in names
    }
    ledger = here.ledger
    homes = {NATIVE: NativeHome(ledger), "sick": Sick(ledger), "well": NativeHome(ledger)}
    keeper = here.keeper()
    keeper._estate = lambda: replace(here.house.estate(), homes=homes, records=records)
    for _ in range(2):
        sweep = keeper.sweep()
        assert [each.home for each in sweep.observed] == ["well"]
        [trouble] = sweep.troubles
        assert trouble.startswith("sick:")
        assert FIRE in trouble
    assert here.find(session.id).end_reason == "reaped:process_gone"
    assert [each.levelname for each in caplog.records if FIRE in each.message] == ["ERROR"]


def test_a_look_that_fails_is_told_and_the_keeper_goes_on(
    here: Site, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeper = here.keeper()
    keeper.sweep()

    def blind(_: object) -> None:
        raise RuntimeError(FIRE)

    monkeypatch.setattr(here.machine, "look", blind)
    assert not keeper._notices_death()
    assert FIRE in caplog.text


def test_a_keeper_killed_in_the_middle_of_a_sweep_leaves_what_the_next_one_completes(
    here: Site, there: Site
) -> None:
    lost, others = there.house.worker(), crowd(there, 20)
    # Half of the plan stands for the first of two transactions.
    sessions = [lost.session(f"{number}", source="cli", title=f"{number}") for number in range(4)]
    talk = lost.session("chat:1", source="telegram")
    pass_time(here, 60, lost, *others)
    pass_time(here, 90, *others)
    here.clock.advance(timedelta(seconds=15))
    beat(*others)
    estate = here.keeper()._attentive(here.house.estate())
    found = survey(estate).plan
    assert len(found.actions) == 4
    next(apply(estate, _only(found, found.actions[:2]), "killed"))
    ended = [here.find(each.id).end_reason for each in sessions]
    assert sorted(map(str, ended)) == ["None"] * 2 + ["reaped:lease_expired"] * 2
    heir = here.keeper("its heir")
    swept = heir.sweep()
    assert codes(swept) == ["reaped:lease_expired"] * 2
    assert not any(here.find(each.id).is_open for each in sessions)
    assert (here.find(talk.id).is_open, here.find(talk.id).holders) == (True, ())
    for session in sessions:
        assert len(here.ledger.journal.page(here.find(session.id), None, None, 9)) == 1
    assert heir.sweep().outcomes == ()


def _only(plan: Plan, actions: Sequence[Action]) -> Plan:
    return replace(plan, actions=tuple(actions))
