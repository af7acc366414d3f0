"""Analyses an issue: the terms of each field and the texts to embed, without the boilerplate of issue forms."""

from __future__ import annotations

import hashlib
import itertools
import struct
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from bot.text.error_messages import codes, message_terms
from bot.text.terms import BODY_READ, TITLE_READ, terms, without_noise
from bot.text.titles import subject


class RepositoryInfo(Protocol):
    """Tells the index about a repository. The methods must be quick; their results may change at any time."""

    def may_embed(self, repo_id: int) -> bool:
        """Whether the model may get this repository's texts (C6a: a remote model needs consent for private texts)."""

    def form_lines(self, repo_id: int) -> Collection[str]:
        """The lines that the repository's issue forms and templates put into an issue."""


@dataclass
class FormLines:
    """A `RepositoryInfo` with fixed form lines, for texts that every model may get."""

    lines: Collection[str] = ()

    def may_embed(self, repo_id: int) -> bool:
        return True

    def form_lines(self, repo_id: int) -> Collection[str]:
        return self.lines


#: At most this many lines of an issue are counted to find boilerplate. Never change this number: stored issues depend
#: on it, see `stored_boilerplate`.
MOST_LINES = 200


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the index. Each field counts separately how many issues have a term.

    A `posted` field has postings, so the field can be searched. In all fields of a `space`, a term has the same number,
    so that the title of an issue can be compared with the body of another issue.
    """

    name: str
    posted: bool = False
    space: str = "words"


@dataclass(frozen=True, slots=True)
class Analysis:
    """The terms of a text with their counts, by field name, and the two texts to embed: `title` and `text`."""

    terms: Mapping[str, Mapping[str, int]]
    title: str = ""
    text: str = ""


def countable_lines(lines: Iterable[str]) -> list[str]:
    """The lines of an issue that are counted, without repetitions and empty lines."""
    distinct = dict.fromkeys(lines)
    distinct.pop("", None)
    return list(itertools.islice(distinct, MOST_LINES))


def whole_issue_term(title: str, lines: Iterable[str]) -> str:
    """Title and body as one term of the field `lines`, to find copies. Its line breaks tell the term from a line."""
    return "\n".join([" ".join(title.lower().split()), *lines])


def hashes(space: str, terms: Iterable[str]) -> list[int]:
    """The hashes that stand for a space's terms in the database: signed 64-bit integers from a cryptographic hash."""
    hasher = hashlib.blake2b(digest_size=8, person=space.encode()[:16])
    digests = []
    for term in terms:
        digest = hasher.copy()
        digest.update(term.encode("utf-8", "surrogatepass"))
        digests.append(digest.digest())
    return list(struct.unpack(f"<{len(digests)}q", b"".join(digests)))


#: A line counts as boilerplate that a form supplied if at least this many issues and this share of all have the line.
SUPPLIED_ISSUES, SUPPLIED_SHARE = 5, 0.003


def find_boilerplate(
    lines: Set[str], all_lines: Collection[str], form_lines: Set[str], seen: Mapping[str, int], copies: int, issues: int
) -> set[str]:
    """The boilerplate among an issue's lines.

    `lines` are the lines that may be boilerplate, `all_lines` all counted lines of the issue, and `form_lines` the
    lines of the repository's current forms. `seen` maps each line to how many of the earlier `issues` have it. `copies`
    counts the earlier issues with the same title and body: a line that only they have does not come from a form.
    """
    threshold = max(SUPPLIED_ISSUES, SUPPLIED_SHARE * issues)
    # Copies of an issue repeat all its lines. If the copies alone reach a limit, that limit finds no boilerplate.
    recurring = {line for line in lines if copies < SUPPLIED_ISSUES <= seen[line]}
    boilerplate = {line for line in lines if copies < threshold <= seen[line]} | (form_lines & lines)
    if boilerplate and (recurring | boilerplate).issuperset(all_lines):
        # This is an empty form. Most people who fill in a form delete `recurring` lines, so these miss `threshold`.
        boilerplate |= recurring
    return boilerplate


