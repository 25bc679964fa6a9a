"""Are rules and settings that do nothing found, and only those?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.core.session import Session
from sexton.resets.policy import Mode, ResetPolicy
from sexton.rules.rulebook import ResetRule, Rulebook
from sexton.settings.lint import Finding, inert
from sexton.settings.loader import load
from sexton.settings.settings_values import Settings
from tests.golden import golden

FINALIZER = "name: x, kind: python, entry_point: e"
NOW = datetime(2026, 6, 1, tzinfo=UTC)


def findings(tmp_path: Path, text: str) -> list[Finding]:
    file = tmp_path / "sexton.yaml"
    file.write_text(text)
    return inert(load(file, {}))


def place(found: Finding, tmp_path: Path) -> str:
    """Line, column and setting."""
    return f"{found.location}: {found.where}".removeprefix(f"{tmp_path / 'sexton.yaml'}:")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("reset: {idle_minutes: 5}", "1:23: reset.idle_minutes"),
        (
            "reset: {mode: daily, idle_minutes: 5}",
            "1:36: reset.idle_minutes",
        ),
        ("reset: {mode: idle, at_hour: 5}", "1:30: reset.at_hour"),
        ("reset: {mode: none, timezone: UTC}", "1:31: reset.timezone"),
        (
            "reset: {warn_at: 0.5, max_messages: null, max_bytes: null}",
            "1:18: reset.warn_at",
        ),
        (
            "reset: {rules: [{keys: [a], mode: daily, idle_minutes: 5}]}",
            "1:56: reset.rules[0].idle_minutes",
        ),
        (
            "reset: {mode: idle, idle_minutes: 1440, max_age: 24h}",
            "1:35: reset.idle_minutes",
        ),
        (
            "reset: {mode: idle, max_age: 1h}",
            "1:8: reset.idle_minutes",
        ),
        (
            "reset: {mode: both, idle_minutes: 1500}",
            "1:35: reset.idle_minutes",
        ),
        (
            "reset: {mode: idle, rules: [{keys: [a], max_age: 2h}]}",
            ("1:29: reset.rules[0].idle_minutes"),
        ),
        (
            "reset: {rules: [{keys: [a], mode: idle}, {keys: [a], mode: daily}]}",
            "1:17: reset.rules[0]",
        ),
        (
            (
                "reset: {rules: [{sources: [a, b], mode: idle}, {sources: [a], mode: daily}, "
                "{sources: [b, c], mode: both}]}"
            ),
            ("1:17: reset.rules[0]"),
        ),
        (
            (
                "reset: {rules: [{keys: ['*'], sources: [a], mode: idle}, {sources: [a], mode: "
                "daily}]}"
            ),
            "1:58: reset.rules[1]",
        ),
        (
            "reset: {rules: [{keys: ['*'], mode: idle}]}",
            "1:8: reset",
        ),
        (
            "reset: {mode: idle, rules: [{sources: [a], mode: idle}]}",
            "1:29: reset.rules[0]",
        ),
        (
            (
                "reset: {rules: [{sources: [a], mode: idle}, {sources: [a], chat_types: [g], "
                "mode: idle}]}"
            ),
            "1:45: reset.rules[1]",
        ),
        (
            f"finalizers: [{{{FINALIZER}, concurrency: 8}}]\nkeeper: {{finalizers_at_once: 5}}",
            ("1:67: finalizers[0].concurrency"),
        ),
        (
            f"finalizers: [{{{FINALIZER}, sources: ['*', cli, cron]}}]",
            "1:63: finalizers[0].sources",
        ),
        (
            "keeper: {finalizers_at_once: 5}",
            "1:30: keeper.finalizers_at_once",
        ),
        (
            "notify: {events: [held], held_after: 2h}",
            "1:9: notify",
        ),
        (
            "notify: {urls_env: A, secret_env: B}",
            "1:35: notify.secret_env",
        ),
        (
            "notify: {urls_env: A, held_after: 2h, events: [reset]}",
            "1:35: notify.held_after",
        ),
    ],
)
def test_what_does_nothing_is_told_with_its_place(tmp_path: Path, text: str, found: str) -> None:
    (only,) = findings(tmp_path, text)
    assert place(only, tmp_path) == found
    golden("settings", f"does nothing: {' '.join(text.split())}", only.message)


@pytest.mark.parametrize(
    ("budgets", "idle", "by"),
    [
        ("{scope: tree, tokens: 9000000, per: 1h, name: a}", "a", "budgets[tree.tokens/1h]"),
        ("{scope: turn, iterations: 300, name: a}", "a", "budgets[turn.iterations]"),
        (
            "{scope: session, usd: 2, action: kill, name: a}, {scope: session, usd: 1, name: b}",
            "a",
            "budgets[b]",
        ),
        (
            (
                "{scope: session, wall: 9h, sources: [x, y], name: a}, "
                "{scope: session, wall: 1h, sources: [x], name: b}, "
                "{scope: session, wall: 2h, sources: [y, z], name: c}"
            ),
            "a",
            "budgets[b] or budgets[c]",
        ),
        (
            (
                "{scope: day, usd: 1, sources: [x], name: a}, "
                "{scope: day, usd: 1, sources: [x], name: b}"
            ),
            "b",
            "budgets[a]",
        ),
    ],
)
def test_a_budget_that_another_is_always_spent_before_is_named(
    tmp_path: Path, budgets: str, idle: str, by: str
) -> None:
    (found,) = findings(tmp_path, f"budgets: [{budgets}]")
    assert place(found, tmp_path) == f"1:10: budgets[{idle}]"
    assert by in found.message
    golden("settings", f"never stops anything: {by}", found.message)


def test_a_budget_whose_name_a_later_entry_has_is_named(tmp_path: Path) -> None:
    entries = ("usd: 1, tokens: 1", "usd: 2, tokens: 2, messages: 9", "tokens: 3, wall: 1h")
    listed = "".join(f"\n - {{name: a, scope: session, {each}}}" for each in entries)
    found = findings(tmp_path, f"budgets:{listed}")
    assert [place(each, tmp_path) for each in found] == [
        "2:4: budgets[0]", "2:4: budgets[0]", "3:4: budgets[1]",
    ]  # fmt: skip
    golden("settings", "budgets of one name", "\n".join(each.message for each in found))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "reset: {mode: both, idle_minutes: 1440, at_hour: 3, timezone: Europe/Berlin}",
        "reset: {idle_minutes: 5, rules: [{keys: [a], mode: idle}]}",
        (
            "reset: {warn_at: 0.5, max_messages: null, max_bytes: null, rules: [{keys: [a], "
            "max_turns: 3}]}"
        ),
        "reset: {mode: idle, max_age: 30d}",
        (
            "reset: {rules: [{keys: ['agent:*'], mode: idle}, {keys: ['*'], sources: [a], "
            "mode: daily}]}"
        ),
        "reset: {rules: [{sources: [a], mode: idle}, {chat_types: [g], mode: daily}]}",
        "reset: {rules: [{sources: [a], mode: idle}, {sources: [a], chat_types: [g]}]}",
        "reset: {rules: [{sources: [a, b], mode: idle}, {sources: [a], mode: daily}]}",
        f"finalizers: [{{{FINALIZER}, concurrency: 32, sources: [cron]}}]",
        f"finalizers: [{{{FINALIZER}}}]\nkeeper: {{finalizers_at_once: 2}}",
        (
            "finalizers: [{name: x, kind: memory, base_url: 'http://a', model: m, "
            "sources: ['*', cron]}]"
        ),
        "notify: {webhook: 'http://a', secret_env: B, held_after: 2h}",
        "budgets: [{scope: tree, tokens: 9, per: 1h, name: mine}]",
        "budgets: [{scope: source, usd: 5}, {scope: source, usd: 9, action: warn, name: a}]",
        "budgets: [{scope: source, usd: 5, action: warn}, {scope: source, usd: 9, name: a}]",
        "budgets: [{scope: session, tokens: 5}, {scope: session, tokens: 9, per: 1h}]",
        "budgets: [{scope: session, tokens: 5, sources: [a]}, {scope: session, tokens: 9}]",
        "budgets: [{scope: day, tokens: 5}, {scope: day, tokens: 9, sources: [a]}]",
        "budgets: [{scope: turn, tool_calls: 9}, {scope: turn, tool_calls: 5, name: later}]",
    ],
)
def test_what_acts_is_left_in_peace(tmp_path: Path, text: str) -> None:
    assert findings(tmp_path, text) == []


def test_a_default_that_was_not_written_down_is_no_finding() -> None:
    policy = ResetPolicy(mode=Mode.DAILY, idle_minutes=5)
    assert inert(Settings(rulebook=Rulebook(reset=policy))) == []


def test_a_finding_about_a_variable_names_it() -> None:
    settings = load(None, {"SEXTON_RESET__AT_HOUR": "5"})
    (found,) = inert(settings)
    assert found.location == "environment: SEXTON_RESET__AT_HOUR"


SOURCES, CHATS, KEYS = ("a", "b", "c"), ("g", "d", None), ("k", "kk", "x", None)
SESSIONS = [
    Session(
        ref=1, home="native", id="s", key=key, source=source, chat_type=chat,
        started_at=NOW, active_at=NOW,
    )
    for source, chat, key in product(SOURCES, CHATS, KEYS)
]  # fmt: skip

POLICIES = [ResetPolicy(), ResetPolicy(max_age=timedelta(days=9)), ResetPolicy(max_turns=3)]


def some(names: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(names), max_size=3, unique=True).map(tuple)


RULES = st.builds(
    ResetRule,
    sources=some(("a", "b")),
    chat_types=some(("g", "d")),
    keys=some(("k", "k*", "*", "?")),
    policy=st.sampled_from(POLICIES),
).filter(lambda rule: bool(rule.sources or rule.chat_types or rule.keys))


@given(st.lists(RULES, max_size=5), st.sampled_from(POLICIES))
def test_no_rule_that_ever_decides_is_called_useless(
    rules: list[ResetRule], default: ResetPolicy
) -> None:
    rulebook = Rulebook(reset=default, reset_rules=tuple(rules))
    useless = {
        int(found.where.removeprefix("reset.rules[").removesuffix("]"))
        for found in inert(Settings(rulebook=rulebook))
        if found.where.endswith("]")
    }
    for each in (*({place} for place in useless), useless):
        left = tuple(rule for place, rule in enumerate(rules) if place not in each)
        without = Rulebook(reset=default, reset_rules=left)
        for session in SESSIONS:
            assert without.reset_policy(session) == rulebook.reset_policy(session)
