"""Days of misfortune, simulated: nobody is reaped on the host that can see it alive."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sexton.liveness.evidence import Evidence, Verdict
from sexton.liveness.missed_heartbeats import listen
from sexton.liveness.policy import judge
from tests.crash.days import GOING_ON, REVIVED, live
from tests.kit import simulation
from tests.kit.simulation import Outcome, simulate
from tests.kit.simulation_world import Process, World

DAYS = 2.0


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """Two days, enough for every misfortune to happen."""
    return simulate(seed=1, days=DAYS)


def test_nobody_is_reaped_wrongly_and_all_the_dead_are_found(outcome: Outcome) -> None:
    assert outcome.wrongs == ()


def test_a_keeper_that_sleeps_between_decision_and_reap_is_judged_by_what_it_had_seen() -> None:
    # A life in which a host falls asleep in the middle of a sweep, long after a full TTL.
    assert simulate(seed=4_711_001, days=0.5).wrongs == ()


def test_every_rare_event_happened_so_that_the_run_has_shown_something(outcome: Outcome) -> None:
    assert outcome.never == ()


def test_a_run_in_which_a_rare_event_never_happened_says_so(outcome: Outcome) -> None:
    counts = outcome.counts.copy()
    del counts["host rebooted"]
    assert replace(outcome, counts=counts).never == ("host rebooted",)


def test_the_same_seed_gives_the_same_life_and_another_seed_another() -> None:
    first, again, other = (simulate(seed, 0.3) for seed in (5, 5, 6))
    assert (first.trace, first.counts) == (again.trace, again.counts)
    assert first.trace != other.trace


def test_a_rule_that_trusts_a_timer_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    real = judge

    def hasty(*given: object) -> Evidence:
        found = real(*given)  # type: ignore[arg-type]  # handed on as it came
        if found.verdict is Verdict.SUSPECT:
            return replace(found, verdict=Verdict.DEAD, code="lease_expired")
        return found

    monkeypatch.setattr(simulation, "judge", hasty)
    assert any("s of silence" in words for words in simulate(1, 0.5).wrongs)


def test_an_observer_that_forgets_nothing_in_a_gap_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = listen
    monkeypatch.setattr(
        simulation, "listen", lambda watch, beats, look, _: real(watch, beats, look, 1e9)
    )
    assert any("s of silence" in words for words in simulate(1, 2).wrongs)


def test_a_worker_that_is_given_up_and_never_told_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def deaf(_: World, process: Process) -> None:
        """It goes on as if nothing had happened."""

    monkeypatch.setattr(World, "tell", deaf)
    assert any("never told" in words for words in simulate(1, 1).wrongs)


@pytest.mark.parametrize("engine", [0, 1])
def test_whoever_is_given_up_alive_is_fenced_and_revives_without_loss_on_a_real_ledger(
    engine: int, tmp_path: Path, postgres_url: str
) -> None:
    url = (f"sqlite:///{tmp_path / 'ledger.db'}", postgres_url)[engine]
    counts, wrongs = live(seed=1, days=0.5, url=url)
    assert wrongs == ()
    assert counts[REVIVED] > 0
    assert counts[REVIVED] + counts[GOING_ON] == counts["told so at its next beat"]


def test_the_program_takes_its_days_and_its_seed_from_the_environment() -> None:
    path = os.pathsep.join(filter(None, sys.path))
    told = subprocess.run(
        [sys.executable, "-m", "tests.kit.simulation"],
        env=os.environ | {"N": "0.1", "SEED": "3", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert "0.1 days, SEED=3, trace" in told.stdout
    assert (told.returncode == 1) == ("WRONG" in told.stdout)
