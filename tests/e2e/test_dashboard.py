"""The dashboard as a person meets it: looking, acting, going offline, and coming back."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect

from sexton.web.pages.verb_pages import act_href
from sexton.web.rendering import session_href
from tests.e2e.conftest import PATIENCE, Town, Watch
from tests.surface.holding import holder

expect.set_options(timeout=PATIENCE)


def test_the_link_works_once_and_no_token_is_in_any_page(
    browser: Browser, town: Town, entered: Any
) -> None:
    (cookie,) = entered["cookies"]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    stranger = browser.new_context(base_url=town.base)
    stranger.set_default_timeout(PATIENCE)
    page = stranger.new_page()
    answer = page.goto(town.link)
    assert answer is not None
    assert answer.status == 401
    expect(page.get_by_role("alert")).to_contain_text("used already")
    answer = page.goto("/sessions")
    assert answer is not None
    assert answer.status == 401
    stranger.close()


def test_a_session_is_seen_to_die_and_says_why(page: Page, town: Town) -> None:
    with holder(town.ledger, "doomed", "cli") as (process, id):
        page.goto(session_href("native", id))
        word = page.locator(".verdict .word")
        expect(word).to_have_text("live")
        expect(page.locator("#connection")).to_have_text("live")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        expect(word).to_have_text(re.compile("ended|finalized"))  # what it owed may be done already
        why = page.locator(".answers")
        expect(why).to_contain_text("reaped:process_gone")
        expect(page.locator(".timeline").first).to_contain_text("reap")
        expect(page.locator("[data-part=journal]")).to_contain_text("reap")


def test_a_plan_is_read_applied_and_undone(page: Page) -> None:
    page.goto("/sessions?home=demo&state=leaked")
    page.locator(".rows .title").first.click()
    word, session = page.locator(".verdict .word"), page.url
    expect(word).to_have_text("leaked")
    page.get_by_role("link", name="What is due…").click()
    expect(page.locator("details.group")).to_have_count(1)
    page.locator('input[name="allow_observed"]').check()  # the home is only observed
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".banner.good")).to_contain_text("1 done")
    receipt = page.url
    page.goto(session)
    expect(word).to_have_text("ended")
    page.goto(receipt)
    page.get_by_role("link", name="Undo…").click()
    expect(page.locator(".groups")).to_contain_text(re.compile("reopen.*demo/"))
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".banner.good")).to_contain_text("1 session opened again")
    page.goto(session)
    expect(word).to_have_text("leaked")


def test_what_was_put_into_the_trash_comes_back(page: Page) -> None:
    page.goto("/vault")
    expect(page.locator(".tiles")).to_contain_text("12 sessions in 1 file")
    page.get_by_role("link", name="Bring back…").click()
    expect(page.locator(".groups")).to_contain_text("12 sessions")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".banner.good")).to_contain_text("12 sessions and 0 files brought back")


def test_two_tabs_that_end_the_same_session_end_it_once(
    visit: BrowserContext, watch: Watch, town: Town
) -> None:
    ending = act_href("end", session=f"native/{town.ids['tests']}")
    tabs = [visit.new_page(), visit.new_page()]
    for tab in tabs:
        watch.over(tab)
        tab.goto(ending)
        expect(tab.locator(".groups li.group")).to_have_count(1)
    for tab, words in zip(tabs, ("1 done", "1 skipped"), strict=True):
        tab.get_by_role("button", name="End").click()
        expect(tab.locator(".banner").filter(has_text=words)).to_be_visible()
    expect(tabs[1].locator("[data-result=skipped]")).to_have_attribute("data-count", "1")


def test_a_page_says_that_it_is_offline_and_goes_on_by_itself(
    visit: BrowserContext, watch: Watch, page: Page, town: Town
) -> None:
    watch.forgiven = (
        "ERR_INTERNET_DISCONNECTED",
        "Failed to fetch",
    )  # what the browser itself says
    page.goto("/sessions?text=Rename+report")
    expect(page.locator("#connection")).to_have_text("live")
    before = page.locator(".rows tbody tr").count()
    visit.set_offline(True)
    expect(page.locator("#offline")).to_be_visible()
    expect(page.locator("#offline")).to_contain_text("No connection since")
    with holder(town.ledger, "Rename report while away", "cli"):
        visit.set_offline(False)
        expect(page.locator("#connection")).to_have_text("live")
        expect(page.locator("#offline")).to_be_hidden()
    assert before > 0


def test_a_hostile_transcript_does_nothing(page: Page, town: Town) -> None:
    for path in ("/sessions", "/", "/journal", session_href("native", town.ids["evil"])):
        page.goto(path)
    page.goto(session_href("native", town.ids["evil"], messages="0"))
    expect(page.locator(".message")).to_have_count(2)
    said = page.locator(".message pre").first
    expect(said).to_contain_text("<script>document.title='owned'</script>")
    expect(said.locator(".odd")).to_have_text(["RLO", "ESC"])
    assert page.evaluate("document.querySelectorAll('img, .message script').length") == 0
    assert page.title().startswith("<script>document.title='owned'</script>")
    assert page.evaluate("document.body.innerHTML.length") < 200_000
    wide = "document.scrollingElement.scrollWidth <= window.innerWidth"
    assert page.evaluate(wide)


def test_every_page_works_without_scripts(browser: Browser, entered: Any, town: Town) -> None:
    context = browser.new_context(
        base_url=town.base, storage_state=entered, java_script_enabled=False
    )
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto("/sessions")
    page.get_by_label("Title contains").fill("nightly")
    page.get_by_role("button", name="Show").click()
    page.locator(".rows .title").first.click()
    expect(page.locator("h1")).to_contain_text("nightly report")
    page.get_by_role("link", name="Pin…").click()
    page.get_by_role("button", name="Pin").click()
    expect(page.locator(".banner.good")).to_contain_text("is pinned")
    page.get_by_role("link", name="Undo…").click()
    page.get_by_role("button", name="Unpin").click()
    expect(page.locator(".banner.good")).to_be_visible()
    expect(page.get_by_role("link", name="Undo…")).to_be_visible()
    context.close()


def test_the_keyboard_reaches_the_content_and_the_search(page: Page) -> None:
    page.goto("/sessions")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Go to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#content")).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_label("Title contains")).to_be_focused()
    page.keyboard.type("nightly")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("text=nightly"))
    expect(page.locator(".rows tbody tr").first).to_be_visible()


def test_everything_has_a_name_for_who_can_not_see(page: Page, town: Town) -> None:
    check = Path(__file__).with_name("names.js").read_text(encoding="utf-8")
    for path in (
        "/",
        "/sessions",
        "/plan",
        "/settings",
        session_href("native", town.ids["report"]),
    ):
        page.goto(path)
        assert page.evaluate(check) == []
