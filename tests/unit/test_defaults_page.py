"""Does docs/defaults.md say what the settings say?"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from scripts import defaults_page
from sexton.settings.settings_schema import SECTIONS

MAPPINGS = (
    *("reset", "liveness", "processes", "prices", "breaker", "runaway"),
    *("notify", "keeper", "serve", *defaults_page.KEEPING),
)
FILES = (defaults_page.TESTS, *defaults_page.ELSEWHERE)


def named_tests(file: str) -> list[str]:
    tree = ast.parse((defaults_page.ROOT / file).read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [f"{file}::{name}" for name in names if name.startswith("test_")]


def test_the_page_is_up_to_date() -> None:
    assert defaults_page.main(["--check"]) == 0


def test_every_row_names_a_test_of_its_own_that_exists() -> None:
    shown_by = [row.test for row in defaults_page.rows()]
    assert sorted(shown_by) == sorted(test for file in FILES for test in named_tests(file))


def test_every_setting_has_a_row() -> None:
    rows = {row.setting.replace("[]", "") for row in defaults_page.rows()}
    settings = {
        ".".join(map(str, (*section, name)))
        for section, model in SECTIONS.items()
        for name in model.model_fields
        if (section, name) not in {((), each) for each in MAPPINGS}
        and not (
            section in defaults_page.INHERITED
            and name in defaults_page.INHERITED[section][0].model_fields
        )
    }
    assert rows == settings | {"reset.rules.*", "retention.classes.*"}


def test_a_stale_page_is_noticed_and_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(defaults_page, "ROOT", tmp_path)
    monkeypatch.setattr(defaults_page, "PAGE", tmp_path / "defaults.md")
    assert defaults_page.main(["--check"]) == 1
    assert capsys.readouterr().err == "defaults.md is stale: run defaults_page.py\n"
    (tmp_path / "defaults.md").write_text("old")
    assert defaults_page.main(["--check"]) == 1
    assert defaults_page.main([]) == 0
    assert defaults_page.main(["--check"]) == 0
