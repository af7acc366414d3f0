"""C3: no title, reason, query or problem makes the comment ping, link, close, inject or outgrow its limit."""

from __future__ import annotations

import re

import pytest

from bot.conversation.marker import ADVICE
from bot.conversation.render.comment import render_comment
from bot.domain.entities import BODY_MAX
from bot.domain.errors import RemarkCode, SourceProblem
from bot.domain.report import QueryRun, Reason, ReasonCode, SearchOutcome
from tests.render.reading import INVISIBLE, PHRASE, read
from tests.render.samples import QUERY, candidate, report, view

TITLES = [
    "@org/team please look",
    "Duplicate of #1",
    "duplicate\nof acme/app#1",
    "<!-- doppel -->",
    "<!-- doppel:advice v1 0123456789abcdef -->",
    "--> </details> <img src=x onerror=alert(1)>",
    "`code` and ``more`",
    "| a | b |\n|---|---|",
    "line one\nline two\r\n# heading\n- item",
    "\u202egnol oot si siht\u202c \u2067x\u2069",
    "x" * 5_000,
    "[click](https://evil.example) ![x](https://evil.example/x.png)",
    "https://github.com/acme/app/issues/1 www.evil.example a@b.example",
    "fixed by 0123456789abcdef0123456789abcdef01234567 and closes #3, GH-4",
    "$$\\int$$ :tada: [^1] &lt;b&gt;",
    "/duplicates of #1",
]


def check(body: str, numbers: set[int]) -> None:
    page = read(body)
    assert ADVICE.begins(body)
    assert body.count("<!--") == 1
    assert page.active == {}
    assert not PHRASE.search(body)
    assert not INVISIBLE.search(body)
    assert set(page.links) <= {f"https://redirect.github.com/acme/app/issues/{number}" for number in numbers}
    assert page.images == 0
    ours = r"<!-- doppel:advice v1 [0-9a-f]{16} -->\n|</?span>|<details>\n<summary>[^<]*</summary>\n|</details>\n"
    assert all(re.fullmatch(ours, html) for html in page.html), page.html
    assert sum(html.startswith("<!--") for html in page.html) == 1
    assert len(body) <= BODY_MAX


@pytest.mark.parametrize("title", TITLES)
def test_c3_no_title_does_anything(title: str) -> None:
    for enterprise in (False, True):
        body = with_text(title, enterprise)
        check(body, {7})
        assert read(body).blocks == read(with_text("word", enterprise)).blocks


def said(*quotes: str) -> tuple[Reason, ...]:
    return tuple(Reason(ReasonCode.MESSAGE, (quote,)) for quote in quotes)


def failed(*texts: str) -> tuple[SourceProblem, ...]:
    return tuple(SourceProblem(text, RemarkCode.OTHERS.of(text)) for text in texts)


def with_text(text: str, enterprise: bool) -> str:
    """A comment that shows `text` wherever strangers' text can stand."""
    found = candidate(7, text, reasons=said(text, text), workflow_state=text)
    runs = (QUERY, QueryRun(text, text, 3, problem=RemarkCode.OTHERS.of(text), cached=text))
    result = report(found, queries=runs, problems=failed(text), outcome=SearchOutcome.DEGRADED)
    return render_comment(result, view(words=(text, text), enterprise=enterprise))


@pytest.mark.slow
def test_c3_a_comment_never_outgrows_githubs_limit() -> None:
    """`$` grows most when it is escaped; the least likely candidates make room."""
    worst = "$" * 5_000
    found = [candidate(number, worst, reasons=said(worst) * 2, workflow_state=worst) for number in range(1, 20)]
    runs = (QueryRun(worst, "`" * 5_000, 1, problem=RemarkCode.OTHERS.of(worst), cached=worst),) * 50
    body = render_comment(report(*found, queries=runs, problems=failed(worst) * 50), view())
    check(body, set(range(1, 20)))
    assert "issues/19)" not in body
    assert "issues/1)" in body
