"""Turns an issue's text into terms: stems of words, identifiers with their parts, pairs of characters in scripts that
have no spaces.

The text is hostile: each step is linear in the length read, and that length is bounded.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

import snowballstemmer

from bot.text.titles import subject
from bot.text.words import MARKS, STOP_WORDS, UNSPACED, separate_scripts

# Windows status codes tell how a process ended, or why a call failed. They look like addresses, but are evidence. A
# code has several forms: 0xC0000005, -1073741819, 3221225477. Source: Microsoft's [MS-ERREF], 2.1 (HRESULT, a failure
# has the highest bit) and 2.3 (NTSTATUS, an error has the two highest). The last two are exceptions of C++ and .NET.
_HEXADECIMAL = re.compile(r"0x(?:[8c][0-9a-f]{7}|e06d7363|e0434352)", re.IGNORECASE)
_DECIMAL = re.compile(r"[0-9]{10}")
# Ten digits can be anything, so decimal codes must be in a usual range: facilities 4 to 7, and 0 of NTSTATUS.
_USUAL = (range(0x8004_0000, 0x8008_0000), range(0xC000_0000, 0xC001_0000))


def status_code(word: str) -> str:
    """The status code that a word stands for, in lower-case hexadecimal, or ""."""
    if _HEXADECIMAL.fullmatch(word):
        return word.lower()
    if _DECIMAL.fullmatch(word):
        value = int(word)
        for unsigned in (value, 2**32 - value):
            if any(unsigned in usual for usual in _USUAL):
                return f"{unsigned:#010x}"
    return ""


#: Characters that are read. A text says early what it is about; what follows is mostly logs.
TITLE_READ = 400
BODY_READ = 6_000
#: How many different terms of one issue count for word rarity, its title's first.
MOST_COUNTED = 300
_LONGEST_KEPT = 40

_FILLERS = """
i me my we us our you your he she they them their its who which what when where why how if then than there here
was were been being am has had does did done no yes so but because also just only very too any some all more most
other such into out up down over after before about again while during between both each few own same
hi hello thanks thank please etc eg ie
p pre br div span code quot amp lt gt nbsp href src img
"""
_IGNORED = STOP_WORDS | frozenset(_FILLERS.split())

_RAW = re.compile(rf"[^\W_](?:\w|[{MARKS}])*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_URL = re.compile(r"\bhttps?://\S+")
# "GitHub Flavored Markdown Spec", 4.6: a comment that begins a line is a block, and ends a paragraph as empty lines do.
_BLOCK_BEGINS = re.compile(r"(?:^|\n) {0,3}\Z")
_PARAGRAPH_ENDS = re.compile(r"\n(?=[ \t\r]*\n| {0,3}<!--)")
# What no other report has: terminal colours, UUIDs, and times of log lines.
_ONCE = re.compile(
    r"\x1b\[[0-9;]*[A-Za-z]"
    r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
    r"|(?<![\w:])(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?![\w:])"
)
_DATA = re.compile(r"(?:0x)?[0-9a-fA-F]{7,}|\d{5,}")
_SHORTEST_DATA = 5
_UNSPACED = re.compile(f"[{UNSPACED}]")
# Full-width letters and digits, and half-width kana.
_WIDTHS = re.compile("[\uff01-\uff9f]+")
# Letters that many people replace by the other one.
_ALIKE = str.maketrans("ёЁıİ", "еЕiI")
# A letter with its marks; nobody writes more of them.
_SIGN = re.compile(rf"[^{MARKS}][{MARKS}]{{0,8}}")

# English has no longer words, and stemming takes time for each letter.
_LONGEST_WORD = 40
_LONGEST_TERM = 64
_english = snowballstemmer.stemmer("english")
# Its own cache takes three times as long as stemming.
_english.maxCacheSize = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """An issue's terms with their counts: in its `title`, and in `all`, where the title counts twice."""

    title: Mapping[str, int]
    all: Mapping[str, int]

    def counted(self) -> frozenset[str]:
        """The terms that this issue adds to its repository's word statistics (`bot/search/ranking/relevance.py`)."""
        return frozenset(list(dict.fromkeys((*self.title, *self.all)))[:MOST_COUNTED])


def read(title: str, body: str) -> Evidence:
    """Read the terms of an issue."""
    in_title = Counter(terms(subject(title[:TITLE_READ])))
    everything = Counter(terms(without_noise(body)))
    for term, count in in_title.items():
        everything[term] += 2 * count
    return Evidence(in_title, everything)


