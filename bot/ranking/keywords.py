"""F3: the search words of an issue, taken from its title and, a little, from its headings.

GitHub's search ANDs what it is given, so this recipe is narrow on purpose: it is the first query of the plan (F8),
the one whose words a reader recognises. The rest of the plan is in `plan.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.model import BODY_MAX
from bot.text.terms import without_comments
from bot.text.words import STOP_WORDS, split_words

__all__ = ["STOP_WORDS", "extract_search_keywords", "has_usable_words", "join_within"]

MAX_TITLE_WORDS = 5
MAX_HEADING_WORDS = 3
#: The limit is 256 characters (GitHub docs, "Limitations on query length"); the rest is left to the qualifiers.
MAX_LENGTH = 200

# What is read of a hostile text. GitHub itself allows 256 characters of title.
_TITLE_READ = 4_096

_HEADING = re.compile(r"^ {0,3}##[ \t]+(\S.*)$")
# What opens fenced code: behind backticks no further one, else they are a span of code within one line.
_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$")


def extract_search_keywords(
    title: str, body: str | None = None, template_headings: Iterable[str] = (), *, max_words: int = MAX_TITLE_WORDS
) -> str:
    """The words to search by, joined by spaces, at most 200 characters, possibly none.

    The first `max_words` title words that are no stop words, then up to 3 words of the body's `##` headings. Those in
    `template_headings`, which the repository's issue form supplies, say nothing about this issue and do not count. A
    word given twice is kept once, since a second mention narrows nothing. The case is kept, any script works.
    """
    title_words = _meaningful(split_words(title[:_TITLE_READ]))[:max_words]
    supplied = {_plain(heading) for heading in template_headings}
    seen = without_comments((body or "")[:BODY_MAX])
    own_headings = [heading for heading in _headings(seen) if _plain(heading) not in supplied]
    known = {word.lower() for word in title_words}
    heading_words = [word for word in _meaningful(split_words("\n".join(own_headings))) if word.lower() not in known]
    return join_within(title_words + heading_words[:MAX_HEADING_WORDS], MAX_LENGTH)


def has_usable_words(*texts: str) -> bool:
    """F9: whether there is anything to ask for; stop words alone find what they are told nothing about."""
    return any(word.lower() not in STOP_WORDS for text in texts for word in split_words(text[:BODY_MAX]))


def _meaningful(words: Iterable[str]) -> list[str]:
    """`words` without stop words, each once."""
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(word.lower(), word)
    return [word for folded, word in first.items() if folded not in STOP_WORDS]


def _headings(body: str) -> Iterable[str]:
    """The texts of the `##` headings outside of fenced code ("GitHub Flavored Markdown Spec", 4.5)."""
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
    """A heading for comparison: its words alone, in lower case."""
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
