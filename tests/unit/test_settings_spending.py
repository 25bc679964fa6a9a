"""Budgets, prices, breaker and runaway in the settings file."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from sexton.errors import SettingsInvalid
from sexton.model.spend import Act, Budget, Scope, Unit
from sexton.policies.rulebook import Rulebook, decode, encode
from sexton.policies.spend import DEFAULTS, BreakerPolicy, Price, Prices, SpendRules
from sexton.settings.loader import load
from sexton.settings.render import show
from sexton.settings.values import Settings

WHOLE = """
budgets:
  - scope: session
    tokens: 100000
    action: kill
    sources: [cron]
  - {scope: tree, tokens: 20000000, per: 1h}
  - {scope: day, usd: 12.5, wall: 8h, name: daily, action: warn}
  - {scope: source, messages: 10, input_tokens: 1, output_tokens: 2, cached_tokens: 3}
prices:
  models:
    mine: {input: 3, output: 15.5, cached: 0.3}
    free: {input: 0, output: 0}
  unknown: {input: 60, output: 60}
breaker: {warn_at: [2, 4], cool_down: 90s}
runaway: {messages: null, tokens: 5, tool_calls: 7}
"""


def loaded(tmp_path: Path, text: str) -> Settings:
    file = tmp_path / "sexton.yaml"
    file.write_text(text)
    return load(file, {})


def test_what_is_written_becomes_rules(tmp_path: Path) -> None:
    spend = loaded(tmp_path, WHOLE).rulebook.spend
    named = {each.name: each for each in spend.budgets}
    assert named["session.tokens@cron"] == Budget(
        name="session.tokens@cron",
        scope=Scope.SESSION,
        unit=Unit.TOKENS,
        limit=100_000,
        action=Act.KILL,
        sources=("cron",),
    )
    assert named["tree.tokens/1h"].limit == 20_000_000
    assert named["turn.iterations"] == DEFAULTS[0]
    assert (named["daily.usd"].limit, named["daily.wall"].limit) == (12_500_000, 28_800_000)
    assert named["daily.usd"].action is Act.WARN
    assert len(named) == 9
    assert spend.prices == Prices(
        models=(
            ("free", Price(per_input=0, per_output=0)),
            ("mine", Price(per_input=3, per_output=15.5, per_cached=0.3)),
        ),
        unknown=Price(per_input=60, per_output=60),
    )
    assert spend.breaker == BreakerPolicy(warn_at=(2, 4), cool_down=timedelta(seconds=90))
    assert (spend.runaway.messages, spend.runaway.tokens, spend.runaway.tool_calls) == (None, 5, 7)


def test_what_is_shown_loads_back(tmp_path: Path) -> None:
    settings = loaded(tmp_path, WHOLE)
    assert loaded(tmp_path, show(settings)) == settings
    assert loaded(tmp_path, show(Settings())) == Settings()


def test_rules_travel_as_text_and_the_usual_ones_take_none(tmp_path: Path) -> None:
    rules = loaded(tmp_path, WHOLE).rulebook
    assert decode(encode(rules)) == rules
    assert "spend" not in encode(Rulebook())
    assert decode(encode(Rulebook())).spend == SpendRules()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("budgets: [{scope: session}]", "bounds nothing"),
        ("budgets: [{scope: sesion, tokens: 1}]", "did you mean 'session'"),
        ("budgets: [{scope: session, tokens: 0}]", "at least 1"),
        ("budgets: [{scope: session, tokens: -5}]", "at least 1"),
        ("budgets: [{scope: session, tokens: '5'}]", "write 5"),
        ("budgets: [{scope: session, tokens: 1, action: stop}]", "one of warn, pause"),
        ("budgets: [{scope: session, usd: 0}]", "from 0.01"),
        ("budgets: [{scope: session, usd: lots}]", "a number of dollars"),
        ("budgets: [{scope: turn, messages: 5}]", "does not count messages"),
        ("budgets: [{scope: day, tokens: 5, per: 1h}]", "has no span"),
        ("budgets: [{scope: turn, iterations: 5, per: 1h}]", "has no span"),
        ("budgets: [{scope: session, tokens: 5, sources: []}]", "leave it out"),
        ("budgets: [{scope: tree, tokens: 5, per: 32d}]", "at most 31d"),
        ("budgets: [{scope: day, tokens: 5}, {scope: day, tokens: 9}]", "bounds the same"),
        ("budgets: [{scope: session, tokns: 5}]", "did you mean 'tokens'"),
        ("prices: {models: {m: {input: 1}}}", "is required"),
        ("prices: {models: 5}", "models to prices"),
        ("prices: {models: {m: {input: -1, output: 1}}}", "from 0"),
        ("breaker: {warn_at: [3, 2]}", "higher than the one before"),
        ("breaker: {warn_at: []}", "higher than the one before"),
        ("runaway: {messages: 0}", "at least 1"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        loaded(tmp_path, text)
    assert words in str(caught.value)


def test_budgets_of_one_thing_stand_side_by_side_under_names_of_their_own(tmp_path: Path) -> None:
    text = "{scope: session, tokens: 5, per: 31d, name: soft, action: warn}"
    spend = loaded(tmp_path, f"budgets: [{text}, {{scope: session, tokens: 9, per: 31d}}]")
    limits = {each.name: each.limit for each in spend.rulebook.spend.budgets}
    assert limits["soft"] == 5
    assert limits["session.tokens/744h"] == 9
