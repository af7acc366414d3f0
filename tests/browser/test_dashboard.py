"""The dashboard in a real browser: sign in through GitHub's page, look around, vote; light, dark, and on a phone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from werkzeug.serving import make_server

from bot.app.wiring.indexes import build_index
from bot.domain.feedback import FeedbackKind
from bot.quality.evaluation.runs import EvaluationRuns, Stage
from bot.search.index import IndexedIssue
from bot.web import create_app
from tests.dashboard.conftest import Host, evaluated, host  # noqa: F401  (fixtures are taken over by their names)

pytestmark = pytest.mark.browser

PAGES = ("", "/issues/3", "/issues/3/with/1", "/backlog", "/evaluation", "/feedback", "/settings", "/health")
TOO_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Parts of tables that one would have to scroll to see.
HIDDEN = """() => [...document.querySelectorAll(".wide")]
  .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)"""
FOCUSED = "() => document.activeElement.getAttribute('aria-label') || document.activeElement.textContent.trim()"


@pytest.fixture
def address(host: Host, evaluated: None) -> Iterator[str]:  # noqa: F811
    """The bot's web process, on a port of its own."""
    server = make_server("127.0.0.1", 0, create_app(host.settings), threaded=True)
    url = f"http://127.0.0.1:{server.port}"
    host.simulator.sim.app.callback_urls = (f"{url}/login/callback",)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield url
    server.shutdown()
    thread.join()


def sign_in(browser: Any, address: str, **options: Any) -> Any:
    page = browser.new_page(base_url=address, **options)
    page.goto("/dashboard")
    page.get_by_role("link", name="Sign in with GitHub").click()
    page.get_by_label("Signed in as").select_option("tara")
    page.get_by_role("button", name="Authorize").click()
    page.wait_for_url("**/dashboard")
    return page


def test_from_signing_in_to_a_vote_with_the_keyboard(browser: Any, address: str, host: Host) -> None:  # noqa: F811
    page = sign_in(browser, address)
    page.get_by_role("link", name="acme/app").click()
    assert page.get_by_role("link", name="What happened").get_attribute("aria-current") == "page"
    page.get_by_role("link", name="#3").click()
    button = page.get_by_role("button", name="#1 is the same")
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/issues/3#candidate-1")
    assert page.get_by_role("button", name="#1 is the same").get_attribute("aria-pressed") == "true"
    page.get_by_role("link", name="Feedback").click()
    assert "the same" in page.get_by_role("region", name="What was said").inner_text()
    page.get_by_role("button", name="Sign out").click()
    assert page.get_by_role("link", name="Sign in with GitHub").is_visible()
    page.close()


def test_over_plain_http_to_another_machine_only_its_own_pages_can_post(
    browser: Any,
    address: str,
    host: Host,  # noqa: F811
) -> None:
    """There a browser does not say which site a request comes from, and sends the cookie with a sibling's form."""
    there = address.replace("127.0.0.1", "doppel.example.test")
    host.simulator.sim.app.callback_urls = (f"{there}/login/callback",)
    page = sign_in(browser, there)
    votes = host.store.signals
    form = (
        f"<form method=post action={there}/dashboard/acme/app/issues/3>"
        "<input type=hidden name=other value=1><button name=said value=same>Win</button></form>"
    )
    page.route("http://evil.example.test/", lambda route: route.fulfill(content_type="text/html", body=form))
    page.goto("http://evil.example.test/")
    with page.expect_response(f"{there}/dashboard/**") as answered:
        page.get_by_role("button", name="Win").click()
    sent = answered.value.request.all_headers()
    assert "doppel_session" in sent["cookie"] and "sec-fetch-site" not in sent
    assert answered.value.status == 403 and votes.of_issue(host.public, 3, FeedbackKind.VOTE) == []
    page.goto("/dashboard/acme/app/issues/3")
    page.get_by_role("button", name="#1 is the same").click()
    page.wait_for_url("**/issues/3#candidate-1")
    assert len(votes.of_issue(host.public, 3, FeedbackKind.VOTE)) == 1
    page.close()


