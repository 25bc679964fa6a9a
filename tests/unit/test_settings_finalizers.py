"""Are finalizers and notifications read as written, and mistakes told without telling secrets?"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from sexton.model.record import replace
from sexton.policies.finalizing import Owing
from sexton.settings.loader import load, problems
from sexton.settings.values import (
    FinalizerKind,
    FinalizerSetting,
    KeeperSettings,
    NotifySetting,
    Settings,
)

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
    assert told(file, text) == [
        (
            "4:14: finalizers[0].command: expected a list of a program and its arguments, not a "
            "list; the first item is the program to run"
        ),
        "5:5: finalizers[0].url: belongs to kind webhook, this is kind command",
        "6:5: finalizers[0].timout: unknown setting; did you mean 'timeout'?",
        "7:11: finalizers[1].name: finalizers[0] has the same name",
        (
            "8:11: finalizers[1].kind: expected one of memory, command, webhook, python, not "
            "'memry'; did you mean 'memory'?"
        ),
        "9:5: finalizers[2].name: is required",
        "9:5: finalizers[2].url: is required for kind webhook",
        "10:10: notify.webhok: unknown setting; did you mean 'webhook'?",
        (
            "10:30: notify.events[0]: expected one of reset, limit, dead_letter, held, process, "
            "budget, disk, not 'hold'; did you mean 'held'?"
        ),
    ]


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
    assert told(file, f"finalizers: [{{name: x, kind: {kind}}}]") == [
        f"1:14: finalizers[0].{name}: is required for kind {kind}" for name in missing
    ]


@pytest.mark.parametrize(
    ("kind", "more", "words"),
    [
        (
            "python",
            "timeout: 5s",
            "belongs to kind memory, command or webhook, this is kind python",
        ),
        ("webhook", "daily_calls: 5", "belongs to kind memory, this is kind webhook"),
        ("memory", "secret_env: A", "belongs to kind webhook, this is kind memory"),
        ("command", "timeout: 0s", "not '0s'; the shortest is 1s"),
        ("command", "timeout: -5s", "not '-5s'"),
        ("command", "timeout: 60", "the unit is missing: write 60s, 60m, 60h or 60d"),
        ("command", "timeout: null", "not null"),
        ("command", "attempts: 0", "expected a whole number, at least 1, not 0"),
        (
            "command",
            "concurrency: 257",
            "a whole number, from 1 to 256, not 257; the largest is 256",
        ),
        ("command", "concurrency: '4'", "not '4'; write 4"),
        ("command", "per_minute: 0", "or null for no limit, not 0"),
        ("command", "min_messages: 0", "not 0"),
        ("command", "sources: []", "the list is empty; leave it out to match any"),
        ("command", "sources: cli", "expected a list, not 'cli'; write [cli]"),
        ("command", "enabled: false", "unknown setting"),
        ("memory", "context_tokens: 999", "expected a whole number, at least 1000, not 999"),
        ("memory", "daily_calls: 0", "not 0"),
        ("memory", "file: ''", "the name must be text, not ''"),
        ("memory", "api_key: x", "unknown setting; did you mean 'api_key_env'?"),
    ],
)
def test_a_mistake_is_refused_with_a_hint(file: Path, kind: str, more: str, words: str) -> None:
    (problem,) = told(file, f"finalizers: [{{name: x, kind: {kind}, {SOUND[kind]}, {more}}}]")
    assert problem.endswith(words)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("prog arg", "not 'prog arg'; write the program and each argument as an item of a list"),
        ("['']", "the first item is the program to run"),
        ("[prog, 5]", "item 2 is no text; put it in quotes"),
        ('["a\\0"]', "item 1 can not be given to a program"),
        ("null", "not null"),
        ("{a: b}", "not a mapping"),
    ],
)
def test_a_command_is_a_list_of_texts(file: Path, value: str, words: str) -> None:
    (problem,) = told(file, f"finalizers: [{{name: x, kind: command, command: {value}}}]")
    assert problem.endswith(words)


@pytest.mark.parametrize("name", ["''", "a/b", "a b", "ä", "-x", "3", "null", "x" * 65])
def test_a_name_is_plain(file: Path, name: str) -> None:
    (problem,) = told(file, f"finalizers: [{{name: {name}, kind: python, entry_point: e}}]")
    assert "expected a name of letters, digits, dots, dashes and underscores, not " in problem


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            "sk-hunter2",
            "this looks like the secret itself: put it in a variable and write its name",
        ),
        ("ghp_hunter2", "this looks like the secret itself"),
        ("hunter2hunter2hunter2", "this looks like the secret itself"),
        ("slack://hunter2/x", "this looks like the secret itself"),
        ("hunter2-x", "a name has letters, digits and underscores only"),
        ("$hunter2", "a name has letters, digits and underscores only"),
        ("SEXTON_hunter2", "names that start with SEXTON_ are for settings"),
    ],
)
def test_a_secret_in_place_of_a_variables_name_is_refused_and_not_shown(
    file: Path, value: str, words: str
) -> None:
    for text in (
        f"finalizers: [{{name: x, kind: memory, {SOUND['memory']}, api_key_env: {value}}}]",
        f"finalizers: [{{name: x, kind: webhook, {SOUND['webhook']}, secret_env: {value}}}]",
        f"notify: {{urls_env: {value}}}",
    ):
        (problem,) = told(file, text)
        assert words in problem
        assert "hunter2" not in problem


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("https://u:hunter2@example.org", "it holds a user or a password; name a variable"),
        ("ftp://hunter2.example.org", "it must start with http:// or https://"),
        ("example.org/hunter2", "it must start with http:// or https://"),
        ("https:///hunter2", "the server is missing"),
        ("https://example.org:99999/hunter2", "expected an address like"),
        ("'https://example.org/hunter2 x'", "it has characters that an address can not have"),
        ("https://exämple.org/hunter2", "it has characters that an address can not have"),
        ("http://[hunter2", "expected an address like"),
        ("5", "not 5"),
    ],
)
def test_an_address_that_can_not_be_posted_to_is_refused_and_not_shown(
    file: Path, value: str, words: str
) -> None:
    for text in (
        f"finalizers: [{{name: x, kind: webhook, url: '{value.strip(chr(39))}'}}]",
        f"finalizers: [{{name: x, kind: memory, model: m, base_url: '{value.strip(chr(39))}'}}]",
        f"notify: {{webhook: '{value.strip(chr(39))}'}}",
    ):
        (problem,) = told(file, text if value != "5" else text.replace("'", ""))
        assert words in problem
        assert "hunter2" not in problem


def test_the_endpoint_of_a_model_is_the_part_before_the_path_of_chats(file: Path) -> None:
    text = (
        "finalizers: [{name: x, kind: memory, model: m, base_url: 'http://a/v1/chat/completions'}]"
    )
    (problem,) = told(file, text)
    assert problem.endswith("; leave out /chat/completions")


@pytest.mark.parametrize("rest", ["?key=1", "#part"])
def test_the_endpoint_of_a_model_ends_where_more_can_be_added(file: Path, rest: str) -> None:
    text = f"finalizers: [{{name: x, kind: memory, model: m, base_url: 'http://a/v1{rest}'}}]"
    (problem,) = told(file, text)
    assert "leave out what begins with ? or #" in problem


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
