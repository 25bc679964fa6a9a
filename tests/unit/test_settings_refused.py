"""Are values that can only be mistakes refused, with what to write instead?"""

from __future__ import annotations

from pathlib import Path

import pytest

from sexton.settings.loader import Problem, load, problems
from tests.golden import golden

MISTAKES = [
    ("mode", "idel"),
    ("mode", "IDLE"),
    ("mode", "off"),
    ("mode", "false"),
    ("mode", "null"),
    ("mode", ""),
    ("mode", "1"),
    ("mode", "[idle]"),
    ("idle_minutes", "0"),
    ("idle_minutes", "-5"),
    ("idle_minutes", "true"),
    ("idle_minutes", "null"),
    ("idle_minutes", "2h"),
    ("idle_minutes", "90m"),
    ("idle_minutes", "1.5 hours"),
    ("idle_minutes", "30s"),
    ("idle_minutes", "'120'"),
    ("idle_minutes", "010"),
    ("idle_minutes", "1_440"),
    ("idle_minutes", "2.5"),
    ("idle_minutes", "90.0"),
    ("idle_minutes", "99999999999"),
    ("idle_minutes", "9" * 5000),
    ("at_hour", "24"),
    ("at_hour", "-1"),
    ("at_hour", "04"),
    ("at_hour", "no"),
    ("at_hour", "on"),
    ("at_hour", "4:00"),
    ("at_hour", "16:00"),
    ("at_hour", "4:30"),
    ("at_hour", "24:00"),
    ("at_hour", "99:00"),
    ("at_hour", "4.5"),
    ("timezone", "Europe/Berln"),
    ("timezone", "europe/berlin"),
    ("timezone", "New York"),
    ("timezone", "localtime"),
    ("timezone", "../../etc/passwd"),
    ("timezone", "Europe"),
    ("timezone", "5"),
    ("max_age", "90"),
    ("max_age", "0d"),
    ("max_age", "-7d"),
    ("max_age", "0"),
    ("max_age", "30 days"),
    ("max_age", "1.5h"),
    ("max_age", "7D"),
    ("max_age", "999999w"),
    ("max_age", "1h30m"),
    ("max_messages", "0"),
    ("max_messages", "-1"),
    ("max_messages", "1e3"),
    ("max_messages", "99999999999"),
    ("max_bytes", "0"),
    ("max_bytes", "0MB"),
    ("max_bytes", "-10MB"),
    ("max_bytes", "10M"),
    ("max_bytes", "ten"),
    ("max_bytes", "1.0000005MB"),
    ("max_bytes", "999999999TB"),
    ("max_turns", "0"),
    ("max_turns", "many"),
    ("warn_at", "0"),
    ("warn_at", "1"),
    ("warn_at", "0.0"),
    ("warn_at", "1.0"),
    ("warn_at", "1.5"),
    ("warn_at", "2"),
    ("warn_at", "80"),
    ("warn_at", "99.5"),
    ("warn_at", "100%"),
    ("warn_at", "-0.5"),
    ("warn_at", ".nan"),
    ("warn_at", "1e999"),
    ("rules", "{sources: [a]}"),
    ("rules", "telegram"),
]

SOUND = [
    ("mode", "none"),
    ("mode", "'both'"),
    ("idle_minutes", "1"),
    ("at_hour", "0"),
    ("at_hour", "23"),
    ("timezone", "America/Argentina/Buenos_Aires"),
    ("max_age", "2w"),
    ("max_age", "null"),
    ("max_age", "~"),
    ("max_messages", "null"),
    ("max_bytes", "1"),
    ("max_bytes", "1.5GB"),
    ("max_bytes", "512KiB"),
    ("max_bytes", "10 mb"),
    ("warn_at", "80%"),
    ("warn_at", "0.999"),
    ("warn_at", ".5"),
    ("warn_at", "1.0e-05"),
]


def problem_of(tmp_path: Path, text: str) -> Problem:
    file = tmp_path / "sexton.yaml"
    file.write_text(text)
    (problem,) = problems(file, {})
    return problem


def test_a_mistake_is_refused_with_a_hint(tmp_path: Path) -> None:
    told = []
    for name, value in MISTAKES:
        problem = problem_of(tmp_path, f"reset:\n  {name}: {value}\n")
        assert problem.where == f"reset.{name}"
        told.append(f"{name}: {problem.message}")
    golden("settings", "reset: mistakes", "\n".join(told))


@pytest.mark.parametrize(("name", "value"), MISTAKES)
def test_a_mistake_in_a_rule_is_refused_too(tmp_path: Path, name: str, value: str) -> None:
    if name == "rules":
        return
    alone = problem_of(tmp_path, f"reset:\n  {name}: {value}\n")
    text = f"reset:\n  rules:\n    - sources: [a]\n      {name}: {value}\n"
    problem = problem_of(tmp_path, text)
    assert (problem.line, problem.column) == (4, len(name) + (9 if value else 8))
    assert problem.message == alone.message


@pytest.mark.parametrize(("name", "value"), SOUND)
def test_a_sound_value_is_taken(tmp_path: Path, name: str, value: str) -> None:
    file = tmp_path / "sexton.yaml"
    file.write_text(f"reset:\n  {name}: {value}\n")
    load(file, {})


ELSEWHERE = (
    "keeper: {sweep_every: 0s}",
    "keeper: {sweep_every: 60}",
    "keeper: {sweep_every: null}",
    "keeper: {sweep_every: -60s}",
    "keeper: 60s",
    "liveness: {dies_with_owner: cli}",
    "liveness: {dies_with_owner: null}",
    "liveness: {dies_with_owner: [cli, '']}",
    "liveness: {dies_with_owner: [3]}",
    "liveness: {ttl: 0s}",
    "liveness: {ttl: 90}",
    "liveness: {ttl: 29s}",
    "liveness: {beat_every: 46s}",
    "liveness: {beat_every: 0s}",
    "liveness: {lock_delay: -1s}",
    "liveness: {stall_after: null}",
    "liveness: {inactivity_bound: 7d}",
    "liveness: {inactivity_bound: [a]}",
    "liveness: {inactivity_bound: {a: 0d}}",
    "liveness: {inactivity_bound: {a: 7}}",
    "liveness: {inactivity_bound: {'': 7d}}",
    "liveness: {inactivity_bound: {a: null}}",
    "processes: {on_end: stopp}",
    "processes: {on_reap: null}",
    "processes: {window: 0s}",
    "processes: {grace: null}",
    "reset: {rules: [{mode: idle}]}",
    "reset: {rules: [{}]}",
    "reset: {rules: [5]}",
    "reset: {rules: [{sources: []}]}",
    "reset: {rules: [{keys: null}]}",
    'reset: {rules: [{keys: "agent:*"}]}',
    'reset: {rules: [{keys: ["a\\0"]}]}',
    "homes: [{path: ''}]",
    "homes: [{path: ~}]",
    "homes: [{path: 3}]",
    "homes: [{kind: hermes}]",
    "homes: [{path: a, kind: codex}]",
    "homes: [{path: a, act: yes}]",
    "homes: [{path: a, act: 1}]",
    "homes: [{path: a, name: native}]",
    "homes: [{path: a, name: a/b}]",
    "homes: [{path: a, name: null}]",
    "homes: [a]",
    "homes: {path: a}",
)


def test_a_mistake_outside_of_reset_is_refused_with_a_hint(tmp_path: Path) -> None:
    told = []
    for text in ELSEWHERE:
        problem = problem_of(tmp_path, text)
        told.append(f"{problem.where}: {problem.message}")
    golden("settings", "mistakes outside of reset", "\n".join(told))
