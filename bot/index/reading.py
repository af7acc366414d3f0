"""The analyser of this project: `bot.ranking.text` and `bot.ranking.codes` as fields of the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from itertools import islice

from bot.index.analysis import Analysis, Field
from bot.ranking.codes import codes, message_terms
from bot.ranking.text import BODY_READ, TITLE_READ, terms, without_noise

#: A word of the title counts like so many of the body.
TITLE_WEIGHT = 3
#: Characters of the body that are embedded, after the title.
BODY_EMBEDDED = 1_500
_MOST_LINES = 200


class TextAnalyser:
    """How an issue is read; lines that forms supply are left out.

    | field | what is in it |
    |---|---|
    | `title` | the words of the title |
    | `words` | the words of title and body, those of the title counted three times |
    | `lines` | whole lines, by which what forms supply is recognised |
    | `codes` | names from code, paths, versions, error codes of title and body |
    | `messages` | error messages that title and body quote, whole and in runs of three words |
    """

    fields = (
        Field("title", posted=True),
        Field("words", posted=True),
        Field("lines", space="lines"),
        Field("codes", posted=True, space="codes"),
        Field("messages", posted=True, space="messages"),
    )
    lines = "lines"

    def lines_of(self, body: str) -> Collection[str]:
        found = dict.fromkeys(_keys(body[:BODY_READ]))
        found.pop("", None)
        return list(found)[:_MOST_LINES]

    def read(self, title: str, body: str, supplied: Callable[[str], bool]) -> Analysis:
        body = body[:BODY_READ]
        lines = [(key, line) for key, line in zip(_keys(body), body.split("\n"), strict=True) if not supplied(key)]
        own = dict.fromkeys((key for key, _ in lines if key), 1)
        body = without_noise("\n".join([line for _, line in lines]))
        title_read = title[:TITLE_READ]
        in_title = Counter(terms(title_read))
        words = Counter(terms(body))
        for term, count in in_title.items():
            words[term] += TITLE_WEIGHT * count
        both = f"{title_read}\n{body}"
        counted = {
            "title": in_title,
            "words": words,
            "lines": own if len(own) <= _MOST_LINES else dict(islice(own.items(), _MOST_LINES)),
            "codes": codes(both),
            "messages": message_terms(both),
        }
        return Analysis(counted, title, f"{title}\n{body[:BODY_EMBEDDED]}")


def _keys(text: str) -> list[str]:
    """The lines in the form in which they are compared: in lower case, with single spaces."""
    return [" ".join(line.split()) for line in text.lower().split("\n")]
