"""No text of the largest size that GitHub takes keeps the processor busy, whatever reads it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.app.demo.page import to_html
from bot.conversation.commands.parser import parse
from bot.conversation.messages.template import forbidden_part
from bot.conversation.render.escape import code, escape
from bot.domain.entities import RepoRef
from bot.quality.evaluation.statements import read_comment
from bot.search.index import TextAnalyser
from bot.search.issue_forms import boilerplate_of
from bot.search.ranking.grouping import content_hash, title_similarity
from bot.search.ranking.plan import plan_queries
from bot.search.ranking.query import extract_search_keywords, neutralise, neutralise_term
from bot.search.ranking.relevance import WordRarity
from bot.text.error_messages import codes, error_messages, in_common
from bot.text.github_urls import named_issues, normalize_url, thing_at
from bot.text.invisible import hidden_by
from bot.text.terms import read
from tests.effort import costs_at_most

REPO = RepoRef("acme", "app")
LARGEST = 65_536
# Of the processor's time. What is quadratic in so much text takes minutes, what is exponential for ever.
MOST_SECONDS = 20.0

READERS: dict[str, Callable[[str], object]] = {
    "words": lambda text: read(text[:256], text),
    "terms": lambda text: TextAnalyser().read(text[:256], text, TextAnalyser().lines_of(text), ()),
    "messages": error_messages,
    "codes": codes,
    "keywords": lambda text: extract_search_keywords(text, text),
    "plan": lambda text: plan_queries(REPO, text[:256], text, WordRarity(0, {})),
    "query": lambda text: (neutralise(text), neutralise_term(text)),
    "results that are one": lambda text: (content_hash(text), title_similarity(text, text)),
    "names of issues": lambda text: named_issues(text, REPO),
    "statements": lambda text: [
        read_comment(said, REPO, "2026-01-01T00:00:00Z", by_member=True, closing=closing)
        for said in (text, f"As a duplicate.\n{text} a dup of #1")
        for closing in (False, True)
    ],
    "addresses": lambda text: [
        (normalize_url(url), thing_at(url))
        for url in (text, f"https://example.org/{text}", f"https://github.com/{text}")
    ],
    "forms": lambda text: [boilerplate_of(name, text) for name in ("a.yml", "a.md")],
    "messages in common": lambda text: in_common(text, text[1:]),
    "templates": forbidden_part,
    "commands": lambda text: parse(f"/duplicates\n\n{text[60:]}\n\n/duplicates", REPO),
    # The demo's page is read by the host alone, and takes a tenth of a second for the largest.
    "HTML": lambda text: (hidden_by(text), to_html(text[:8_192])),
    "Markdown": lambda text: (escape(text), code(text)),
}

# Each is repeated up to the largest size: what makes an expression that repeats a repetition try everything.
PIECES = (
    "a", "A", "0", ".", "-", "_", " ", "\n", "\t", "a.", "a-", "a_", "a ", "aA", "A1", "::", "a::", "/a", "\\", "'",
    '"', "`", "```\n", "~~~\n", "<!--", "-->", "<!-- ", "# ", "#1 ", "a/b#1 ", "https://", "/", " /",
    "https://github.com/a/b/issues/1 ", "@a ", "[", "](", "Error: ", "Error", "at a.b(c.java:1)\n",
    'File "a", line 1, in b\n', "goroutine 1 [running]:\n", "panic: ", "0x", "E1 ", "duplicate of ", "duplicate ",
    "dup of #", "\u0301", "\u0301\u0316", "a\u0301\u0316", "日", "ก", "\u200b", "&", "&amp;",
    "<a ", "<a b='", "<!", "<?", "</", "<b>", "<b>\n\n", "label: ", "label: '", "---\n", "- ",
    "> - ", "1. a\n   ", "*a ", "`a``b", "<div>\n", "~~", "not ", "dup of #1 but ", "not a dup of #1, and ",
    "not that this is ", "dup of issue ", "in favor of #1 ", "not, ", "-a/b.", "dup of #1 but it   ",
    ">", "> \n", "> a\n", "- a\n", "- a\n\n  ", "~~~a\n", "a\n=\n", "a\n", "`\n", "_a", "<!-- -", "<![CDATA[", "<a\n",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_no_text_keeps_a_reader_busy(name: str) -> None:
    for piece in PIECES:
        text = (piece * (LARGEST // len(piece) + 1))[:LARGEST]
        with costs_at_most(MOST_SECONDS, repr(piece)):
            # With an end that lets no repetition match to it.
            READERS[name](f"x{text}!\0")
