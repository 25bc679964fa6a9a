"""Are settings read as written, and is every problem told with its place?"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from sexton.errors import SettingsInvalid, SettingsNotFound
from sexton.policies.liveness import LivenessPolicy
from sexton.policies.reset import Mode, ResetPolicy
from sexton.policies.rulebook import ResetRule
from sexton.settings.loader import Problem, load, problems
from sexton.settings.values import HomeSetting, KeeperSettings, Settings

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
    assert told(file, text) == [
        "sexton.yaml:2:3: reset.idle_minuts: unknown setting; did you mean 'idle_minutes'?",
        (
            "sexton.yaml:3:9: reset.mode: expected one of none, idle, daily, both, not 'idel'; "
            "did you mean 'idle'?"
        ),
        (
            "sexton.yaml:5:7: reset.rules[0]: the rule matches every session; add sources, "
            "chat_types or keys, or set this in reset itself"
        ),
        "sexton.yaml:6:1: kepper: unknown setting; did you mean 'keeper'?",
    ]


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
    assert problems(Path("mine.yaml"), {}) == [
        Problem(
            file="mine.yaml",
            line=1,
            column=8,
            where="reset",
            message="expected a mapping of settings, not a list",
        )
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "reset:\n  idle_minutes: 5\nidle_minutes: 5\n",
            "3:1: idle_minutes: unknown setting; did you mean 'reset.idle_minutes'?",
        ),
        (
            "reset:\n  rules:\n    - {source: [a], keys: [b]}\n",
            "3:8: reset.rules[0].source: unknown setting; did you mean 'sources'?",
        ),
        (
            "homes:\n  - pth: a\n    path: b\n",
            "2:5: homes[0].pth: unknown setting; did you mean 'path'?",
        ),
        ("1: 2", "1:1: 1: unknown setting"),
        ("'': 2", "1:1: '': unknown setting"),
        (
            "reset:\n  <<: {mode: idle}\n",
            (
                "2:3: reset.<<: YAML merge keys are not supported; a rule inherits from reset by "
                "itself"
            ),
        ),
    ],
)
def test_an_unknown_setting_is_told_with_the_one_meant(file: Path, text: str, problem: str) -> None:
    assert told(file, text) == [f"sexton.yaml:{problem}"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "reset:\n\tmode: idle\n",
            "2:1: not valid YAML: a tab can not start anything in YAML; indent with spaces",
        ),
        ("reset:\n  mode: 'idle\n", "2:9: not valid YAML: a quote is opened here and never closed"),
        ('reset:\n  mode: "idle\n', "2:9: not valid YAML: a quote is opened here and never closed"),
        (
            "reset: {mode: idle",
            (
                "1:19: not valid YAML: while parsing a flow mapping, expected ',' or '}', but "
                "got '<stream end>'"
            ),
        ),
        (
            "keys: [*]",
            (
                "1:9: not valid YAML: expected alphabetic or numeric character, but found ']'; "
                "an unquoted * starts an alias, so put quotes around a pattern"
            ),
        ),
        (
            "keys: *agent",
            (
                "1:7: not valid YAML: found undefined alias 'agent'; an unquoted * starts an "
                "alias, so put quotes around a pattern"
            ),
        ),
        (
            "---\n{}\n---\n{}\n",
            (
                "3:1: not valid YAML: expected a single document in the stream, but found "
                "another document"
            ),
        ),
        ("- reset", "1:1: expected a mapping of settings, not a list"),
        ("idle", "1:1: expected a mapping of settings, not 'idle'"),
        (
            "reset:\n  mode: idle\n  mode: daily\n",
            "3:3: reset.mode: is set again; it was set on line 2",
        ),
        ("? [a]\n: b\n", "1:3: the name of a setting must be a word"),
        (
            "reset: !!python/object/apply:os.system {mode: idle}",
            (
                "1:8: reset: YAML tags like tag:yaml.org,2002:python/object/apply:os.system are "
                "not used here"
            ),
        ),
        ('reset: {mode: "\\UFFFFFFFF"}', "1:18: not valid YAML"),
        ("&a [*a]", "1:1: an alias contains itself or nests too deep"),
        ("[" * 5000, "1:21: nested more than 20 levels deep"),
        ("- " * 5000, "1:41: nested more than 20 levels deep"),
        ("reset: \0", "1:8: character U+0000 is not allowed"),
        ("reset:\n  mode: i\x07dle\n", "2:10: character U+0007 is not allowed"),
        (b"reset:\n  mode: \xe4\n", "2:9: byte 0xe4 is not UTF-8; save the file as UTF-8"),
        ("reset: {}\n".encode("utf-16"), "1:1: byte 0xff is not UTF-8; save the file as UTF-8"),
        (b"#" * 10_000_000, "1:1: the file is too large: settings have at most 256 KiB"),
    ],
)
def test_a_file_that_can_not_be_read_says_where_and_why(
    file: Path, text: str | bytes, problem: str
) -> None:
    assert told(file, text) == [f"sexton.yaml:{problem}"]


def test_aliases_that_multiply_are_refused(file: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    (problem,) = told(file, "\n".join(lines))
    assert problem.endswith("more than 10000 values, aliases included")


def test_an_alias_that_repeats_a_value_is_fine(file: Path) -> None:
    file.write_text("reset:\n  idle_minutes: &long 600\n  max_turns: *long\n")
    assert load(file, {}).rulebook.reset.max_turns == 600


def test_a_file_that_is_named_and_missing_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(SettingsNotFound, match="there is no settings file at"):
        load(tmp_path / "sexton.yaml", {})


def test_a_directory_is_no_settings_file(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, {})
    assert problem.message == "the file can not be read: Is a directory"


def test_problems_are_one_printable_line_each(file: Path) -> None:
    text = 'reset: {"mo\\nde\\ud800": 1, mode: "a\\r\\nb\\ud800\\e[31m", timezone: "\\0"}'
    for line in told(file, text):
        assert line.isprintable()
        assert line.encode()
