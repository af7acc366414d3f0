"""The pages as a browser reads them: each name leads to one place, and nothing stands where HTML does not let it."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from flask.testing import FlaskClient

from bot.domain.decisions import DecisionOutcome
from bot.domain.report import Evidence
from tests.dashboard.conftest import Host

pytestmark = pytest.mark.slow

SignedIn = Callable[[str], FlaskClient]


class Markup(HTMLParser):
    """The ids of a page, and what stands in its `span` elements, which may hold text and little else."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.in_spans: set[str] = set()
        self._spans = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]
        if self._spans:
            self.in_spans.add(tag)
        self._spans += tag == "span"

    def handle_endtag(self, tag: str) -> None:
        self._spans -= tag == "span"


@pytest.mark.parametrize("page", ["", "/issues/3", "/feedback", "/settings", "/health"])
def test_a_span_holds_what_html_lets_it_hold(signed_in: SignedIn, page: str) -> None:
    """The buttons of each row stood in one, where a form may not be."""
    shown = Markup(signed_in("tara").get(f"/dashboard/acme/app{page}").text)
    assert shown.in_spans <= {"a", "bdi", "code", "span", "time"}


def test_the_way_back_from_a_vote_leads_to_the_issue_and_not_to_a_siblings_of_that_number(
    host: Host, signed_in: SignedIn
) -> None:
    """Both rows had the name that the page goes back to, and the first of them was the sibling's."""
    found = (Evidence(1, 0.9, 1, True, repo="acme/lib"), Evidence(1, 0.5, 2, True))
    host.look(2, 2e6, DecisionOutcome.POSTED, *found)
    browser = signed_in("tara")
    page = browser.get("/dashboard/acme/app/issues/2").text
    assert Markup(page).ids.count("candidate-1") == 1
    assert page.index("acme/lib#1") < page.index('id="candidate-1"')