def without_noise(body: str) -> str:
    """The beginning of a body without comments, addresses, and what no other report has; entities are resolved."""
    body = without_comments(body[:BODY_READ])
    if "&" in body:
        body = html.unescape(body)
    if "://" in body:
        body = _URL.sub(" ", body)
    return _ONCE.sub(" ", body)


def without_comments(body: str) -> str:
    """`body` without HTML comments, as GitHub shows it. Templates keep their instructions in comments.

    A comment at the beginning of a line ends at its mark, or hides the rest. Within a line it must end in the same
    paragraph ("GitHub Flavored Markdown Spec", 4.6 and 6.10); else it is text, as in "it stumbles over `<!--`".
    """
    kept = []
    kept_to = looked_to = paragraph = 0
    while (start := body.find("<!--", looked_to)) >= 0:
        is_block = _BLOCK_BEGINS.search(body[max(start - 4, 0) : start]) is not None
        if start >= paragraph:
            end = _PARAGRAPH_ENDS.search(body, start)
            paragraph = end.start() if end else len(body)
        end_at = body.find("-->", start + 4, len(body) if is_block else paragraph)
        if end_at < 0 and not is_block:
            # No other comment in the paragraph ends either; going on behind it keeps the time linear.
            looked_to = paragraph
            continue
        kept.append(body[kept_to:start])
        if end_at < 0:
            return " ".join(kept)
        kept_to = looked_to = end_at + 3
    return " ".join([*kept, body[kept_to:]])


def raw_words(text: str) -> list[str]:
    """The words as written, with inner underscores, as a search engine splits them."""
    return _RAW.findall(separate_scripts(text))


def is_unspaced(raw: str) -> bool:
    """Whether a word is a run of a script without spaces, which `terms_of` splits into pairs."""
    return not raw.isascii() and len(_pairs(raw)) > 1


def _pairs(word: str) -> tuple[str, ...]:
    """The overlapping pairs of characters of a word in a script without spaces; none for other scripts."""
    if len(word) < 3 or not _UNSPACED.search(word):
        return ()
    return tuple(one + other for one, other in pairwise(_SIGN.findall(word)))


def _terms_of(raw: str) -> tuple[str, ...]:
    if not raw.isascii():
        raw = _WIDTHS.sub(lambda run: unicodedata.normalize("NFKC", run[0]), raw).translate(_ALIKE)
    word = raw.lower()
    if not raw.isascii() and len(pairs := _pairs(word)) > 1:
        # However long: a sentence without spaces is one run.
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


_remembered = lru_cache(maxsize=1 << 14)(_terms_of)


def terms_of(raw: str) -> tuple[str, ...]:
    """The terms of one written word, the word itself first; none for fillers, and for data such as addresses.

    `getUserName` gives `getusernam`, `get`, `user`, `name`; a run of a script without spaces gives its overlapping
    pairs of characters.
    """
    # Long words are not cached, since a stranger could fill the cache with them.
    return _remembered(raw) if len(raw) <= _LONGEST_KEPT else _terms_of(raw)


def terms(text: str) -> list[str]:
    """The terms of `text` in order."""
    return list(chain.from_iterable(map(terms_of, raw_words(text))))


def _stem(word: str) -> str:
    if len(word) > _LONGEST_WORD or not word.isalpha():
        return word
    stemmed: str = _english.stemWord(word)
    return stemmed


# Lines of a form: headings, check boxes, the text for an empty field, the fence of a field for logs. Then lines of
# templates: bold ones, rules. And pictures.
_FORM = re.compile(
    r"#{2,6}\s|[-*+] \[[ xX]?\]|_No response_$|(?:```|~~~)\S*$|\*\*[^*]+\*\*:?$|[-*_]{3,}$"
    r"|!\[[^\]]*\]\([^)]*\)$|<img\b[^>]*>$|https?://\S+$"
)


def own_text(body: str, supplied: Collection[str] = (), between: str = " ") -> str:
    """The author's own lines, joined by `between`. `supplied` holds boilerplate, in lower case with single spaces."""
    lines = (" ".join(line.split()) for line in without_comments(body[:BODY_READ]).split("\n"))
    return between.join(line for line in lines if line and line.lower() not in supplied and not _FORM.match(line))
