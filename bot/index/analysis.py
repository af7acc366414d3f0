"""What is taken from a text: the terms of its fields, and what is embedded; what its form has supplied is not."""

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


class About(Protocol):
    """What the index asks about a repository itself. Answers must be quick, and may change at any time."""

    def may_embed(self, repo_id: int) -> bool:
        """Whether this repository's texts may be given to the model (C6a: private ones not to every remote one)."""
        ...

    def form_lines(self, repo_id: int) -> Collection[str]:
        """The lines that its issue forms and templates put into an issue."""
        ...


@dataclass
class Forms:
    """For texts that stay on this machine, of which nothing is known but what forms put into them."""

    lines: Collection[str] = ()

    def may_embed(self, repo_id: int) -> bool:
        return True

    def form_lines(self, repo_id: int) -> Collection[str]:
        return self.lines


#: Lines of one issue that are counted. Never to be changed: `supplied_before` knows by it that there were more.
MOST_LINES = 200
# Bytes of a term's hash.
_HASH = 8


@dataclass(frozen=True, slots=True)
class Field:
    """A kind of evidence. In how many issues each of its terms occurs is counted for the field by itself.

    A `posted` field can be searched. In fields of the same `space` equal terms have equal numbers, so that the title of
    one issue can be compared with the body of another. A `narrow` field never has many of the terms of its space.
    """

    name: str
    posted: bool = False
    space: str = "words"
    narrow: bool = False


@dataclass(frozen=True, slots=True)
class Analysis:
    """A text as terms: how often each occurs, by the field's name. `title` and `text` are what is embedded."""

    terms: Mapping[str, Mapping[str, int]]
    title: str = ""
    text: str = ""


def counted(lines: Iterable[str]) -> list[str]:
    """Those of an issue's lines that are counted, each once; the terms of that field."""
    distinct = dict.fromkeys(lines)
    distinct.pop("", None)
    return list(itertools.islice(distinct, MOST_LINES))


def whole(title: str, lines: Iterable[str]) -> str:
    """Title and text together as one more term among the lines: who has it too is a copy, word for word.

    Lines hold no line breaks, so it is none of them.
    """
    return "\n".join([" ".join(title.lower().split()), *lines])


def hashes(space: str, terms: Iterable[str]) -> list[int]:
    """The terms' names in the database: 64 bits, signed; nobody can make two terms collide on purpose."""
    begun = hashlib.blake2b(digest_size=_HASH, person=space.encode()[:16])
    digests = []
    for term in terms:
        digest = begun.copy()
        digest.update(term.encode("utf-8", "surrogatepass"))
        digests.append(digest.digest())
    return list(struct.unpack(f"<{len(digests)}q", b"".join(digests)))


#: A line that at least so many issues, and so large a part of all, have in common comes from the form.
SUPPLIED_ISSUES, SUPPLIED_SHARE = 5, 0.003


def supplied(
    lines: Set[str], own: Collection[str], known: Set[str], seen: Mapping[str, int], copies: int, issues: int
) -> set[str]:
    """Those of an issue's lines that its form has supplied.

    `lines` are those of the issue that may be the form's, `own` all that count, `known` what the repository's forms are
    known to say. `seen` says in how many of the `issues` before it each occurs. Of these, `copies` are this very issue
    again, title and text: as often as that recurs, its lines may recur for it alone, and no form is to blame.
    """
    least = max(SUPPLIED_ISSUES, SUPPLIED_SHARE * issues)
    recurring = {line for line in lines if seen[line] >= SUPPLIED_ISSUES > copies}
    found = {line for line in lines if seen[line] >= least > copies} | (known & lines)
    if found and (recurring | found).issuperset(own):
        # An empty form keeps even those lines of it that most people delete.
        found |= recurring
    return found


def supplied_before(lines: Sequence[str], copy: str, stored: Collection[str]) -> set[str] | None:
    """Those of an issue's lines that its form was found to have supplied when the issue was read; None if unknown.

    `stored` are those of its lines that were counted then, and `copy`, the text as one, if anything was. Who asks how
    often a line recurs now would get another answer: a form that is out of use no longer recurs often enough.
    """
    if stored and copy not in stored:
        # It was read by a version that had other lines.
        return None
    if len(stored) > MOST_LINES:
        # Those behind the last one that is counted may be anybody's.
        return None
    return {line for line in lines if line} - {*stored}


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

    #: Raised whenever some text has other terms than before, so that what is stored is read again; a test notices when.
    version = 5
    #: Stored by position: new ones go to the end, and none may be taken away without indexing anew.
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
        """The lines of a body, all of them, as they are compared: in lower case, with single spaces."""
        return [" ".join(line.split()) for line in body[:BODY_READ].lower().split("\n")]

    def read(self, title: str, body: str, lines: Sequence[str], supplied: Collection[str]) -> Analysis:
        """Read an issue with its `lines_of`. So many issues have those that are `supplied` that they say nothing."""
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
