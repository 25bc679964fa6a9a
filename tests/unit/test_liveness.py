"""Is the holder of a session alive, and is the session dead with it?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sexton.core.session import Session
from sexton.keeper.preconditions import as_seen
from sexton.liveness.evidence import Evidence, Sight, Verdict
from sexton.liveness.missed_heartbeats import Look, Watch, listen
from sexton.liveness.model import Holder, Identity, Left, Worker
from sexton.liveness.policy import (
    HOME,
    LivenessPolicy,
    dead_holders,
    is_busy,
    judge,
    kept_proof,
    orphan_reason,
    reap_reason,
    stalled_for,
)
from sexton.liveness.reaper import children_first
from tests.golden import golden

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
POLICY = LivenessPolicy()
LIVE = Evidence(verdict=Verdict.LIVE, kernel=True, signals=("runs",))
GONE = Evidence(verdict=Verdict.DEAD, code="process_gone", kernel=True, signals=("no such pid",))
SILENT = Evidence(verdict=Verdict.DEAD, code="lease_expired", signals=("no beat",))
DOUBTFUL = [Evidence(verdict=each) for each in (Verdict.SUSPECT, Verdict.UNKNOWN)]


def worker(id: str = "w", beat: int = 7) -> Worker:
    identity = Identity(host="there", boot_id="boot", pid=42, started=1)
    return Worker(
        id=id, identity=identity, kind="agent", version="1", beat=beat, registered_at=NOON
    )


def held(*holders: str, source: str = "cli", busy: datetime | None = None) -> Session:
    return Session(
        ref=1,
        home="native",
        id="s",
        key=None,
        source=source,
        started_at=NOON,
        active_at=NOON,
        holders=tuple(
            Holder(worker=worker(each), joined_at=NOON, busy_since=busy) for each in holders
        ),
    )


def watched(seconds: float, *, moves: bool = False, every: float = 5.0) -> Watch:
    """A watch kept for so long over one worker, which stands at beat 7 in the end."""
    watch = listen(Watch(), {"w": 6}, Look(-every, -every), 90) if moves else Watch()
    for look in range(int(seconds / every) + 1):
        watch = listen(watch, {"w": 7}, Look(look * every, look * every), 90)
    return watch


@pytest.mark.parametrize("sight", [Sight.ELSEWHERE, Sight.HIDDEN])
def test_where_the_kernel_says_nothing_only_a_full_ttl_and_the_lock_delay_of_silence_is_death(
    sight: Sight,
) -> None:
    verdicts = {
        seconds: judge(worker(), sight, POLICY, watched(seconds)).verdict
        for seconds in (0, 40, 45, 100, 105, 1000)
    }
    assert verdicts == {
        0: Verdict.UNKNOWN,
        40: Verdict.UNKNOWN,
        45: Verdict.SUSPECT,
        100: Verdict.SUSPECT,
        105: Verdict.DEAD,
        1000: Verdict.DEAD,
    }
    death = judge(worker(), sight, POLICY, watched(105))
    assert (death.code, death.kernel) == ("lease_expired", False)
    golden("why", f"liveness: a lease that expired, {sight.value}", death.signals[0])


def test_a_worker_that_was_seen_to_beat_is_live() -> None:
    found = judge(worker(), Sight.ELSEWHERE, POLICY, watched(10, moves=True))
    assert (found.verdict, found.kernel) == (Verdict.LIVE, False)


def test_a_beat_read_after_the_last_look_saves_a_silent_worker() -> None:
    found = judge(worker(beat=8), Sight.ELSEWHERE, POLICY, watched(1000))
    assert found.verdict is Verdict.LIVE


def test_on_this_host_no_silence_outweighs_a_running_process() -> None:
    assert judge(worker(), Sight.PRESENT, POLICY, watched(1_000_000)).verdict is Verdict.LIVE


def test_the_kernels_word_outweighs_a_beat() -> None:
    found = judge(worker(), Sight.GONE, POLICY, watched(10, moves=True))
    assert (found.verdict, found.code, found.kernel) == (Verdict.DEAD, "process_gone", True)


def test_another_boot_is_death_once_half_a_ttl_has_shown_that_no_twin_beats() -> None:
    early = judge(worker(), Sight.REBOOTED, POLICY, watched(40))
    assert early.verdict is Verdict.UNKNOWN
    golden("why", "liveness: another boot or a twin", early.signals[0])
    late = judge(worker(), Sight.REBOOTED, POLICY, watched(45))
    assert (late.verdict, late.code, late.kernel) == (Verdict.DEAD, "host_rebooted", True)


def test_whoever_keeps_no_watch_takes_another_boot_for_death() -> None:
    assert judge(worker(), Sight.REBOOTED, POLICY, Watch()).code == "host_rebooted"


def test_a_twin_that_beats_is_judged_like_another_host() -> None:
    assert judge(worker(), Sight.REBOOTED, POLICY, watched(10, moves=True)).verdict is Verdict.LIVE
    assert judge(worker(beat=8), Sight.REBOOTED, POLICY, watched(50)).verdict is Verdict.LIVE
    silent = judge(worker(), Sight.REBOOTED, POLICY, watched(60, moves=True))
    assert silent.verdict is Verdict.SUSPECT
    dead = judge(worker(), Sight.REBOOTED, POLICY, watched(105, moves=True))
    assert (dead.code, dead.kernel) == ("lease_expired", False)


def test_whoever_was_declared_dead_stays_dead_with_the_evidence_of_then() -> None:
    declared = replace(worker(), dead_at=NOON, evidence="lease_expired: no beat: for long")
    found = judge(declared, Sight.PRESENT, POLICY, watched(10, moves=True))
    assert (found.verdict, found.code) == (Verdict.DEAD, "lease_expired")
    assert found.signals == ("no beat: for long",)


@pytest.mark.parametrize("source", ["cli", "cron", "subagent", "batch"])
def test_a_session_that_dies_with_its_owner_is_reaped_when_all_its_holders_are_dead(
    source: str,
) -> None:
    found = reap_reason(held("a", "b", source=source), {"a": GONE, "b": GONE}, POLICY, NOON)
    assert found is not None
    assert (found.code, found.text) == ("reaped:process_gone", "no such pid")


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_the_weakest_proof_names_the_death_and_all_are_stated(order: str) -> None:
    rebooted = replace(GONE, code="host_rebooted", signals=("started again",))
    declared = replace(SILENT, kernel=True)
    for weak, strong in ((SILENT, GONE), (declared, GONE), (SILENT, rebooted), (rebooted, GONE)):
        found = reap_reason(held(*order), {"a": weak, "b": strong}, POLICY, NOON)
        assert found is not None
        assert found.code == f"reaped:{weak.code}"
        assert found.text == "; ".join((*weak.signals, *strong.signals))


@pytest.mark.parametrize("other", [LIVE, *DOUBTFUL])
def test_one_holder_that_is_not_proved_dead_keeps_the_session(other: Evidence) -> None:
    evidence = {"a": GONE, "b": other}
    assert reap_reason(held("a", "b"), evidence, POLICY, NOON) is None
    assert dead_holders(held("a", "b"), evidence) == ("a",)


@pytest.mark.parametrize("source", ["telegram", "agent", "anything"])
def test_a_conversation_never_dies_with_its_owner(source: str) -> None:
    assert reap_reason(held("a", source=source), {"a": GONE}, POLICY, NOON) is None


def test_of_a_session_without_holders_only_a_bound_for_its_source_makes_a_death() -> None:
    bound = replace(POLICY, inactivity_bound=(("cli", timedelta(days=7)),))
    late = NOON + timedelta(days=7)
    assert reap_reason(held(), {}, POLICY, late + timedelta(days=999)) is None
    assert reap_reason(held(), {}, bound, late - timedelta(seconds=1)) is None
    assert reap_reason(held(source="cron"), {}, bound, late) is None
    found = reap_reason(held(), {}, bound, late)
    assert found is not None
    assert (found.code, "7.0 days" in found.text) == ("reaped:inactive", True)


def test_a_bound_says_nothing_about_a_session_that_somebody_holds() -> None:
    bound = replace(POLICY, inactivity_bound=(("cli", timedelta(days=7)),))
    late = NOON + timedelta(days=70)
    for evidence in (LIVE, *DOUBTFUL):
        assert reap_reason(held("a"), {"a": evidence}, bound, late) is None


def test_a_pin_brings_no_holder_back_to_life() -> None:
    pinned = replace(held("a"), pinned=True)
    found = reap_reason(pinned, {"a": GONE}, POLICY, NOON)
    assert found is not None
    assert found.code == "reaped:process_gone"


def test_a_turn_is_running_unless_its_worker_is_proved_dead() -> None:
    busy = held("a", busy=NOON)
    assert all(is_busy(busy, {"a": each}) for each in (LIVE, *DOUBTFUL))
    assert not is_busy(busy, {"a": GONE})
    assert not is_busy(held("a"), {"a": LIVE})


def test_a_turn_is_stalled_when_neither_words_nor_progress_came_for_long() -> None:
    session = held("a", busy=NOON)
    [holder] = session.holders
    late = NOON + POLICY.stall_after
    assert stalled_for(session, holder, POLICY, late - timedelta(seconds=1)) is None
    assert stalled_for(session, holder, POLICY, late) == POLICY.stall_after
    moved = replace(holder, progress_at=NOON + timedelta(seconds=1))
    assert stalled_for(session, moved, POLICY, late) is None
    spoke = replace(session, active_at=NOON + timedelta(seconds=1))
    assert stalled_for(spoke, holder, POLICY, late) is None
    assert stalled_for(session, replace(holder, busy_since=None), POLICY, late) is None


def test_children_come_before_their_parents_even_if_they_go_in_a_circle() -> None:
    def child(id: str, parent: str | None) -> Left:
        seen = replace(as_seen(held()), id=id)
        return Left(seen=seen, source="cli", parent=parent, holders=())

    family = [child("a", None), child("b", "a"), child("c", "b"), child("d", "elsewhere")]
    order = [each.seen.id for each in children_first(family)]
    assert order.index("c") < order.index("b") < order.index("a")
    assert len(children_first([child("x", "y"), child("y", "x"), child("z", "z")])) == 3


@pytest.mark.parametrize(
    ("verdict", "alone", "attended"),
    [
        (Verdict.LIVE, None, None),
        (Verdict.UNKNOWN, None, None),
        (Verdict.SUSPECT, None, "reaped:suspect"),
        (Verdict.DEAD, "reaped:owner_gone", "reaped:owner_gone"),
    ],
)
def test_what_its_home_proves_ends_a_session_and_a_suspicion_does_for_a_person_only(
    verdict: Verdict, alone: str | None, attended: str | None
) -> None:
    proof = Evidence(verdict=verdict, code="owner_gone", signals=("evidence",))
    found = [orphan_reason(proof), orphan_reason(proof, attended=True)]
    assert [each and each.code for each in found] == [alone, attended]
    assert all("evidence" in each.text for each in found if each)
    bound = replace(POLICY, inactivity_bound=(("cli", timedelta(days=7)),))
    late = NOON + timedelta(days=70)
    reason = reap_reason(held(), {HOME: proof}, bound, late)
    silent = "reaped:inactive" if verdict is Verdict.UNKNOWN else alone
    assert (reason and reason.code) == silent, "a bound is for those of whom nothing is known"


@pytest.mark.parametrize("sight", [Sight.GONE, Sight.REUSED, Sight.ZOMBIE])
def test_a_proof_that_the_ledger_keeps_is_read_as_it_was(sight: Sight) -> None:
    living = worker()
    proof = judge(living, sight, POLICY, Watch())
    dead = replace(living, dead_at=NOON, evidence=kept_proof(proof))
    assert judge(dead, Sight.PRESENT, POLICY, Watch()) == proof