def stored_boilerplate(lines: Sequence[str], whole_term: str, stored: Collection[str]) -> set[str] | None:
    """The lines that were boilerplate when the issue was stored, or None if that is unknown.

    `stored` has the lines of the issue that were not boilerplate at that time. If `stored` has any line, it
    also has `whole_term`, the whole issue as one term. Counting the lines now would miss forms that are no longer used.
    """
    # Unknown: another analyser version stored the issue, or `stored` has MOST_LINES lines and may lack later ones.
    if (stored and whole_term not in stored) or len(stored) > MOST_LINES:
        return None
    return {line for line in lines if line} - {*stored}


#: A word in the title counts as much as this many occurrences in the body.
TITLE_WEIGHT = 3
#: How many characters of the body are embedded after the title.
BODY_EMBEDDED = 1_500


class TextAnalyser:
    """Analyses an issue without its boilerplate, and without a prefix of its title such as `[Bug]:`.

    | field | what is in it |
    |---|---|
    | `title` | the words of the title |
    | `words` | the words of title and body; title words count three times |
    | `lines` | whole lines, to recognise boilerplate, and the whole issue as one term, to recognise copies |
    | `codes` | names from code, paths, versions, error codes of title and body |
    | `messages` | error messages that title and body quote, whole and in runs of three words |
    | `supplied` | the boilerplate that was left out, to count how often its lines recur |
    """

    #: Raise this number when a text's terms change: the indexer then reads all issues again. A test notices the change.
    version = 5
    #: The database refers to fields by position: add new fields at the end. Removing a field requires a new index.
    fields = (
        Field("title", posted=True),
        Field("words", posted=True),
        Field("lines", space="lines"),
        Field("codes", posted=True, space="codes"),
        Field("messages", posted=True, space="messages"),
        Field("supplied", space="lines"),
    )
    # The names of the two fields whose terms are whole lines. The space of both fields is `lines`, too.
    lines, supplied = "lines", "supplied"

    def lines_of(self, body: str) -> list[str]:
        """The lines of a body in comparable form: lower case, single spaces."""
        return [" ".join(line.split()) for line in body[:BODY_READ].lower().split("\n")]

    def read(self, title: str, body: str, lines: Sequence[str], boilerplate: Collection[str]) -> Analysis:
        """Analyse an issue without its `boilerplate`; `lines` is the result of `lines_of` for the body."""
        body = body[:BODY_READ]
        remaining, left_out = lines, []
        if boilerplate:
            left_out = [line for line in countable_lines(lines) if line in boilerplate]
            remaining = [line for line in lines if line not in boilerplate]
            body = _body_without(boilerplate, lines, body.split("\n"))
        body = without_noise(body)
        whole_subject = subject(title)
        short_subject = whole_subject[:TITLE_READ]
        in_title = Counter(terms(short_subject))
        own_lines = countable_lines(remaining)
        words = Counter(terms(body))
        for term, count in in_title.items():
            words[term] += TITLE_WEIGHT * count
        title_and_body = f"{short_subject}\n{body}"
        fields = {
            "title": in_title,
            "words": words,
            # An empty form has no lines of its own, and does not count as a copy of another empty form.
            "lines": dict.fromkeys([*own_lines, whole_issue_term(title, lines)] if own_lines else (), 1),
            "codes": codes(title_and_body),
            "messages": message_terms(title_and_body),
            "supplied": dict.fromkeys(left_out, 1),
        }
        embedded_body = body[:BODY_EMBEDDED]
        return Analysis(fields, _normalised(whole_subject), _normalised(f"{whole_subject}\n{embedded_body}"))


def _normalised(text: str) -> str:
    """`text` in lower case with single spaces, because a model treats different spellings as different words."""
    return " ".join(text.lower().split())


def _body_without(boilerplate: Collection[str], lines: Sequence[str], original_lines: Sequence[str]) -> str:
    """The body without boilerplate lines. If a boilerplate line ends the author's HTML comment, the `-->` stays."""
    remaining = []
    in_comment = False
    for line, original in zip(lines, original_lines, strict=True):
        if line not in boilerplate:
            remaining.append(original)
            if "<!--" in line or "-->" in line:
                # A leading `<!--` opens a comment (see `without_comments`) if no `-->` comes after the last `<!--`.
                in_comment = line.startswith("<!--") and line.rfind("<!--") > line.rfind("-->")
        elif in_comment and "-->" in line:
            # Otherwise the comment would hide the rest of the body.
            remaining.append("-->")
            in_comment = False
    return "\n".join(remaining)
