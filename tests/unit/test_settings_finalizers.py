"""Are finalizers and notifications read as written, and mistakes told without telling secrets?"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from sexton.core.record import replace
from sexton.finalizers.policy import Owing
from sexton.settings.loader import load, problems
from sexton.settings.settings_values import (
    FinalizerKind,
    FinalizerSetting,
    KeeperSettings,
    NotifySetting,
    Settings,
)
from tests.golden import golden

COMPLETE = """
finalizers:
  - name: log
    kind: command
    command: ["prog", "arg"]
    cwd: ~/work
    sources: [cli]
    timeout: 90s
  - name: memories
    kind: memory
    base_url: http://127.0.0.1:8080/v1
    model: some-model
    api_key_env: OPENAI_API_KEY
    file: notes/memories.md
    context_tokens: 8000
    min_messages: 6
    daily_calls: null
    attempts: 3
    concurrency: 2
    per_minute: 30
  - name: hook
    kind: webhook
    url: https://example.org/hook?a=b
    secret_env: HOOK_SECRET
  - name: mine
    kind: python
    entry_point: archive
notify:
  urls_env: NOTIFY_URLS
  webhook: http://127.0.0.1:9/
  secret_env: NOTIFY_SECRET
  events: [held, reset]
  held_after: 2h
keeper:
  finalizers_at_once: 5
"""

SOUND = {
    "command": "command: [prog]",
    "memory": "base_url: 'http://[::1]:8080', model: m",
    "webhook": "url: https://example.org",
    "python": "entry_point: e",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "sexton.yaml"


def read(file: Path, text: str) -> Settings:
    file.write_text(text)
    return load(file, {"HOME": "/home/ada"})


def told(file: Path, text: str) -> list[str]:
    file.write_text(text)
    return [str(problem).removeprefix(f"{file}:") for problem in problems(file, {})]


def owed(file: Path, more: str) -> Owing:
    (owing,) = read(file, f"finalizers: [{{name: x, {more}}}]").rulebook.finalizers
    return owing


def test_everything_is_read_as_it_was_written(file: Path) -> None:
    settings = read(file, COMPLETE)
    assert settings.finalizers == (
        FinalizerSetting(
            name="log",
            kind=FinalizerKind.COMMAND,
            command=("prog", "arg"),
            cwd=Path("/home/ada/work"),
            sources=("cli",),
            timeout=timedelta(seconds=90),
        ),
        FinalizerSetting(
            name="memories",
            kind=FinalizerKind.MEMORY,
            spared=("cron",),
            base_url="http://127.0.0.1:8080/v1",
            model="some-model",
            api_key_env="OPENAI_API_KEY",
            file=file.parent / "notes" / "memories.md",
            context_tokens=8000,
            min_messages=6,
            daily_calls=None,
            attempts=3,
            concurrency=2,
            per_minute=30,
            timeout=timedelta(minutes=5),
        ),
        FinalizerSetting(
            name="hook",
            kind=FinalizerKind.WEBHOOK,
            url="https://example.org/hook?a=b",
            secret_env="HOOK_SECRET",
        ),
        FinalizerSetting(
            name="mine", kind=FinalizerKind.PYTHON, concurrency=1, entry_point="archive"
        ),
    )
    assert settings.notify == NotifySetting(
        urls_env="NOTIFY_URLS",
        webhook="http://127.0.0.1:9/",
        secret_env="NOTIFY_SECRET",
        events=("held", "reset"),
        held_after=timedelta(hours=2),
    )
    assert settings.keeper == KeeperSettings(finalizers_at_once=5)


def test_all_keepers_share_who_owes_what_and_not_how_it_is_done(file: Path) -> None:
    assert read(file, COMPLETE).rulebook.finalizers == (
        Owing(name="log", sources=("cli",), min_messages=1),
        Owing(name="memories", spared=("cron",), min_messages=6),
        Owing(name="hook", min_messages=1),
        Owing(name="mine", min_messages=1),
    )


def test_settings_differ_by_how_the_work_is_done_and_who_is_told(file: Path) -> None:
    settings = read(file, COMPLETE)
    moved = replace(settings.finalizers[2], url="https://example.net")
    assert replace(settings, finalizers=(*settings.finalizers[:2], moved)) != settings
    assert replace(settings, notify=NotifySetting()) != settings
    assert replace(settings, places={}) == settings


@pytest.mark.parametrize(
    ("sources", "cron", "cli"),
    [
        (None, False, True),
        ("[cron]", True, False),
        ("['*']", False, True),
        ("['*', cron]", True, True),
        ("[cli]", False, True),
    ],
)
def test_memory_spares_cron_unless_it_is_named(
    file: Path, sources: str | None, cron: bool, cli: bool
) -> None:
    more = f", sources: {sources}" if sources else ""
    rule = owed(file, f"kind: memory, {SOUND['memory']}{more}")
    assert (rule.includes("cron"), rule.includes("cli")) == (cron, cli)
    assert not set(rule.spared) & set(rule.sources)


def test_other_kinds_spare_nobody(file: Path) -> None:
    assert owed(file, f"kind: command, {SOUND['command']}").includes("cron")


def test_every_problem_is_told_at_once_in_the_order_of_the_file(file: Path) -> None:
    text = """finalizers:
  - name: log
    kind: command
    command: []
    url: https://example.org
    timout: 5s
  - name: log
    kind: memry
  - kind: webhook