def test_the_first_tab_skips_to_the_content(browser: Any, address: str) -> None:
    page = sign_in(browser, address)
    page.goto("/dashboard/acme/app")
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == "Skip to the content"
    page.close()


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 360)], ids=["light", "dark", "phone"]
)
def test_every_page_is_free_of_serious_barriers(browser: Any, address: str, scheme: str, width: int) -> None:
    """axe-core's rules for WCAG 2 A and AA, and nothing wider than the window."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="`make test-browser` installs it")
    page = sign_in(browser, address, color_scheme=scheme, viewport={"width": width, "height": 800})
    for path in ("/dashboard", *(f"/dashboard/acme/app{page_}" for page_ in PAGES)):
        page.goto(path)
        assert page.evaluate(TOO_WIDE) <= 0, path
        found = axe.Axe().run(page).response["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert serious == [], json.dumps(serious, indent=1)[:3000]
    page.close()


def test_a_page_is_small_and_loads_nothing_from_elsewhere(browser: Any, address: str) -> None:
    page = sign_in(browser, address)
    for path in ("", "/evaluation"):
        page.goto(f"/dashboard/acme/app{path}")
        loaded = page.evaluate(
            "() => ['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind))"
            ".map((one) => [one.name, one.decodedBodySize])"
        )
        assert all(url.startswith((address, "data:")) for url, _ in loaded)
        assert len(loaded) >= 2 and 1_000 < sum(size for _, size in loaded) <= 100_000
    page.close()


def test_a_long_word_in_a_title_pushes_no_column_out_of_sight(browser: Any, address: str, host: Host) -> None:  # noqa: F811
    index = build_index(host.settings, host.store)
    word = "org.example.storage.DatabaseIsLockedWhileTheNightlyScanRunsException"
    index.put(host.public, [IndexedIssue(number, f"{word} is thrown", "", author="ann") for number in (1, 3)])
    page = sign_in(browser, address, viewport={"width": 1280, "height": 800})
    for path in ("", "/issues/3"):
        page.goto(f"/dashboard/acme/app{path}")
        assert page.get_by_text(word).count() >= 1
        assert page.evaluate(HIDDEN) == [], path
    page.close()


def test_on_a_phone_each_candidate_is_a_card_with_its_votes_in_sight(browser: Any, address: str) -> None:
    page = sign_in(browser, address, viewport={"width": 360, "height": 740})
    page.goto("/dashboard/acme/app/issues/3")
    for name in ("#1 is the same", "#1 is another one"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360 and box["height"] >= 24
    # The table is still one for who cannot see it.
    assert page.get_by_role("table").get_by_role("row").count() == 3
    assert page.get_by_role("cell", name="71%").is_visible()
    for path in ("", "/issues/3", "/evaluation", "/feedback"):
        page.goto(f"/dashboard/acme/app{path}")
        assert page.evaluate(HIDDEN) == [], path
    page.close()


def test_on_a_phone_no_name_of_a_setting_is_broken(browser: Any, address: str) -> None:
    page = sign_in(browser, address, viewport={"width": 360, "height": 740})
    page.goto("/dashboard/acme/app/settings")
    measured = "(names) => names.map((name) => name.getBoundingClientRect().height)"
    heights = page.locator("th code").evaluate_all(measured)
    assert len(heights) > 10 and max(heights) < 1.5 * min(heights)
    page.close()


def test_an_evaluation_is_asked_for_with_a_button_and_its_progress_shows_by_itself(
    browser: Any,
    address: str,
    host: Host,  # noqa: F811
) -> None:
    page = sign_in(browser, address)
    page.goto("/dashboard/acme/app/evaluation")
    page.get_by_role("button", name="Evaluate again").click()
    page.get_by_role("status").get_by_text("Waiting for a worker").wait_for()
    runs = EvaluationRuns(host.store.engine)
    chain = runs.get(host.public).run.chain
    runs.note(host.public, chain, Stage.RUNNING)
    page.get_by_role("status").get_by_text("It is being evaluated").wait_for()
    runs.note(host.public, chain, Stage.DONE)
    page.get_by_text("once a day is enough").wait_for()
    assert not page.get_by_role("button", name="Evaluate again").is_visible()
    page.close()
