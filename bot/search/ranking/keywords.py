"""Extracts an issue's search words from its title, and a few from its headings (F3).

GitHub ANDs all words, so this query is narrow. It is the first of the plan (F8), and its words are those that a reader
recognises. The rest of the plan is in `plan.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.domain.entities import BODY_MAX
from bot.text.terms import without_comments
from bot.text.words import STOP_WORDS, split_words

__all__ = ["STOP_WORDS", "extract_search_keywords", "has_usable_words", "join_within"]

MAX_TITLE_WORDS = 5
MAX_HEADING_WORDS = 3
#: The limit is 256 characters (GitHub docs, "Limitations on query length"); the qualifiers need the rest.
MAX_LENGTH = 200

# Characters that are read of a hostile title. GitHub allows 256.
_TITLE_READ = 4_096

_HEADING = re.compile(r"^ {0,3}##[ \t]+(\S.*)$")
# The opening of fenced code. With more backticks in the line it would be a code span.
_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$")


def extract_search_keywords(
    title: str, body: str | None = None, template_headings: Iterable[str] = (), *, max_words: int = MAX_TITLE_WORDS
) -> str:
    """The words to search by, joined by spaces, at most 200 characters, possibly none.

    First come up to `max_words` title words that are no stop words, then up to 3 words of the body's `##` headings.
    `template_headings`, from the repository's issue form, do not count. Each word is kept once, with its case.
    """
    title_words = _meaningful(split_words(title[:_TITLE_READ]))[:max_words]
    supplied = {_plain(heading) for heading in template_headings}
    seen = without_comments((body or "")[:BODY_MAX])
    own_headings = [heading for heading in _headings(seen) if _plain(heading) not in supplied]
    known = {word.lower() for word in title_words}
    heading_words = [word for word in _meaningful(split_words("\n".join(own_headings))) if word.lower() not in known]
    return join_within(title_words + heading_words[:MAX_HEADING_WORDS], MAX_LENGTH)


def has_usable_words(*texts: str) -> bool:
    """Whether there is anything to search for (F9): stop words alone find nothing useful."""
    return any(word.lower() not in STOP_WORDS for text in texts for word in split_words(text[:BODY_MAX]))


def _meaningful(words: Iterable[str]) -> list[str]:
    """`words` without stop words, each once."""
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(word.lower(), word)
    return [word for folded, word in first.items() if folded not in STOP_WORDS]


def _headings(body: str) -> Iterable[str]:
    """The texts of the `##` headings outside fenced code ("GitHub Flavored Markdown Spec", 4.5)."""
    fence = ""
    for line in body.splitlines():
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif not fence and (heading := _HEADING.match(line)):
            yield heading[1]


def _plain(heading: str) -> str:
    """A heading's words in lower case, for comparison."""
    return " ".join(split_words(heading)).lower()


def join_within(words: list[str], limit: int) -> str:
    """As many whole words as fit into `limit` characters; a first word that is longer is cut."""
    joined = ""
    for word in words:
        longer = f"{joined} {word}" if joined else word[:limit]
        if len(longer) > limit:
            break
        joined = longer
    return joined
