"""The tables in docs/hermes.md say how every way to run Hermes and every way to end it went."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenario.hermes_exits import API, EXITS, MODES

PAGE = Path(__file__).parents[2] / "docs" / "hermes.md"


@pytest.mark.parametrize("where", ["alone", "beside"])
def test_every_case_was_measured_and_ends_with_the_plugin(where: str) -> None:
    text = PAGE.read_text().partition(f"<!-- exits {where} -->")[2]
    lines = text.partition(f"<!-- /exits {where} -->")[0].strip().splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [(mode.strip("`"), how) for mode, how, *_ in cells] == [
        (mode, how) for mode in MODES for how in EXITS
    ]
    for mode, how, _, alone, _, inside in cells:
        assert "open" not in inside, f"{mode}, {how}"
        if mode == f"`{API}`":
            assert alone == inside == "`idle`"
        elif where == "alone":
            assert "open" not in alone, f"{mode}, {how}: nobody else is there"
