"""Two issues side by side: what each says, with what both say marked, and the reasons in words (C3). Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain

from bot.domain.report import Reason
from bot.search.matching.explanation import ComparedText, says_something, shared_message, shared_reasons, shared_words
from bot.text.messages import error_messages
from bot.text.terms import raw_words, terms, terms_of
from bot.text.words import is_function_word

LONGEST = 20_000
"""Characters of a text that are shown."""

# A heading, which a form may have asked for, or a word as it is written, with what joins the parts of a name from code.
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_WORD = re.compile(rf"{_HEADING.pattern}|\w[\w.:/\\-]*\w|\w", re.MULTILINE)

Text = tuple[str, str]
"""Title and body."""
Marked = list[tuple[str, bool]]
"""A text in parts, each with whether it is to be marked."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Titles and texts of two issues in marked parts, and what they share, strongest first."""

    titles: tuple[Marked, Marked]
    texts: tuple[Marked, Marked]
    reasons: tuple[Reason, ...]


def side_by_side(one: Text, other: Text) -> Pair:
    """The two, compared by their words alone: of each only the beginning, where it is long."""
    both = tuple((title, body[:LONGEST]) for title, body in (one, other))
    own = tuple((title, _HEADING.sub("", body)) for title, body in both)
    mine, theirs = (ComparedText(*text) for text in own)
    order = [list(dict.fromkeys(terms(f"{title}\n{body}"))) for title, body in own]
    shared = set(order[0]).intersection(order[1])
    message = shared_message(mine, theirs, error_messages("\n".join(own[0])))
    words = shared_words(mine, theirs, (term for term in order[0] if term in shared))
    titles, texts = zip(*((_marked(title, shared), _marked(body, shared)) for title, body in both), strict=True)
    return Pair(titles, texts, shared_reasons(message, *words))


def _marked(text: str, shared: Collection[str]) -> Marked:
    parts: Marked = []
    for part, marked in _parts(text, shared):
        if parts and parts[-1][1] is marked:
            parts[-1] = (parts[-1][0] + part, marked)
        else:
            parts.append((part, marked))
    return parts


def _parts(text: str, shared: Collection[str]) -> Iterator[tuple[str, bool]]:
    at = 0
    for word in _WORD.finditer(text):
        if word.start() > at:
            yield text[at : word.start()], False
        raws = [] if word[0].startswith("#") else raw_words(word[0])
        telling = (raw for raw in raws if says_something(raw) and not is_function_word(raw))
        yield word[0], any(term in shared for term in chain.from_iterable(map(terms_of, telling)))
        at = word.end()
    yield text[at:], False
