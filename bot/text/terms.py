"""Turns an issue's text into terms, by which the index finds and compares issues.

Terms are stems of words, identifiers with their parts, and pairs of characters in scripts without spaces. The text may
be hostile, so each step takes linear time, and only the beginning of the text is read.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice, pairwise

import snowballstemmer

from bot.text.titles import subject
from bot.text.words import MARKS, STOP_WORDS, UNSPACED, separate_scripts

# Windows status codes say how a process ended, or why a call failed. They look like memory addresses, but are evidence.
# Forms of a code: 0xC0000005, 3221225477, -1073741819 (words lose the minus). Source: Microsoft's
# [MS-ERREF], 2.1 (HRESULT: failures have the highest bit set), 2.3 (NTSTATUS: errors have the two highest bits set).
# The last two alternatives of the expression are exceptions of C++ and .NET.
_HEXADECIMAL = re.compile(r"0x(?:[8c][0-9a-f]{7}|e06d7363|e0434352)", re.IGNORECASE)
_DECIMAL = re.compile(r"[0-9]{10}")
# Ten digits can be anything, so decimal codes must be in a usual range: facilities 4 to 7 (HRESULT) or 0 (NTSTATUS).
_USUAL = (range(0x8004_0000, 0x8008_0000), range(0xC000_0000, 0xC001_0000))


def status_code(word: str) -> str:
    """`word` as a Windows status code, in lower-case hexadecimal; "" if `word` is not such a code."""
    if _HEXADECIMAL.fullmatch(word):
        return word.lower()
    if _DECIMAL.fullmatch(word):
        value = int(word)
        for unsigned in (value, 2**32 - value):
            if any(unsigned in usual for usual in _USUAL):
                return f"{unsigned:#010x}"
    return ""


#: How many characters are read. A text says early what it is about; the rest is mostly logs.
TITLE_READ = 400
BODY_READ = 6_000
#: The statistics of word rarity use at most this many terms of an issue: first the title's, then the body's.
MOST_COUNTED = 300
_LONGEST_CACHED = 40

_FILLERS = """
i me my we us our you your he she they them their its who which what when where why how if then than there here
was were been being am has had does did done no yes so but because also just only very too any some all more most
other such into out up down over after before about again while during between both each few own same
hi hello thanks thank please etc eg ie
p pre br div span code quot amp lt gt nbsp href src img
"""
_IGNORED = STOP_WORDS | frozenset(_FILLERS.split())

_RAW = re.compile(rf"[^\W_](?:\w|[{MARKS}])*")
# The parts of an identifier: `getHTTPUser2` has `get`, `HTTP`, `User`, `2`.
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_URL = re.compile(r"\bhttps?://\S+")
# An HTML comment at the beginning of a line is a block. Like an empty line, it ends the paragraph before it ("GitHub
# Flavored Markdown Spec", 4.6).
_BLOCK_BEGINS = re.compile(r"(?:^|\n) {0,3}\Z")
_PARAGRAPH_ENDS = re.compile(r"\n(?=[ \t\r]*\n| {0,3}<!--)")
# Texts that are no evidence: terminal colours, UUIDs, and times of log lines.
_NO_EVIDENCE = re.compile(
    r"\x1b\[[0-9;]*[A-Za-z]"
    r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
    r"|(?<![\w:])(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?![\w:])"
)
_DATA = re.compile(r"(?:0x)?[0-9a-fA-F]{7,}|\d{5,}")
_SHORTEST_DATA = 5
_UNSPACED = re.compile(f"[{UNSPACED}]")
# Full-width letters and digits, and half-width kana.
_WIDTHS = re.compile("[\uff01-\uff9f]+")
# Letters of Russian and Turkish, and the similar letters that many people write instead.
_INTERCHANGED = str.maketrans("ёЁıİ", "еЕiI")
# A letter with at most eight marks. Real text never has more.
_LETTER = re.compile(rf"[^{MARKS}][{MARKS}]{{0,8}}")

# Longer words are not stemmed: they are not English, and would take long.
_LONGEST_WORD = 40
_LONGEST_TERM = 64
_english = snowballstemmer.stemmer("english")
# The stemmer's own cache takes three times as long as stemming.
_english.maxCacheSize = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """The counts of an issue's terms: in its `title`, and in the whole text (`all`), where the title counts twice."""

    title: Mapping[str, int]
    all: Mapping[str, int]

    def counted(self) -> frozenset[str]:
        """The terms that count for word rarity in the repository's statistics (`bot/search/ranking/relevance.py`)."""
        return frozenset(islice({**self.title, **self.all}, MOST_COUNTED))


def read(title: str, body: str) -> Evidence:
    in_title = Counter(terms(subject(title[:TITLE_READ])))
    everything = Counter(terms(without_noise(body)))
    for term, count in in_title.items():
        everything[term] += 2 * count
    return Evidence(in_title, everything)


