"""Does docs/reference/commands.md say what the commands say?"""

from __future__ import annotations

from scripts import commands_page


def test_the_page_is_up_to_date() -> None:
    assert commands_page.main(["--check"]) == 0


def test_every_exit_code_is_on_the_page() -> None:
    page = commands_page.page()
    for code in (0, 2, 10, 22, 30, 41, 53, 62, 70, 130):
        assert f"\n| {code} | " in page
