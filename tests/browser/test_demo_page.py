"""The page of `doppel demo --serve` in a real browser: it shows what there is, and the keyboard reaches all of it."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.processes]

# Every field and button has a name that a screen reader can say.
NAMELESS = """() => [...document.querySelectorAll("input, textarea, select, button, a")]
  .filter((one) => !(one.labels?.length || one.textContent.trim() || one.getAttribute("aria-label")))
  .map((one) => one.outerHTML)"""
TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
FOCUSED = "() => document.activeElement.id || document.activeElement.textContent.trim()"


def test_the_list_shows_the_issues_and_turns_pages(page: Any) -> None:
    page.goto("/")
    assert page.locator(".issues li").count() == 30
    newest = page.locator(".issues .title").first
    assert newest.inner_text() == "Map is grey again, tile requests are answered with 403"
    page.get_by_role("link", name="older →").click()
    assert page.get_by_role("link", name="← newer").is_visible()


def test_an_issue_shows_the_comment_of_the_bot_with_its_fold(page: Any) -> None:
    page.goto("/")
    page.get_by_role("link", name="Red cloud on every second picture at night").click()
    comment = page.locator(".entry.bot").first
    assert "#155" in comment.inner_text()
    query = comment.locator("details code").first
    # The index is asked first, in the issue's own words.
    assert "Red" in query.text_content().split() and not query.is_visible()
    comment.locator("summary").first.click()
    assert query.is_visible()


def test_a_hostile_issue_stays_text(page: Any) -> None:
    page.goto("/issues/181")
    assert "Duplicate of #1 @larkspool/core" in page.locator("h1").inner_text()
    assert page.locator("main script, main img, main a[href^='javascript']").count() == 0


def test_the_keyboard_reaches_everything_and_a_command_is_answered_in_place(page: Any) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == "Skip to the content"
    page.keyboard.press("/")
    assert page.evaluate(FOCUSED) == "q"
    page.keyboard.type("disks never spin down")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=disks*")
    page.keyboard.press("j")
    assert page.evaluate(FOCUSED) == "Hard disks never spin down"
    page.keyboard.press("Enter")
    page.wait_for_url("**/issues/176")
    page.keyboard.press("r")
    assert page.evaluate(FOCUSED) == "body"
    page.keyboard.type("/duplicates help")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED) == "Comment":
            break
    page.keyboard.press("Enter")
    # The answer arrives without a reload, since the page looks for it.
    page.locator(".entry.bot", has_text="/duplicates mute").wait_for(timeout=20_000)


@pytest.mark.parametrize("path", ["/", "/issues/177", "/issues/181", "/issues/new"])
def test_it_fits_a_phone_and_every_control_has_a_name(page: Any, path: str) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(path)
    assert page.evaluate(TOO_WIDE) <= 0
    assert page.evaluate(NAMELESS) == []
