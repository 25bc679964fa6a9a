"""Are settings that a program gives as a mapping read like those of a file?"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from sexton.errors import SettingsInvalid
from sexton.resets.policy import Mode
from sexton.settings.loader import load_mapping
from sexton.settings.render import show
from sexton.settings.settings_values import Settings


def test_an_empty_mapping_gives_the_defaults() -> None:
    assert load_mapping({}, {}) == Settings()


def test_values_of_python_are_taken_for_what_one_would_write(tmp_path: Path) -> None:
    settings = load_mapping(
        {
            "homes": ({"path": Path("agents/.hermes")},),
            "reset": {"mode": Mode.IDLE, "max_age": timedelta(days=3), "warn_at": "75%"},
            "liveness": {"dies_with_owner": ("cli",), "inactivity_bound": {"tui": timedelta(1)}},
        },
        {},
        tmp_path,
    )
    reset = settings.rulebook.reset
    assert (reset.mode, reset.max_age, reset.warn_at) == (Mode.IDLE, timedelta(days=3), 0.75)
    assert settings.rulebook.liveness.dies_with_owner == ("cli",)
    assert settings.rulebook.liveness.bound("tui") == timedelta(days=1)
    assert settings.homes[0].path == tmp_path / "agents" / ".hermes"
    assert settings.source is None


def test_every_problem_is_told_at_once_by_its_name() -> None:
    values = {"reset": {"mode": "idel", "rules": [{"sources": []}]}, "liveness": {"ttl": "1s"}}
    with pytest.raises(SettingsInvalid) as caught:
        load_mapping(values, {})
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        ["settings", "reset.mode"],
        ["settings", "reset.rules[0].sources"],
        ["settings", "liveness.ttl"],
    ]


@pytest.mark.parametrize("span", [timedelta(microseconds=5), timedelta(0), timedelta(seconds=-5)])
def test_a_span_that_can_not_be_written_is_refused(span: timedelta) -> None:
    with pytest.raises(SettingsInvalid):
        load_mapping({"reset": {"max_age": span}}, {})


def test_a_variable_wins_over_a_mapping() -> None:
    settings = load_mapping({"reset": {"mode": "daily"}}, {"SEXTON_RESET__MODE": "idle"})
    assert settings.rulebook.reset.mode is Mode.IDLE
    assert settings.places["reset.mode"] == "environment: SEXTON_RESET__MODE"


def test_what_is_shown_is_a_mapping_that_says_the_same() -> None:
    settings = load_mapping({"gc": {"trivial_max": 3}, "budgets": [{"scope": "day", "usd": 5}]}, {})
    assert load_mapping(yaml.safe_load(show(settings)), {}) == settings
    assert settings.places["gc.trivial_max"] == "settings"
