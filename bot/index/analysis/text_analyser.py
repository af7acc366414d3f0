"""The analyser of this project: `bot.text.terms` and `bot.text.codes` as fields of the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from bot.index.analysis.protocol import Analysis, Field, counted, whole
from bot.text.codes import codes, message_terms
from bot.text.subject import subject
from bot.text.terms import BODY_READ, TITLE_READ, terms, without_noise

#: A word of the title counts like so many of the body.
TITLE_WEIGHT = 3
#: Characters of the body that are embedded, after the title.
BODY_EMBEDDED = 1_500


class TextAnalyser:
    """How an issue is read; lines that forms supply are left out, and of which kind its title says that it is.

    | field | what is in it |
    |---|---|
    | `title` | the words of the title |
    | `words` | the words of title and body, those of the title counted three times |
    | `lines` | whole lines, by which what forms supply is recognised, and all of the issue as one, by which a copy is |
    | `codes` | names from code, paths, versions, error codes of title and body |
    | `messages` | error messages that title and body quote, whole and in runs of three words |
    | `supplied` | the lines that are left out: how often a form's lines recur is known only with these |
    """

    #: A test notices when it has to be raised.
    version = 5
    fields: tuple[Field, ...] = (
        Field("title", posted=True, narrow=True),
        Field("words", posted=True),
        Field("lines", space="lines"),
        Field("codes", posted=True, space="codes"),
        Field("messages", posted=True, space="messages"),
        Field("supplied", space="lines"),
    )
    lines, supplied = "lines", "supplied"

    def lines_of(self, body: str) -> Sequence[str]:
        # In lower case, with single spaces.
        return [" ".join(line.split()) for line in body[:BODY_READ].lower().split("\n")]

    def read(self, title: str, body: str, lines: Sequence[str], supplied: Collection[str]) -> Analysis:
        body = body[:BODY_READ]
        own, left_out = lines, []
        if supplied:
            left_out = [line for line in counted(lines) if line in supplied]
            own = [line for line in lines if line not in supplied]
            body = _without(supplied, lines, body.split("\n"))
        body = without_noise(body)
        about = subject(title)
        title_read = about[:TITLE_READ]
        in_title = Counter(terms(title_read))
        counts = counted(own)
        words = Counter(terms(body))
        for term, count in in_title.items():
            words[term] += TITLE_WEIGHT * count
        both = f"{title_read}\n{body}"
        fields = {
            "title": in_title,
            "words": words,
            # A form that is empty again is not counted again, and so is no copy of itself either.
            "lines": dict.fromkeys([*counts, whole(title, lines)] if counts else (), 1),
            "codes": codes(both),
            "messages": message_terms(both),
            "supplied": dict.fromkeys(left_out, 1),
        }
        return Analysis(fields, _plain(about), _plain(f"{about}\n{body[:BODY_EMBEDDED]}"))


def _plain(text: str) -> str:
    """`text` in small letters with single spaces. To a model a word can be another one behind a tab, at the beginning
    of a line or with a capital.
    """
    return " ".join(text.lower().split())


def _without(supplied: Collection[str], lines: Sequence[str], written: Sequence[str]) -> str:
    """What is left of a body without the lines that are `supplied`.

    Of one that ends a comment of the author's own its mark stays: else that comment would hide all that follows.
    """
    left = []
    commented = False
    for line, as_written in zip(lines, written, strict=True):
        if line not in supplied:
            left.append(as_written)
            if "<!--" in line or "-->" in line:
                # Elsewhere than at the beginning of a line it need be none (`without_comments`).
                commented = line.startswith("<!--") and line.rfind("<!--") > line.rfind("-->")
        elif commented and "-->" in line:
            left.append("-->")
            commented = False
    return "\n".join(left)