def without_noise(body: str) -> str:
    """A body's beginning, without HTML comments, URLs, terminal colours, UUIDs or times; HTML entities are resolved."""
    body = without_comments(body[:BODY_READ])
    if "&" in body:
        body = html.unescape(body)
    if "://" in body:
        body = _URL.sub(" ", body)
    return _NO_EVIDENCE.sub(" ", body)


def without_comments(body: str) -> str:
    """`body` without HTML comments, as GitHub shows the body. Templates keep their instructions in comments.

    A comment at the beginning of a line hides everything up to its end mark, or up to the end of the body. A comment
    within a line must end in the same paragraph ("GitHub Flavored Markdown Spec", 4.6 and 6.10); without an end mark
    there, it is text, as in "the parser fails at `<!--`".
    """
    kept = []
    kept_to = looked_to = paragraph_end = 0
    while (start := body.find("<!--", looked_to)) >= 0:
        is_block = _BLOCK_BEGINS.search(body[max(start - 4, 0) : start]) is not None
        if start >= paragraph_end:
            found = _PARAGRAPH_ENDS.search(body, start)
            paragraph_end = found.start() if found else len(body)
        end_mark = body.find("-->", start + 4, len(body) if is_block else paragraph_end)
        if end_mark < 0 and not is_block:
            # The rest of the paragraph has no end mark. Skip the rest, which keeps the time linear.
            looked_to = paragraph_end
            continue
        kept.append(body[kept_to:start])
        if end_mark < 0:
            return " ".join(kept)
        kept_to = looked_to = end_mark + 3
    return " ".join([*kept, body[kept_to:]])


def raw_words(text: str) -> list[str]:
    """The words as written. Underscores stay, except before the first letter or digit."""
    return _RAW.findall(separate_scripts(text))


def is_unspaced(raw: str) -> bool:
    """Whether `terms_of` splits a word into pairs of characters."""
    return not raw.isascii() and len(_pairs(raw)) > 1


def _pairs(word: str) -> tuple[str, ...]:
    """A word's overlapping pairs of characters; none if the word has under three characters or a script with spaces."""
    if len(word) < 3 or not _UNSPACED.search(word):
        return ()
    return tuple(one + other for one, other in pairwise(_LETTER.findall(word)))


def _terms_of(raw: str) -> tuple[str, ...]:
    if not raw.isascii():
        raw = _WIDTHS.sub(lambda run: unicodedata.normalize("NFKC", run[0]), raw).translate(_INTERCHANGED)
    word = raw.lower()
    if not raw.isascii() and len(pairs := _pairs(word)) > 1:
        # No limit of length applies here: in a script without spaces, a whole sentence is one word.
        return pairs
    if word in _IGNORED or len(word) > _LONGEST_TERM:
        return ()
    if len(raw) >= _SHORTEST_DATA and _DATA.fullmatch(raw):
        code = status_code(raw)
        return (code,) if code else ()
    if not raw.isascii():
        return (word,)
    if raw.isalpha() and raw[1:].islower():
        return (_stem(word),)
    parts = _PART.findall(raw)
    if len(parts) < 2:
        return (_stem(word),)
    inner = (part.lower() for part in parts if len(part) > 1)
    return tuple(dict.fromkeys([word, *(_stem(part) for part in inner if part not in _IGNORED)]))


_cached_terms_of = lru_cache(maxsize=1 << 14)(_terms_of)


def terms_of(raw: str) -> tuple[str, ...]:
    """The terms of one written word. Fillers, and data such as memory addresses, have no terms.

    `getUserName` gives `getusername`, `get`, `user`, `name`. A word in a script without spaces gives its overlapping
    pairs of characters.
    """
    # Long words are not cached, because a stranger could fill the memory with them.
    return _cached_terms_of(raw) if len(raw) <= _LONGEST_CACHED else _terms_of(raw)


def terms(text: str) -> list[str]:
    """The terms of `text` in order."""
    return list(chain.from_iterable(map(terms_of, raw_words(text))))


def _stem(word: str) -> str:
    if len(word) > _LONGEST_WORD or not word.isalpha():
        return word
    stemmed: str = _english.stemWord(word)
    return stemmed


# Lines that do not count as the author's own. Forms add headings, check boxes, `_No response_`, and code fences around
# logs. Templates add bold lines and horizontal rules. Anybody may add a picture or URL alone on its line.
_FORM_LINE = re.compile(
    r"#{2,6}\s|[-*+] \[[ xX]?\]|_No response_$|(?:```|~~~)\S*$|\*\*[^*]+\*\*:?$|[-*_]{3,}$"
    r"|!\[[^\]]*\]\([^)]*\)$|<img\b[^>]*>$|https?://\S+$"
)


def own_text(body: str, supplied: Collection[str] = (), between: str = " ") -> str:
    """The author's own lines, joined by `between`. `supplied` has the form's lines, lower-case with single spaces."""
    lines = (" ".join(line.split()) for line in without_comments(body[:BODY_READ]).split("\n"))
    return between.join(line for line in lines if line and line.lower() not in supplied and not _FORM_LINE.match(line))
