"""The page's Markdown: what GitHub shows is shown, and nothing that people write gets out of its place."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.app.demo.page import to_html

ALLOWED = {"a": {"href", "rel"}, "details": {"open"}, "span": {"class"}, "code": {"class"}, "ol": {"start"}}
# What Markdown makes, and tags that browsers do not open again behind the element that they were left open in.
WRITTEN = {
    "a",
    "blockquote",
    "br",
    "code",
    "em",
    "h1",
    "h2",
    "h3",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "span",
    "strong",
    "ul",
}
WRITTEN |= {"details", "summary", "sub", "sup", "kbd", "table", "thead", "tbody", "tr", "th", "td", "s"}


class Reader(HTMLParser):
    """Notes every tag of a text, at its end too, with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.seen.append((tag, {}))

    def handle_comment(self, data: str) -> None:
        raise AssertionError("comments must not pass")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError("declarations must not pass")


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


def test_tables_folds_and_code_are_shown_as_on_github() -> None:
    html = to_html("| a | b |\n|---|---|\n| 1 | `x` |\n\n<details><summary>More</summary>\n\n- one\n\n</details>\n")
    assert "<td><code>x</code></td>" in html
    assert "<details><summary>More</summary>" in html
    assert html.index("<li>one</li>") < html.index("</details>")
    assert "<details open>" in to_html("<details open><summary>x</summary>y</details>")


def test_issue_numbers_and_mentions_become_links_outside_of_code_alone() -> None:
    def link(issue: str) -> str | None:
        return "/issues/12" if issue == "acme/app#12" else None

    html = to_html("see #12, #13 and @ada, not `#12` or `@ada`", "acme/app", link)
    assert html.count('href="/issues/12"') == 1
    assert html.count('class="mention"') == 1
    assert "#13" in html
    assert 'href="/issues/12"' in to_html("[a](https://redirect.github.com/acme/app/issues/12)", "acme/app", link)


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "<a href='java\tscript:alert(1)'>x</a>",
        '<a href="https://x.invalid/&quot;onclick=alert(1)">x</a>',
        "<details ontoggle=alert(1) open>x",
        "</div></main><form action=//x.invalid><input name=a>",
        "<svg><style><!--</style><img src=x onerror=alert(1)>-->",
        "<!-- doppel --><b>",
        "</details></details><style>*{display:none}</style>",
        "```\n</code></pre><script>alert(1)</script>\n```",
    ],
)
def test_hostile_html_is_harmless(hostile: str) -> None:
    for tag, attributes in read(to_html(hostile)).seen:
        assert tag in WRITTEN and set(attributes) <= ALLOWED.get(tag, set())
        assert (attributes.get("href") or "https:").startswith("https:")


PIECES = [*"<>/=\"'`!-[]()#@& \n\tax1", "<a href=", "<details ", "<script>", "</p>", "<!--", "https://", "<svg/>"]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_gives_tags_that_stay_in_their_place_with_allowed_attributes(text: str) -> None:
    for tag, attributes in read(to_html(text)).seen:
        assert tag in WRITTEN and set(attributes) <= ALLOWED.get(tag, set())