notify: {webhok: x, events: [hold]}
"""
    golden("settings", "finalizers: every problem at once", "\n".join(told(file, text)))


@pytest.mark.parametrize(
    ("kind", "missing"),
    [
        ("memory", ["base_url", "model"]),
        ("command", ["command"]),
        ("webhook", ["url"]),
        ("python", ["entry_point"]),
    ],
)
def test_what_a_kind_needs_is_required(file: Path, kind: str, missing: list[str]) -> None:
    problems = told(file, f"finalizers: [{{name: x, kind: {kind}}}]")
    assert [each.split(": ")[1] for each in problems] == [f"finalizers[0].{n}" for n in missing]
    golden("settings", f"finalizers: required for {kind}", "\n".join(problems))


MISTAKES = (
    ("python", "timeout: 5s"),
    ("webhook", "daily_calls: 5"),
    ("memory", "secret_env: A"),
    ("command", "timeout: 0s"),
    ("command", "timeout: -5s"),
    ("command", "timeout: 60"),
    ("command", "timeout: null"),
    ("command", "attempts: 0"),
    ("command", "concurrency: 257"),
    ("command", "concurrency: '4'"),
    ("command", "per_minute: 0"),
    ("command", "min_messages: 0"),
    ("command", "sources: []"),
    ("command", "sources: cli"),
    ("command", "enabled: false"),
    ("memory", "context_tokens: 999"),
    ("memory", "daily_calls: 0"),
    ("memory", "file: ''"),
    ("memory", "api_key: x"),
)


def test_a_mistake_is_refused_with_a_hint(file: Path) -> None:
    problems = []
    for kind, more in MISTAKES:
        text = f"finalizers: [{{name: x, kind: {kind}, {SOUND[kind]}, {more}}}]"
        (problem,) = told(file, text)
        problems.append(problem)
    golden("settings", "finalizers: mistakes", "\n".join(problems))


def test_a_command_is_a_list_of_texts(file: Path) -> None:
    problems = []
    for value in ("prog arg", "['']", "[prog, 5]", '["a\\0"]', "null", "{a: b}"):
        text = f"finalizers: [{{name: x, kind: command, command: {value}}}]"
        (problem,) = told(file, text)
        problems.append(problem)
    golden("settings", "finalizers: no command", "\n".join(problems))


def test_a_name_is_plain(file: Path) -> None:
    problems = []
    for name in ("''", "a/b", "a b", "ä", "-x", "3", "null", "x" * 65):
        (problem,) = told(file, f"finalizers: [{{name: {name}, kind: python, entry_point: e}}]")
        problems.append(problem)
    golden("settings", "finalizers: no name", "\n".join(problems))


SECRETS = (
    "sk-hunter2",
    "ghp_hunter2",
    "hunter2hunter2hunter2",
    "slack://hunter2/x",
    "hunter2-x",
    "$hunter2",
    "SEXTON_hunter2",
)


def test_a_secret_in_place_of_a_variables_name_is_refused_and_not_shown(file: Path) -> None:
    problems = []
    for value in SECRETS:
        for text in (
            f"finalizers: [{{name: x, kind: memory, {SOUND['memory']}, api_key_env: {value}}}]",
            f"finalizers: [{{name: x, kind: webhook, {SOUND['webhook']}, secret_env: {value}}}]",
            f"notify: {{urls_env: {value}}}",
        ):
            (problem,) = told(file, text)
            assert "hunter2" not in problem
            problems.append(problem)
    golden("settings", "finalizers: a secret instead of a variable", "\n".join(problems))


ADDRESSES = (
    "https://u:hunter2@example.org",
    "ftp://hunter2.example.org",
    "example.org/hunter2",
    "https:///hunter2",
    "https://example.org:99999/hunter2",
    "https://example.org/hunter2 x",
    "https://exämple.org/hunter2",
    "http://[hunter2",
)


def test_an_address_that_can_not_be_posted_to_is_refused_and_not_shown(file: Path) -> None:
    problems = []
    for value in (*(f"'{each}'" for each in ADDRESSES), "5"):
        for text in (
            f"finalizers: [{{name: x, kind: webhook, url: {value}}}]",
            f"finalizers: [{{name: x, kind: memory, model: m, base_url: {value}}}]",
            f"notify: {{webhook: {value}}}",
        ):
            (problem,) = told(file, text)
            assert "hunter2" not in problem
            problems.append(problem)
    golden("settings", "finalizers: no address", "\n".join(problems))


def test_the_endpoint_of_a_model_is_the_part_before_the_path_of_chats(file: Path) -> None:
    text = (
        "finalizers: [{name: x, kind: memory, model: m, base_url: 'http://a/v1/chat/completions'}]"
    )
    (problem,) = told(file, text)
    golden("settings", "finalizers: an endpoint with its path", problem)


@pytest.mark.parametrize("rest", ["?key=1", "#part"])
def test_the_endpoint_of_a_model_ends_where_more_can_be_added(file: Path, rest: str) -> None:
    text = f"finalizers: [{{name: x, kind: memory, model: m, base_url: 'http://a/v1{rest}'}}]"
    (problem,) = told(file, text)
    golden("settings", f"finalizers: an endpoint with {rest[0]}", problem)


def test_a_program_runs_beside_the_file_unless_told_otherwise(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    (setting,) = read(file, "finalizers: [{name: x, kind: command, command: [./a]}]").finalizers
    assert setting.cwd == file.parent


def test_a_variable_can_name_the_target_of_notifications() -> None:
    environ = {"SEXTON_NOTIFY__WEBHOOK": "https://example.org", "SEXTON_NOTIFY__EVENTS": "[held]"}
    settings = load(None, environ)
    assert settings.notify == NotifySetting(webhook="https://example.org", events=("held",))
    assert settings.notify.has_target
