"""Does the reference say what the settings say, and has every setting a test of its default?"""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import settings_page
from sexton.settings.sections import SECTIONS
from tests.unit.showing_defaults import shown


def test_the_page_is_up_to_date() -> None:
    assert settings_page.main(["--check"]) == 0


def test_every_setting_has_a_test_that_shows_its_default_acting() -> None:
    tested = [setting for _, settings in shown() for setting in settings]
    of_prices = {"prices.models.*.input", "prices.models.*.output", "prices.models.*.cached"}
    inherited = {"reset.rules[].*", "retention.classes[].*"}
    settings = {each.name for each in settings_page.entries()} - of_prices
    assert sorted(tested) == sorted(settings | inherited)
    assert all(settings for _, settings in shown())


def test_every_setting_says_what_it_means_and_when_to_change_it() -> None:
    declared = [field.declared for each in settings_page.entries() for field in [each.field]]
    assert len(declared) > len(SECTIONS)
    assert all(each.about.endswith(".") and each.change.endswith(".") for each in declared)


def test_a_stale_page_is_noticed_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(settings_page, "ROOT", tmp_path)
    monkeypatch.setattr(settings_page, "PAGE", tmp_path / "settings.md")
    assert settings_page.main(["--check"]) == 1
    assert capsys.readouterr().err == "settings.md is stale: run settings_page.py\n"
    (tmp_path / "settings.md").write_text("old")
    assert settings_page.main(["--check"]) == 1
    assert settings_page.main([]) == 0
    assert settings_page.main(["--check"]) == 0
