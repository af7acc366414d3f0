"""Analyses an issue's text into terms by field, and into the texts to embed, without the boilerplate of forms."""

from __future__ import annotations

import hashlib
import itertools
import struct
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from bot.text.messages import codes, message_terms
from bot.text.terms import BODY_READ, TITLE_READ, terms, without_noise
from bot.text.titles import subject


class RepositoryInfo(Protocol):
    """What the index must know about a repository. Answers must be quick, and may change at any time."""

    def may_embed(self, repo_id: int) -> bool:
        """Whether the model may get this repository's texts (C6a: private text is kept from most remote models)."""

    def form_lines(self, repo_id: int) -> Collection[str]:
        """The lines that the repository's issue forms and templates put into an issue."""


@dataclass
class FormLines:
    """A `RepositoryInfo` of these lines, for texts that never leave this machine."""

    lines: Collection[str] = ()

    def may_embed(self, repo_id: int) -> bool:
        return True

    def form_lines(self, repo_id: int) -> Collection[str]:
        return self.lines


#: Lines of one issue that are counted. Never change this: `supplied_before` relies on it for stored issues.
MOST_LINES = 200


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the index, with its own count of the issues that have each term.

    A `posted` field can be searched. Fields of one `space` share term numbers, so that one issue's title can be
    compared with another's body. A `narrow` field has few terms of its space.
    """

    name: str
    posted: bool = False
    space: str = "words"
    narrow: bool = False


@dataclass(frozen=True, slots=True)
class Analysis:
    """A text's terms with their counts, by the field's name; `title` and `text` are embedded."""

    terms: Mapping[str, Mapping[str, int]]
    title: str = ""
    text: str = ""


def counted(lines: Iterable[str]) -> list[str]:
    """The lines of an issue that are counted, each once."""
    distinct = dict.fromkeys(lines)
    distinct.pop("", None)
    return list(itertools.islice(distinct, MOST_LINES))


def whole(title: str, lines: Iterable[str]) -> str:
    """Title and text as one term of the field `lines`, by which copies are found. Unlike a line it has line breaks."""
    return "\n".join([" ".join(title.lower().split()), *lines])


def hashes(space: str, terms: Iterable[str]) -> list[int]:
    """The terms' hashes in the database: 64 bits, signed, and by a cryptographic hash."""
    begun = hashlib.blake2b(digest_size=8, person=space.encode()[:16])
    digests = []
    for term in terms:
        digest = begun.copy()
        digest.update(term.encode("utf-8", "surrogatepass"))
        digests.append(digest.digest())
    return list(struct.unpack(f"<{len(digests)}q", b"".join(digests)))


#: A line that this many issues, and this share of all, have in common is boilerplate.
SUPPLIED_ISSUES, SUPPLIED_SHARE = 5, 0.003


def supplied(
    lines: Set[str], own: Collection[str], known: Set[str], seen: Mapping[str, int], copies: int, issues: int
) -> set[str]:
    """The boilerplate among an issue's lines.

    `lines` are those that may be boilerplate, `own` all counted lines, `known` the lines of the repository's present
    forms. `seen` tells in how many of the earlier `issues` each line occurs. `copies` of these have the same title and
    text: a line that occurs no more often is no sign of a form.
    """
    least = max(SUPPLIED_ISSUES, SUPPLIED_SHARE * issues)
    recurring = {line for line in lines if seen[line] >= SUPPLIED_ISSUES > copies}
    found = {line for line in lines if seen[line] >= least > copies} | (known & lines)
    if found and (recurring | found).issuperset(own):
        # An empty form, with lines that most people delete.
        found |= recurring
    return found


def supplied_before(lines: Sequence[str], copy: str, stored: Collection[str]) -> set[str] | None:
    """The lines that were boilerplate when the issue was stored; None if that is not known.

    `stored` are the lines that were counted then, with `copy`, the text as one term, if there were any. Counting again
    would miss forms that are no longer used.
    """
    # Another version of the analyser has read it; or lines after the last counted one may be boilerplate or not.
    if (stored and copy not in stored) or len(stored) > MOST_LINES:
        return None
    return {line for line in lines if line} - {*stored}


#: A word of the title counts like this many of the body.
TITLE_WEIGHT = 3
#: Characters of the body that are embedded, after the title.
BODY_EMBEDDED = 1_500


class TextAnalyser:
    """Analyses an issue without boilerplate, and without the kind of issue that its title begins with.

    | field | what is in it |
    |---|---|
    | `title` | the words of the title |
    | `words` | the words of title and body, those of the title counted three times |
    | `lines` | whole lines, to recognise boilerplate, and the whole issue as one term, to recognise copies |
    | `codes` | names from code, paths, versions, error codes of title and body |
    | `messages` | error messages that title and body quote, whole and in runs of three words |
    | `supplied` | the boilerplate that was left out, to count how often its lines recur |
    """

    #: Raise this when texts get other terms, so that stored issues are read again. A test notices.
    version = 5
    #: Stored by position: add new ones at the end; removing one takes a new index.
    fields = (
        Field("title", posted=True, narrow=True),
        Field("words", posted=True),
        Field("lines", space="lines"),
        Field("codes", posted=True, space="codes"),
        Field("messages", posted=True, space="messages"),
        Field("supplied", space="lines"),
    )
    lines, supplied = "lines", "supplied"

    def lines_of(self, body: str) -> list[str]:
        """The lines of a body in comparable form: lower case, single spaces."""
        return [" ".join(line.split()) for line in body[:BODY_READ].lower().split("\n")]

    def read(self, title: str, body: str, lines: Sequence[str], supplied: Collection[str]) -> Analysis:
        """Analyse an issue without the boilerplate `supplied`; `lines` are its `lines_of`."""
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
            # An empty form has no lines of its own, and does not count as a copy of another.
            "lines": dict.fromkeys([*counts, whole(title, lines)] if counts else (), 1),
            "codes": codes(both),
            "messages": message_terms(both),
            "supplied": dict.fromkeys(left_out, 1),
        }
        return Analysis(fields, _plain(about), _plain(f"{about}\n{body[:BODY_EMBEDDED]}"))


def _plain(text: str) -> str:
    """`text` in lower case with single spaces, because a model takes other spellings for other words."""
    return " ".join(text.lower().split())


def _without(supplied: Collection[str], lines: Sequence[str], written: Sequence[str]) -> str:
    """The body without boilerplate. A mark that ends the author's own HTML comment stays; else the rest were hidden."""
    left = []
    commented = False
    for line, as_written in zip(lines, written, strict=True):
        if line not in supplied:
            left.append(as_written)
            if "<!--" in line or "-->" in line:
                # Only at the beginning of a line is it a comment for sure (`without_comments`).
                commented = line.startswith("<!--") and line.rfind("<!--") > line.rfind("-->")
        elif commented and "-->" in line:
            left.append("-->")
            commented = False
    return "\n".join(left)
