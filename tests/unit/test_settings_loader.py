"""Are settings read as written, and is every problem told with its place?"""

from __future__ import annotations

import errno
import os
from datetime import timedelta
from pathlib import Path

import pytest

from sexton.errors import SettingsInvalid, SettingsNotFound
from sexton.liveness.policy import LivenessPolicy
from sexton.resets.policy import Mode, ResetPolicy
from sexton.rules.rulebook import ResetRule
from sexton.settings.loader import load, problems
from sexton.settings.settings_values import HomeSetting, KeeperSettings, Settings
from tests.golden import golden

COMPLETE = """
homes:
  - path: ~/.hermes
    kind: hermes
    name: work
    act: true
reset:
  mode: both
  idle_minutes: 90
  at_hour: 0
  timezone: Europe/Berlin
  max_age: 30d
  max_messages: null
  max_bytes: 5MiB
  max_turns: 40
  warn_at: 75%
  rules:
    - sources: [telegram, on]
      chat_types: [group]
      keys: ["agent:main:*"]
      mode: idle
      idle_minutes: 120
      max_age: null
liveness:
  dies_with_owner: []
  beat_every: 10s
  ttl: 2m
  lock_delay: 30s
  stall_after: 1h
  inactivity_bound:
    telegram: 30d
    cli: 24h
keeper:
  sweep_every: 15m
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sexton.yaml"


def told(file: Path, text: str | bytes) -> list[str]:
    """Every problem of a text, without the directory of the test."""
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [str(problem).replace(f"{file.parent}/", "") for problem in problems(file, {})]


def test_every_setting_is_read_as_it_was_written(file: Path) -> None:
    file.write_text(COMPLETE)
    settings = load(file, {"HOME": "/home/ada"})
    default = ResetPolicy(
        mode=Mode.BOTH,
        idle_minutes=90,
        at_hour=0,
        timezone="Europe/Berlin",
        max_age=timedelta(days=30),
        max_messages=None,
        max_bytes=5 * 1024**2,
        max_turns=40,
        warn_at=0.75,
    )
    assert settings.rulebook.reset == default
    assert settings.rulebook.reset_rules == (
        ResetRule(
            sources=("telegram", "on"),
            chat_types=("group",),
            keys=("agent:main:*",),
            policy=ResetPolicy(
                mode=Mode.IDLE,
                idle_minutes=120,
                at_hour=0,
                timezone="Europe/Berlin",
                max_age=None,
                max_messages=None,
                max_bytes=5 * 1024**2,
                max_turns=40,
                warn_at=0.75,
            ),
        ),
    )
    assert settings.rulebook.liveness == LivenessPolicy(
        dies_with_owner=(),
        beat_every=timedelta(seconds=10),
        ttl=timedelta(minutes=2),
        lock_delay=timedelta(seconds=30),
        stall_after=timedelta(hours=1),
        inactivity_bound=(("cli", timedelta(days=1)), ("telegram", timedelta(days=30))),
    )
    assert settings.keeper == KeeperSettings(sweep_every=timedelta(minutes=15))
    assert settings.homes == (HomeSetting(path=Path("/home/ada/.hermes"), name="work", act=True),)
    assert settings.source == str(file)
    assert settings.places["reset.rules[0].idle_minutes"] == f"{file}:22:21"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\ufeff",
        "# nothing\n",
        "---\n",
        "{}",
        "reset:\nhomes:\nliveness:\nkeeper:\nfinalizers:\nnotify:\n",
        "reset: {rules: }",
    ],
)
def test_a_file_that_sets_nothing_gives_the_defaults(file: Path, text: str) -> None:
    file.write_text(text)
    assert load(file, {}) == Settings()


def test_without_a_file_and_overrides_there_are_only_defaults() -> None:
    assert load(None, {"PATH": "/bin"}) == Settings()


def test_the_empty_device_gives_the_defaults() -> None:
    assert load(Path("/dev/null"), {}) == Settings()


def test_a_byte_order_mark_does_not_move_the_columns(file: Path) -> None:
    assert told(file, "\ufeffresett: {}") == told(file, "resett: {}")


def test_every_problem_is_told_at_once_in_the_order_of_the_file(file: Path) -> None:
    text = "reset:\n  idle_minuts: 3\n  mode: idel\n  rules:\n    - mode: idle\nkepper: {}\n"
    golden("settings", "every problem at once", "\n".join(told(file, text)))


def test_settings_that_contradict_each_other_are_told_beside_other_mistakes(file: Path) -> None:
    text = "liveness: {ttl: 1s}\nretention: {rows: archive}\nreset: {mode: idel}\n"
    assert [line.split(": ")[1] for line in told(file, text)] == [
        *("liveness.ttl", "retention.rows", "reset.mode")
    ]


@pytest.mark.parametrize(
    "text",
    [
        (
            "liveness: {dies_with_owner: [tui], ttl: soon}\n"
            "retention: {classes: [{sources: [tui], after_delivery: remove}]}"
        ),
        "liveness: 5",
        "[]",
        "liveness: {ttl: 1s",
    ],
)
def test_what_is_not_understood_contradicts_nothing(file: Path, text: str) -> None:
    file.write_text(text)
    found = problems(file, {"SEXTON_LIVENESS__LOCK_DELAY": "5s"})
    assert len(found) == 1


def test_the_error_is_the_list_of_problems(file: Path) -> None:
    file.write_text("reset:\n  mode: 1\n  at_hour: 24\n")
    with pytest.raises(SettingsInvalid) as caught:
        load(file, {})
    assert str(caught.value).splitlines() == [str(problem) for problem in problems(file, {})]
    assert len(str(caught.value).splitlines()) == 2


def test_the_file_is_named_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text("reset: []")
    (found,) = problems(Path("mine.yaml"), {})
    assert (found.file, found.line, found.column, found.where) == ("mine.yaml", 1, 8, "reset")


UNKNOWN = (
    "reset:\n  idle_minutes: 5\nidle_minutes: 5\n",
    "reset:\n  rules:\n    - {source: [a], keys: [b]}\n",
    "homes:\n  - pth: a\n    path: b\n",
    "1: 2",
    "'': 2",
    "reset:\n  <<: {mode: idle}\n",
)


def test_an_unknown_setting_is_told_with_the_one_meant(file: Path) -> None:
    problems = []
    for text in UNKNOWN:
        (problem,) = told(file, text)
        problems.append(problem)
    golden("settings", "unknown settings", "\n".join(problems))


UNREADABLE: tuple[str | bytes, ...] = (
    "reset:\n\tmode: idle\n",
    "reset:\n  mode: 'idle\n",
    'reset:\n  mode: "idle\n',
    "reset: {mode: idle",
    "keys: [*]",
    "keys: *agent",
    "---\n{}\n---\n{}\n",
    "- reset",
    "idle",
    "reset:\n  mode: idle\n  mode: daily\n",
    "? [a]\n: b\n",
    "reset: !!python/object/apply:os.system {mode: idle}",
    'reset: {mode: "\\UFFFFFFFF"}',
    "&a [*a]",
    "[" * 5000,
    "- " * 5000,
    "reset: \0",
    "reset:\n  mode: i\x07dle\n",
    b"reset:\n  mode: \xe4\n",
    "reset: {}\n".encode("utf-16"),
    b"#" * 10_000_000,
)


def test_a_file_that_can_not_be_read_says_where_and_why(file: Path) -> None:
    problems = []
    for text in UNREADABLE:
        (problem,) = told(file, text)
        problems.append(problem)
    golden("settings", "files that can not be read", "\n".join(problems))


def test_aliases_that_multiply_are_refused(file: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    (problem,) = told(file, "\n".join(lines))
    golden("settings", "aliases that multiply", problem)


def test_an_alias_that_repeats_a_value_is_fine(file: Path) -> None:
    file.write_text("reset:\n  idle_minutes: &long 600\n  max_turns: *long\n")
    assert load(file, {}).rulebook.reset.max_turns == 600


def test_a_file_that_is_named_and_missing_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(SettingsNotFound):
        load(tmp_path / "sexton.yaml", {})


def test_a_directory_is_no_settings_file(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, {})
    assert problem.message.endswith(os.strerror(errno.EISDIR))


def test_problems_are_one_printable_line_each(file: Path) -> None:
    odd = 'reset: {"mo\\nde": 1, mode: "a\\r\\nb\\e[31m", timezone: "\\0"}'
    lines = [*told(file, odd), *told(file, odd.replace("mo", "\\ud800"))]
    assert len(lines) == 6
    for line in lines:
        assert line.isprintable()
        assert line.encode()
