"""Budgets, prices, breaker and runaway in the settings file."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from sexton.errors import SettingsInvalid
from sexton.rules.rulebook import Rulebook, decode, encode
from sexton.settings.loader import load
from sexton.settings.render import show
from sexton.settings.settings_values import Settings
from sexton.spending.model import Act, Budget, Scope, Unit
from sexton.spending.policy import DEFAULTS, BreakerPolicy, Price, Prices, SpendRules
from tests.golden import golden

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
    "text",
    [
        "budgets: [{scope: session}]",
        "budgets: [{scope: sesion, tokens: 1}]",
        "budgets: [{scope: session, tokens: 0}]",
        "budgets: [{scope: session, tokens: -5}]",
        "budgets: [{scope: session, tokens: '5'}]",
        "budgets: [{scope: session, tokens: 1, action: stop}]",
        "budgets: [{scope: session, usd: 0}]",
        "budgets: [{scope: session, usd: lots}]",
        "budgets: [{scope: turn, messages: 5}]",
        "budgets: [{scope: day, tokens: 5, per: 1h}]",
        "budgets: [{scope: turn, iterations: 5, per: 1h}]",
        "budgets: [{scope: session, tokens: 5, sources: []}]",
        "budgets: [{scope: tree, tokens: 5, per: 32d}]",
        "budgets: [{scope: day, tokens: 5}, {scope: day, tokens: 9}]",
        "budgets: [{scope: session, tokns: 5}]",
        "prices: {models: {m: {input: 1}}}",
        "prices: {models: 5}",
        "prices: {models: {m: {input: -1, output: 1}}}",
        "breaker: {warn_at: [3, 2]}",
        "breaker: {warn_at: []}",
        "runaway: {messages: 0}",
    ],
)
def test_mistakes_are_told(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        loaded(tmp_path, text)
    golden("settings", f"spending: {text}", str(caught.value))


def test_budgets_of_one_thing_stand_side_by_side_under_names_of_their_own(tmp_path: Path) -> None:
    text = "{scope: session, tokens: 5, per: 31d, name: soft, action: warn}"
    spend = loaded(tmp_path, f"budgets: [{text}, {{scope: session, tokens: 9, per: 31d}}]")
    limits = {each.name: each.limit for each in spend.rulebook.spend.budgets}
    assert limits["soft"] == 5
    assert limits["session.tokens/744h"] == 9
