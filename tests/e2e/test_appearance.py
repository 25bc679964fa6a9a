"""Every page fits on a desk and on a phone, by day and by night; PICTURES=dir keeps pictures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from sexton.web.pages.verb_pages import act_href
from sexton.web.rendering import session_href
from tests.e2e.conftest import PATIENCE, Town, Watch

DESK = {"width": 1200, "height": 800}
PHONE = {"width": 390, "height": 844}


TOO_WIDE = """() => document.scrollingElement.scrollWidth <= window.innerWidth ? [] :
    [...document.querySelectorAll("main *")]
        .filter((each) => each.getBoundingClientRect().right > window.innerWidth)
        .map((each) => `${each.tagName} ${each.className} ${each.textContent.slice(0, 40)}`)"""
"""What stands out on the right, if the whole page does."""


def addresses(town: Town) -> dict[str, str]:
    """Every page by its name."""
    return {
        "overview": "/",
        "sessions": "/sessions",
        "session": session_href("native", town.ids["report"]),
        "messages": session_href("native", town.ids["report"], messages="0") + "#talk",
        "plan": "/plan?what=gc&home=demo",
        "confirm": act_href("end", session=f"native/{town.ids['build']}"),
        "processes": "/processes",
        "workers": "/workers",
        "finalizers": "/finalizers",
        "journal": "/journal",
        "vault": "/vault",
        "settings": "/settings",
        "login": "/login",
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desk", "phone"])
def test_every_page_fits(
    browser: Browser, entered: Any, town: Town, watch: Watch, scheme: Any, size: str
) -> None:
    folder = os.environ.get("PICTURES")
    context = browser.new_context(
        base_url=town.base,
        storage_state=entered,
        color_scheme=scheme,
        viewport=DESK if size == "desk" else PHONE,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    watch.over(page)
    for name, path in addresses(town).items():
        page.goto(path)
        _settled(page)
        assert page.evaluate(TOO_WIDE) == [], f"{name} is too wide for a {size}"
        kept = size == "desk" or (name in ("overview", "session") and scheme == "light")
        if folder and kept:
            suffix = "-phone" if size == "phone" else ""
            page.screenshot(path=Path(folder, f"{name}-{scheme}{suffix}.png"))
    context.close()


def _settled(page: Page) -> None:
    """As it stays: connected where it is live, and nothing that moves."""
    page.evaluate("document.fonts.ready.then(() => true)")
    if page.locator("body[data-live=yes]").count():
        expect(page.locator("#connection")).to_have_text("live", timeout=PATIENCE)
