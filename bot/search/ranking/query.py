"""Extracts an issue's search words (F3), and builds queries whose meaning an issue's text cannot change (F4).

An issue's text loses what GitHub's query parser interprets: quotes, colons, parentheses, a leading `-`,
the capitals of `AND`/`OR`/`NOT`, control and bidirectional characters (GitHub docs: "Understanding the search syntax").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

from bot.domain.entities import BODY_MAX, RepoRef, StateFilter
from bot.text.github_urls import second_level_headings
from bot.text.terms import without_comments
from bot.text.words import MARKS, STOP_WORDS, split_words

__all__ = ["STOP_WORDS", "extract_search_keywords", "has_usable_words", "join_within"]

MAX_TITLE_WORDS = 5
MAX_HEADING_WORDS = 3
#: GitHub allows 256 characters (GitHub docs, "Limitations on query length"); the rest is a margin.
MAX_LENGTH = 200

# How many characters of a title are read. GitHub allows 256, but a hostile title may be longer.
_TITLE_CHARACTERS_READ = 4_096


def extract_search_keywords(
    title: str, body: str | None = None, template_headings: Iterable[str] = (), *, max_words: int = MAX_TITLE_WORDS
) -> str:
    """The search words, joined by spaces, at most 200 characters; possibly empty.

    Up to `max_words` title words that are not stop words come first, then up to 3 words of the body's `##` headings.
    Headings of the repository's issue form (`template_headings`) are ignored. Each word is kept once, with its case.
    """
    title_words = _meaningful(split_words(title[:_TITLE_CHARACTERS_READ]))[:max_words]
    from_template = {_plain(heading) for heading in template_headings}
    visible = without_comments((body or "")[:BODY_MAX])
    own_headings = [one for one in second_level_headings(visible) if _plain(one) not in from_template]
    known = {word.lower() for word in title_words}
    heading_words = [word for word in _meaningful(split_words("\n".join(own_headings))) if word.lower() not in known]
    return join_within(title_words + heading_words[:MAX_HEADING_WORDS], MAX_LENGTH)


def has_usable_words(*texts: str) -> bool:
    """Whether the texts have a word to search for (F9). Stop words find nothing useful."""
    return any(word.lower() not in STOP_WORDS for text in texts for word in split_words(text[:BODY_MAX]))


def _meaningful(words: Iterable[str]) -> list[str]:
    """The words that are not stop words, each once."""
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(word.lower(), word)
    return [word for folded, word in first.items() if folded not in STOP_WORDS]


def _plain(heading: str) -> str:
    """A heading's words in lower case, for comparison."""
    return " ".join(split_words(heading)).lower()


def join_within(words: list[str], limit: int) -> str:
    """As many whole words as fit into `limit` characters. Cuts the first word if it alone is longer."""
    joined = ""
    for word in words:
        longer = f"{joined} {word}" if joined else word[:limit]
        if len(longer) > limit:
            break
        joined = longer
    return joined


#: A query may have up to this many AND, OR and NOT (GitHub docs, "Limitations on query length").
MAX_OPERATORS = 5

Scope = Literal["title", "body", "title,body"]
Kind = Literal["issue", "pr"]

# An identifier keeps its inner punctuation, because the search engine splits queries the same way as issues.
# A hyphen stays only inside a word, because in front of a word it means NOT.
_TERM = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}]|[._-](?=[^\W_]))*")
_OPERATORS = frozenset({"AND", "OR", "NOT"})


def neutralise(text: str) -> str:
    """The words of `text`, joined by single spaces, with operators in lower case and without punctuation."""
    return " ".join(_harmless(split_words(text)))


def neutralise_term(text: str) -> str:
    """Like `neutralise`, but inner dots, hyphens and underscores of identifiers stay: `log.Fatal`, `snake_case`."""
    return " ".join(_harmless(_TERM.findall(text)))


def phrase(text: str) -> str:
    """`text` as a quoted phrase, or "" if the text has no searchable word."""
    words = neutralise_term(text)
    return f'"{words}"' if words else ""


def literal_query(repo: RepoRef, keywords: str, state: StateFilter = "all") -> str:
    """F4: `repo:OWNER/NAME is:issue [is:open] in:title KEYWORDS`."""
    return build_query(repo, neutralise(keywords), "title", state)


def build_query(
    repo: RepoRef | Sequence[RepoRef],
    text: str,
    scope: Scope,
    state: StateFilter = "all",
    kind: Kind = "issue",
    *,
    flat: bool = False,
) -> str:
    """A query in one repository or several. The words of `text` must be neutralised.

    `flat` writes no OR between several `repo:`. A server that does not know OR then searches all of
    them. A server that knows OR finds nothing: https://github.com/cli/cli/pull/11638
    """
    return f"{qualifiers(repo, state, kind, flat=flat)} in:{scope} {text}".rstrip()


def qualifiers(
    repo: RepoRef | Sequence[RepoRef], state: StateFilter, kind: Kind = "issue", *, flat: bool = False
) -> str:
    """The beginning of every query: the repositories, the kind, and the state."""
    repos = [f"repo:{one}" for one in ([repo] if isinstance(repo, RepoRef) else repo)]
    where = " ".join(repos) if flat else any_of(repos)
    return f"{where} is:{kind}" + ("" if state == "all" else f" is:{state}")


def any_of(alternatives: Iterable[str]) -> str:
    """`((a b) OR (c d))`: alternatives of neutralised words; "" without alternatives.

    Words within one alternative are ANDed. The outer parentheses keep the qualifiers out of the OR.
    """
    groups = [one if one.startswith('"') or " " not in one else f"({one})" for one in alternatives]
    return "".join(groups) if len(groups) < 2 else f"({' OR '.join(groups)})"


def _harmless(words: Iterable[str]) -> Iterable[str]:
    return (word.lower() if _as_letters(word) in _OPERATORS else word for word in words)


def _as_letters(word: str) -> str:
    """`word` in plain letters. A server may drop accents and full-width forms before it looks for operators."""
    if word.isascii():
        return word
    # One character at a time: a whole word with n accents on a letter takes time quadratic in n.
    parts = (part for char in word for part in unicodedata.normalize("NFKD", char))
    return "".join(part for part in parts if not unicodedata.combining(part))
