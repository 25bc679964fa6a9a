"""Are values that can only be mistakes refused, with what to write instead?"""

from __future__ import annotations

from pathlib import Path

import pytest

from sexton.settings.loader import load, problems

MISTAKES = [
    ("mode", "idel", "not 'idel'; did you mean 'idle'?"),
    ("mode", "IDLE", "not 'IDLE'; did you mean 'idle'?"),
    ("mode", "off", "not 'off'; write none"),
    ("mode", "false", "not false; write none"),
    ("mode", "null", "not null; write none"),
    ("mode", "", "not null; write none"),
    ("mode", "1", "not 1"),
    ("mode", "[idle]", "not a list"),
    ("idle_minutes", "0", "not 0"),
    ("idle_minutes", "-5", "not -5"),
    ("idle_minutes", "true", "not true"),
    ("idle_minutes", "null", "not null"),
    ("idle_minutes", "2h", "not '2h'; write 120"),
    ("idle_minutes", "90m", "not '90m'; write 90"),
    ("idle_minutes", "1.5 hours", "not '1.5 hours'; write 90"),
    ("idle_minutes", "30s", "not '30s'"),
    ("idle_minutes", "'120'", "not '120'; write 120"),
    ("idle_minutes", "010", "not '010'; write 10"),
    ("idle_minutes", "1_440", "not '1_440'; write 1440"),
    ("idle_minutes", "2.5", "not 2.5"),
    ("idle_minutes", "90.0", "not 90.0; write 90"),
    ("idle_minutes", "99999999999", "the largest is 52560000"),
    ("idle_minutes", "9" * 5000, f"not '{'9' * 60}…'"),
    ("at_hour", "24", "not 24; midnight is 0"),
    ("at_hour", "-1", "not -1"),
    ("at_hour", "04", "not '04'; write 4"),
    ("at_hour", "no", "not 'no'"),
    ("at_hour", "on", "not 'on'"),
    ("at_hour", "4:00", "not '4:00'; write 4"),
    ("at_hour", "16:00", "not '16:00'; write 16"),
    ("at_hour", "4:30", "not '4:30'; daily resets happen on the hour"),
    ("at_hour", "24:00", "not '24:00'; midnight is 0"),
    ("at_hour", "99:00", "not '99:00'"),
    ("at_hour", "4.5", "not 4.5"),
    ("timezone", "Europe/Berln", "not 'Europe/Berln'; did you mean 'Europe/Berlin'?"),
    ("timezone", "europe/berlin", "did you mean 'Europe/Berlin'?"),
    ("timezone", "New York", "did you mean 'America/New_York'?"),
    ("timezone", "localtime", "not 'localtime'"),
    ("timezone", "../../etc/passwd", "not '../../etc/passwd'"),
    ("timezone", "Europe", "not 'Europe'"),
    ("timezone", "5", "not 5"),
    ("max_age", "90", "not 90; the unit is missing: write 90s, 90m, 90h or 90d"),
    ("max_age", "0d", "not '0d'; the shortest is 1s"),
    ("max_age", "-7d", "not '-7d'"),
    ("max_age", "0", "not 0"),
    ("max_age", "30 days", "not '30 days'; write 30d"),
    ("max_age", "1.5h", "not '1.5h'; write 90m"),
    ("max_age", "7D", "not '7D'; write 7d"),
    ("max_age", "999999w", "not '999999w'"),
    ("max_age", "1h30m", "not '1h30m'"),
    ("max_messages", "0", "not 0"),
    ("max_messages", "-1", "not -1"),
    ("max_messages", "1e3", "not 1000.0; write 1000"),
    ("max_messages", "99999999999", "the largest is 1000000000"),
    ("max_bytes", "0", "not 0"),
    ("max_bytes", "0MB", "not '0MB'"),
    ("max_bytes", "-10MB", "not '-10MB'"),
    ("max_bytes", "10M", "not '10M'; write 10MB or 10MiB"),
    ("max_bytes", "ten", "not 'ten'"),
    ("max_bytes", "1.0000005MB", "not '1.0000005MB'"),
    ("max_bytes", "999999999TB", "the largest is 1000000000000000"),
    ("max_turns", "0", "not 0"),
    ("max_turns", "many", "not 'many'"),
    ("warn_at", "0", "not 0"),
    ("warn_at", "1", "not 1"),
    ("warn_at", "0.0", "not 0.0"),
    ("warn_at", "1.0", "not 1.0"),
    ("warn_at", "1.5", "not 1.5; 1 is the whole, 80% is four fifths of it"),
    ("warn_at", "2", "not 2; write 0.02"),
    ("warn_at", "80", "not 80; write 0.8"),
    ("warn_at", "99.5", "not 99.5; write 0.995"),
    ("warn_at", "100%", "not '100%'"),
    ("warn_at", "-0.5", "not -0.5"),
    ("warn_at", ".nan", "not '.nan'"),
    ("warn_at", "1e999", "not inf"),
    ("rules", "{sources: [a]}", "expected a list, not a mapping"),
    ("rules", "telegram", "expected a list, not 'telegram'; write [telegram]"),
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


def problem_of(tmp_path: Path, text: str) -> str:
    file = tmp_path / "sexton.yaml"
    file.write_text(text)
    (problem,) = problems(file, {})
    return str(problem)


@pytest.mark.parametrize(("name", "value", "words"), MISTAKES)
def test_a_mistake_is_refused_with_a_hint(
    tmp_path: Path, name: str, value: str, words: str
) -> None:
    problem = problem_of(tmp_path, f"reset:\n  {name}: {value}\n")
    assert f"reset.{name}: " in problem
    assert problem.endswith(words)


@pytest.mark.parametrize(("name", "value", "words"), MISTAKES)
def test_a_mistake_in_a_rule_is_refused_too(
    tmp_path: Path, name: str, value: str, words: str
) -> None:
    if name == "rules":
        return
    text = f"reset:\n  rules:\n    - sources: [a]\n      {name}: {value}\n"
    problem = problem_of(tmp_path, text)
    assert f"sexton.yaml:4:{9 + len(name) if value else 8 + len(name)}: " in problem
    assert problem.endswith(words)


@pytest.mark.parametrize(("name", "value"), SOUND)
def test_a_sound_value_is_taken(tmp_path: Path, name: str, value: str) -> None:
    file = tmp_path / "sexton.yaml"
    file.write_text(f"reset:\n  {name}: {value}\n")
    load(file, {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("keeper: {sweep_every: 0s}", "not '0s'; the shortest is 1s"),
        ("keeper: {sweep_every: 60}", "write 60s, 60m, 60h or 60d"),
        ("keeper: {sweep_every: null}", "not null"),
        ("keeper: {sweep_every: -60s}", "not '-60s'"),
        ("keeper: 60s", "expected a mapping of settings, not '60s'"),
        ("liveness: {dies_with_owner: cli}", "expected a list, not 'cli'; write [cli]"),
        ("liveness: {dies_with_owner: null}", "expected a list, not null"),
        ("liveness: {dies_with_owner: [cli, '']}", "the name must be text, not ''"),
        ("liveness: {dies_with_owner: [3]}", "expected a name, not 3"),
        ("liveness: {ttl: 0s}", "not '0s'; the shortest is 1s"),
        ("liveness: {ttl: 90}", "write 90s, 90m, 90h or 90d"),
        ("liveness: {ttl: 29s}", "ttl is 29s, beat_every is 15s"),
        ("liveness: {beat_every: 46s}", "beat_every is 46s, ttl is 90s"),
        ("liveness: {beat_every: 0s}", "not '0s'; the shortest is 1s"),
        ("liveness: {lock_delay: -1s}", "not '-1s'"),
        ("liveness: {stall_after: null}", "not null"),
        ("liveness: {inactivity_bound: 7d}", "a mapping of sources to durations, not '7d'"),
        ("liveness: {inactivity_bound: [a]}", "a mapping of sources to durations, not a list"),
        ("liveness: {inactivity_bound: {a: 0d}}", "not '0d'; the shortest is 1s"),
        ("liveness: {inactivity_bound: {a: 7}}", "write 7s, 7m, 7h or 7d"),
        ("liveness: {inactivity_bound: {'': 7d}}", "the name must be text, not ''"),
        ("liveness: {inactivity_bound: {a: null}}", "not null"),
        ("processes: {on_end: stopp}", "not 'stopp'; did you mean 'stop'?"),
        ("processes: {on_reap: null}", "expected one of warn, stop, keep, not null"),
        ("processes: {window: 0s}", "not '0s'; the shortest is 1s"),
        ("processes: {grace: null}", "not null"),
        ("reset: {rules: [{mode: idle}]}", "or set this in reset itself"),
        ("reset: {rules: [{}]}", "or set this in reset itself"),
        ("reset: {rules: [5]}", "expected a mapping of settings, not 5"),
        ("reset: {rules: [{sources: []}]}", "the list is empty; leave it out to match any"),
        ("reset: {rules: [{keys: null}]}", "expected a list, not null"),
        ('reset: {rules: [{keys: "agent:*"}]}', "not 'agent:*'; write ['agent:*']"),
        ('reset: {rules: [{keys: ["a\\0"]}]}', "the name contains a NUL character"),
        ("homes: [{path: ''}]", "the name must be text, not ''"),
        ("homes: [{path: ~}]", "not null; quote it: '~'"),
        ("homes: [{path: 3}]", "expected a directory, not 3"),
        ("homes: [{kind: hermes}]", "homes[0].path: is required"),
        ("homes: [{path: a, kind: codex}]", "not 'codex'; write hermes"),
        ("homes: [{path: a, act: yes}]", "not 'yes'; write true"),
        ("homes: [{path: a, act: 1}]", "expected true or false, not 1"),
        ("homes: [{path: a, name: native}]", "'native' is the name of Sexton's own sessions"),
        ("homes: [{path: a, name: a/b}]", "expected a name without spaces and slashes, not 'a/b'"),
        ("homes: [{path: a, name: null}]", "not null"),
        ("homes: [a]", "expected a mapping of settings, not 'a'"),
        ("homes: {path: a}", "expected a list, not a mapping"),
    ],
)
def test_a_mistake_outside_of_reset_is_refused_with_a_hint(
    tmp_path: Path, text: str, words: str
) -> None:
    assert problem_of(tmp_path, text).endswith(words)
